"""Text to ids and back: one sentencepiece model, learned from both sides of the corpus.

The layout of the ids makes every export a plain copy of weights: `</s>` = 0, `<unk>` = 1, sixteen
reserved pieces, 256 bytes, the learned pieces, `<pad>` last. Normalising (`text.py`) is compiled
into the model, so other tools that load it normalise as we do. sentencepiece stays in this file.
"""

from __future__ import annotations

import io
import json
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from heedful.data.text import normalisation_rules
from heedful.errors import DataError, ModelFolderError
from heedful.machine import cores
from heedful.settings import TokenIds, TokenizerSettings

if TYPE_CHECKING:
    import sentencepiece

JOINT = "tokenizer.model"
SOURCE, TARGET, VOCABULARY = "source.spm", "target.spm", "vocab.json"
TARGET_VOCABULARY = "target_vocab.json"
FILES = (JOINT, SOURCE, TARGET, VOCABULARY, TARGET_VOCABULARY)
"""The names a tokeniser's files may have in a folder: ours, or those of an imported model."""

LANGUAGE = re.compile(r">>[^<>\s]+<<")
"""How a text tells a model of many target languages which one is wanted, as in `>>fra<< Hello`."""

RESERVED = tuple(f"⟦{i}⟧" for i in range(16))
"""Pieces that no text splits: placeholders for what must pass through a translation unchanged."""

LONGEST = 4192
"""Bytes of a line read for learning; sentencepiece itself passes over longer ones."""

THREADS = 4
"""For learning. Not the machine's cores: sums of another order would make other pieces."""


def learn(texts: Iterable[str], settings: TokenizerSettings) -> dict[str, bytes]:
    """Learn the pieces from text, and give the files of a tokeniser: one sentencepiece model.

    The text comes already sampled and in a fixed order, so the result depends on nothing else.
    A vocabulary larger than the data supports is made smaller, not refused; one that has no room
    for the characters is made larger, for which the text is read a second time.
    """
    if isinstance(texts, Iterator):
        texts = list(texts)
    if not any(_learnable(t) for t in texts):
        if not any(t.strip() for t in texts):
            raise DataError(
                "no text to learn pieces from: every line is empty; check the files given"
            )
        raise DataError(
            f"no text to learn pieces from: every line has more than {LONGEST} bytes; "
            f"split the lines into sentences"
        )
    size = settings.vocab_size
    while True:
        try:
            return {JOINT: _without_path(_train(filter(_learnable, texts), settings, size))}
        except (RuntimeError, OSError) as error:
            needed = re.search(r"required_chars\. \d+ vs (\d+)", str(error))
            if needed is None or int(needed[1]) <= size:
                raise DataError(
                    f"no pieces could be learned from the text: {error}; "
                    f"give more text or another tokenizer.vocab_size"
                ) from error
            size = int(needed[1])


def _learnable(text: str) -> bool:
    return bool(text.strip()) and len(text.encode()) <= LONGEST


def _train(texts: Iterator[str], settings: TokenizerSettings, size: int) -> bytes:
    from sentencepiece import SentencePieceTrainer

    model = io.BytesIO()
    with tempfile.TemporaryDirectory() as folder:
        rules = Path(folder) / "rules.tsv"
        rules.write_text("\n".join(normalisation_rules()) + "\n", encoding="utf-8")
        SentencePieceTrainer.train(
            sentence_iterator=texts,
            model_writer=model,
            model_type="unigram",
            vocab_size=size,
            hard_vocab_limit=False,
            character_coverage=settings.character_coverage,
            byte_fallback=True,
            split_digits=True,
            eos_id=0,
            unk_id=1,
            bos_id=-1,
            pad_id=-1,
            user_defined_symbols=list(RESERVED),
            normalization_rule_tsv=str(rules),
            max_sentence_length=LONGEST,
            num_threads=THREADS,
            minloglevel=2,
        )
    return model.getvalue()


def _without_path(model: bytes) -> bytes:
    """Take out the path of the rules: a name of this machine, and another one each time."""
    normaliser, rules = 3, 6  # fields of sentencepiece_model.proto
    parts = []
    for number, whole, content in _fields(model):
        if number == normaliser:
            kept = b"".join(part for n, part, _ in _fields(content) if n != rules)
            whole = bytes([normaliser << 3 | 2]) + _varint(len(kept)) + kept
        parts.append(whole)
    return b"".join(parts)


def _fields(message: bytes) -> Iterator[tuple[int, bytes, bytes]]:
    """Take a protobuf message apart: of each field its number, all of it, and its content."""
    end = 0

    def read() -> int:
        nonlocal end
        value = shift = 0
        while True:
            byte = message[end]
            value |= (byte & 127) << shift
            end, shift = end + 1, shift + 7
            if byte < 128:
                return value

    while end < len(message):
        begin = end
        number, kind = divmod(read(), 8)
        value = read()
        size = value if kind == 2 else 0  # else the value is a number: it has no other kinds
        end += size
        yield number, message[begin:end], message[end - size : end]


def _varint(number: int) -> bytes:
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])


