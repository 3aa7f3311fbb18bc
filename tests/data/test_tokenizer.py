from __future__ import annotations

import itertools
import os
import tempfile
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heedful.data import grammar
from heedful.data.text import normalise
from heedful.data.tokenizer import JOINT, RESERVED, Tokenizer, learn
from heedful.errors import DataError, ModelFolderError
from heedful.settings import TokenizerSettings

SENTENCES = [
    text for s in itertools.islice(grammar.generate(1), 400) for text in (s.en, s.text("ko"))
]


def learned(texts: list[str] = SENTENCES, **changes: object) -> dict[str, bytes]:
    return learn(texts, TokenizerSettings.model_validate({"vocab_size": 700} | changes))


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer(learned())


def test_the_ids_are_laid_out_as_marian_lays_them_out(tokenizer: Tokenizer) -> None:
    ids = tokenizer.ids
    assert (ids.size, ids.eos, ids.unk, ids.pad, ids.start) == (701, 0, 1, 700, 700)
    assert tokenizer.pieces([0, 1]) == ["</s>", "<unk>"]
    assert tokenizer.pieces(range(2, 18)) == [f"⟦{i}⟧" for i in range(16)]
    assert tokenizer.pieces(range(18, 274)) == [f"<0x{byte:02X}>" for byte in range(256)]
    learnt = tokenizer.pieces(range(274, 700))
    assert len(set(learnt)) == len(learnt)
    assert not any(piece.startswith("<") for piece in learnt)
    assert tokenizer.piece(700) == "<s>"


def test_special_ids_say_nothing(tokenizer: Tokenizer) -> None:
    ids = tokenizer.encode("The dog sees the cat.")
    assert not {tokenizer.ids.eos, tokenizer.ids.pad} & set(ids)
    padded = [tokenizer.ids.start, *ids, tokenizer.ids.eos, tokenizer.ids.pad]
    assert tokenizer.decode(padded) == "The dog sees the cat."


ANY_TEXT = st.text(
    st.one_of(
        st.characters(codec="utf-8"),
        st.characters(min_codepoint=0xAC00, max_codepoint=0xD7A3),
        st.characters(min_codepoint=0x1100, max_codepoint=0x11FF),
        st.sampled_from("👩‍👩‍👧🏽🇰🇷 ▁⟦⟧<>0x\u00a0\u0301"),
    ),
    max_size=30,
)


@settings(max_examples=200)
@given(ANY_TEXT)
def test_any_text_comes_back_as_it_was_and_nothing_is_unknown(
    tokenizer: Tokenizer, text: str
) -> None:
    text = normalise(text)
    ids = tokenizer.encode(text)
    assert tokenizer.ids.unk not in ids
    assert tokenizer.decode(ids) == text


def test_encoding_many_is_encoding_each(tokenizer: Tokenizer) -> None:
    texts = [*SENTENCES[:20], "", "🦊"]
    assert tokenizer.encode_many(texts) == [tokenizer.encode(t) for t in texts]
    assert tokenizer.encode("") == []


def test_learning_twice_gives_the_same_bytes() -> None:
    assert learned() == learned()
    assert learned() != learned(SENTENCES[:100])


def test_the_model_tells_nothing_of_the_machine(tmp_path: Path) -> None:
    ours = learned()
    assert tempfile.gettempdir().encode() not in ours[JOINT]
    with pytest.MonkeyPatch.context() as elsewhere:
        (tmp_path / ("long" * 40)).mkdir()
        elsewhere.setattr(tempfile, "tempdir", str(tmp_path / ("long" * 40)))
        elsewhere.setattr(os, "cpu_count", lambda: 3)
        assert learned() == ours


@pytest.mark.parametrize("texts", [["a"], ["안녕"], ["hello world", "hello"]])
def test_a_vocabulary_too_large_for_the_text_is_made_smaller(texts: list[str]) -> None:
    tokenizer = Tokenizer(learned(texts, vocab_size=32_000))
    assert tokenizer.ids.size < 320
    assert tokenizer.decode(tokenizer.encode(texts[0])) == texts[0]


def test_a_vocabulary_too_small_for_the_characters_is_made_larger() -> None:
    # A little Chinese has more characters than a small vocabulary has room for.
    texts = [
        "".join(chr(0x4E00 + (31 * line + 7 * place) % 400) for place in range(9))
        for line in range(200)
    ]
    tokenizer = Tokenizer(learned(texts, vocab_size=400))
    assert 2 + 16 + 256 + 400 <= tokenizer.ids.size <= 2 + 16 + 256 + 400 + 4
    assert tokenizer.ids.unk not in tokenizer.encode(texts[5])
    assert len(tokenizer.encode(texts[5])) <= len(texts[5]) + 1
    # It does not matter whether the text can be read only once.
    settings = TokenizerSettings(vocab_size=400)
    assert learn(iter(texts), settings) == tokenizer.files


@pytest.mark.parametrize("texts", [[], [""], ["", " ", "\t"]])
def test_no_text_is_told(texts: list[str]) -> None:
    with pytest.raises(DataError) as error:
        learned(texts)
    assert str(error.value) == (
        "no text to learn pieces from: every line is empty; check the files given"
    )


def test_lines_that_are_all_too_long_are_told() -> None:
    with pytest.raises(DataError) as error:
        learned(["x" * 4193, "가" * 1400])
    assert str(error.value) == (
        "no text to learn pieces from: every line has more than 4192 bytes; "
        "split the lines into sentences"
    )


def test_a_damaged_model_is_refused() -> None:
    with pytest.raises(ModelFolderError, match=r"^tokenizer\.model cannot be read: [^\n]*$"):
        Tokenizer({"tokenizer.model": b"no pieces here"})


def test_reserved_pieces_are_never_split(tokenizer: Tokenizer) -> None:
    for number, piece in enumerate(RESERVED):
        for text in (piece, f"a{piece}b", f"개{piece}{piece}는 {piece}."):
            ids = tokenizer.encode(text)
            assert ids.count(2 + number) == text.count(piece)
            assert tokenizer.decode(ids) == text
    # Learning from text that is full of them makes no piece around them.
    other = Tokenizer(learned([f"{text} {RESERVED[3]}." for text in SENTENCES[:100]]))
    assert not any("⟦" in piece for piece in other.pieces(range(274, other.ids.size - 1)))


@pytest.mark.parametrize(
    "text",
    [
        unicodedata.normalize("NFD", "개가 걷는다."),
        unicodedata.normalize("NFD", "déjà vu, Ångström"),
        "a\u00a0dog\u3000and\u2009a cat",
        "\ufeffa\u200bdog\u00ad",
        "  two   spaces\tand a tab ",
        "a▁b",
    ],
)
def test_normalising_is_compiled_into_the_model(tokenizer: Tokenizer, text: str) -> None:
    assert normalise(text) != text
    assert tokenizer.encode(text) == tokenizer.encode(normalise(text))
    assert tokenizer.decode(tokenizer.encode(text)) == normalise(text)


def test_compatibility_forms_keep_their_meaning(tokenizer: Tokenizer) -> None:
    for text in ("ㅋㅋㅋ", "x²", "ﬁ", "①"):
        assert tokenizer.decode(tokenizer.encode(text)) == text