class Tokenizer:
    """Text to ids and ids to text, with the sentencepiece models of a folder.

    A model of ours has one, for both languages, and its ids are sentencepiece's. An imported one
    may have a model for each side and a table from pieces to ids that are not sentencepiece's.
    """

    def __init__(self, files: Mapping[str, bytes], ids: TokenIds | None = None) -> None:
        self.files = dict(files)
        tables = _vocabularies(self.files)
        if tables is None:
            self._source = self._target = _Side(_load(self.files, JOINT))
        else:
            self._source = _Renumbered(_load(self.files, SOURCE), tables[0])
            self._target = _Renumbered(_load(self.files, TARGET), tables[1])
        self.ids = ids or self._target.ids()

    def encode(self, text: str, target: bool = False) -> list[int]:
        """Give the ids of a text of the source (or the target), without the end symbol."""
        return (self._target if target else self._source).encode(text)

    def encode_many(self, texts: Sequence[str], target: bool = False) -> list[list[int]]:
        """Encode many texts at once, on several cores."""
        return (self._target if target else self._source).encode_many(texts)

    def decode(self, ids: Sequence[int], target: bool = True) -> str:
        """Give the text of ids; special ones are left out."""
        special = (self.ids.eos, self.ids.pad)
        side = self._target if target else self._source
        return side.decode([int(i) for i in ids if i not in special])

    def pieces(self, ids: Sequence[int], target: bool = True) -> list[str]:
        """Give each id as people see it: ▁ marks a space, the start symbol is `<s>`."""
        return [self.piece(int(i), target) for i in ids]

    def piece(self, index: int, target: bool = True) -> str:
        """Give one id as people see it."""
        if index == self.ids.start:
            return "<s>"
        return (self._target if target else self._source).piece(index)

    def vocabulary(self, target: bool = True) -> list[str]:
        """Give the piece of every id but the padding, as other tools list them."""
        side = self._target if target else self._source
        count = self.ids.pad if self.ids.pad == self.ids.size - 1 else self.ids.size
        return [side.piece(i) for i in range(count)]

    def score(self, index: int) -> float:
        """Give the log-probability of a piece, from which sentencepiece chooses a splitting."""
        return float(self._target.processor.get_score(index))

    def ways(self, text: str, count: int) -> list[list[int]]:
        """Give the `count` most likely ways to split a text; none where the sides differ."""
        if self._source is not self._target:
            return []
        return self._target.processor.nbest_encode_as_ids(text, count)  # type: ignore[no-any-return]


class _Side:
    """One language's sentencepiece model, whose ids are ours."""

    def __init__(self, processor: sentencepiece.SentencePieceProcessor) -> None:
        self.processor = processor

    def ids(self) -> TokenIds:
        """Give the special ids that the model names."""
        size = self.processor.get_piece_size()
        eos, unknown = self.processor.eos_id(), self.processor.unk_id()
        return TokenIds(size=size + 1, eos=eos, unk=unknown, pad=size, start=size)

    def encode(self, text: str) -> list[int]:
        return self.processor.encode(text)  # type: ignore[no-any-return]

    def encode_many(self, texts: Sequence[str]) -> list[list[int]]:
        return self.processor.encode(list(texts), num_threads=cores())  # type: ignore[no-any-return]

    def decode(self, ids: list[int]) -> str:
        return self.processor.decode(ids)  # type: ignore[no-any-return]

    def piece(self, index: int) -> str:
        return str(self.processor.id_to_piece(index))


class _Renumbered(_Side):
    """One language's sentencepiece model, and a table from its pieces to the ids of the model."""

    def __init__(
        self, processor: sentencepiece.SentencePieceProcessor, table: Mapping[str, int]
    ) -> None:
        super().__init__(processor)
        self._table, self._unknown = table, table["<unk>"]
        count = processor.get_piece_size()
        self._to_ids = [table.get(processor.id_to_piece(i), self._unknown) for i in range(count)]
        self._pieces = {index: piece for piece, index in table.items()}

    def ids(self) -> TokenIds:
        """Give the special ids that the table names."""
        size = max(self._table.values()) + 1
        pad = self._table.get("<pad>", size)
        eos = self._table["</s>"]
        return TokenIds(size=max(size, pad + 1), eos=eos, unk=self._unknown, pad=pad, start=pad)

    def encode(self, text: str) -> list[int]:
        code = LANGUAGE.match(text)  # a model with many targets is told which one to write
        first = [self._table.get(code[0], self._unknown)] if code else []
        text = text[code.end() :] if code else text
        return first + [self._to_ids[i] for i in self.processor.encode(text)]

    def encode_many(self, texts: Sequence[str]) -> list[list[int]]:
        return [self.encode(text) for text in texts]

    def decode(self, ids: list[int]) -> str:
        pieces = [self.piece(i) for i in ids]
        return str(self.processor.decode_pieces(pieces)).replace("▁", " ").strip()

    def piece(self, index: int) -> str:
        return self._pieces.get(index, f"⟨{index}⟩")


def _load(files: Mapping[str, bytes], name: str) -> sentencepiece.SentencePieceProcessor:
    import sentencepiece

    processor = sentencepiece.SentencePieceProcessor()
    try:
        processor.LoadFromSerializedProto(files[name])
    except KeyError:
        raise ModelFolderError(f"{name} is missing: no text can be split into pieces") from None
    except RuntimeError as error:
        raise ModelFolderError(f"{name} cannot be read: {error}") from error
    return processor


def _vocabularies(files: Mapping[str, bytes]) -> tuple[dict[str, int], dict[str, int]] | None:
    """Read the tables of an imported model: the source's and the target's, often one for both."""
    if VOCABULARY not in files:
        return None
    found = []
    for name in (VOCABULARY, TARGET_VOCABULARY if TARGET_VOCABULARY in files else VOCABULARY):
        try:
            table = json.loads(files[name])
            right = all(isinstance(i, int) and i >= 0 for i in table.values())
        except (ValueError, AttributeError):
            right = False
        if not right or not {"</s>", "<unk>"} <= table.keys():
            raise ModelFolderError(
                f"{name} is not a table from pieces to ids with </s> and <unk> in it; "
                f"restore it or import the model again"
            )
        found.append(table)
    return found[0], found[1]
