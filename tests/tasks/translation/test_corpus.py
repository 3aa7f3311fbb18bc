from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pytest

from heedful.data import grammar
from heedful.data.ids import Ids
from heedful.data.tokenizer import Tokenizer, learn
from heedful.errors import DataError, ModelFolderError
from heedful.settings import TokenizerSettings, TrainSettings
from heedful.tasks.translation.corpus import (
    Corpus,
    Pair,
    development_size,
    pairs_of,
    prepare_corpus,
)
from heedful.tasks.translation.reading import Source, sources
from heedful.tasks.translation.settings import DataSettings, Settings

PAIRS = list(
    dict.fromkeys((s.en, s.text("fr")) for s in itertools.islice(grammar.generate(1), 300))
)


def settings(seed: int = 1, regularisation: float = 0.0, **data: object) -> Settings:
    return Settings(
        train=TrainSettings(seed=seed),
        data=DataSettings.model_validate(data),
        tokenizer=TokenizerSettings(vocab_size=500, regularisation=regularisation),
    )


def written(folder: Path, pairs: Sequence[Pair], name: str = "a.tsv") -> Source:
    path = folder / name
    path.write_text("".join(f"{s}\t{t}\n" for s, t in pairs), encoding="utf-8")
    return sources([path])[0]


def prepared(
    folder: Path,
    pairs: Sequence[Pair] = PAIRS,
    how: Settings | None = None,
    dev: Sequence[Pair] = (),
    tokenizer: Tokenizer | None = None,
) -> tuple[Corpus, Tokenizer]:
    folder.mkdir(exist_ok=True)
    return prepare_corpus(
        [written(folder, pairs)],
        np.ones(len(pairs), dtype=bool),
        how or settings(),
        folder / "data",
        [written(folder, dev, "dev.tsv")] if dev else [],
        tokenizer,
    )


def texts(corpus: Corpus, tokenizer: Tokenizer) -> list[Pair]:
    return [
        (tokenizer.decode(corpus.source[i].tolist()), tokenizer.decode(corpus.target[i].tolist()))
        for i in range(len(corpus))
    ]


def refused(folder: Path, pairs: Sequence[Pair], **kind: object) -> str:
    with pytest.raises(DataError) as error:
        prepared(folder, pairs, **kind)  # type: ignore[arg-type]
    assert "\n" not in str(error.value)
    return str(error.value)


def test_the_ids_say_what_the_text_said_and_in_its_order(tmp_path: Path) -> None:
    corpus, tokenizer = prepared(tmp_path)
    held = set(corpus.dev)
    assert texts(corpus, tokenizer) == [pair for pair in PAIRS if pair not in held]
    again = Corpus.open(tmp_path / "data")
    assert texts(again, tokenizer) == texts(corpus, tokenizer)
    assert again.dev == corpus.dev
    assert again.too_long == corpus.too_long == 0


def test_text_is_normalised_and_what_is_not_kept_is_left_out(tmp_path: Path) -> None:
    source = written(tmp_path, [("a\u00a0dog ", "un chien"), ("no", "non"), ("the", "cafe\u0301")])
    keep = np.array([True, False, True])
    assert list(pairs_of([source], keep)) == [("a dog", "un chien"), ("the", "café")]
    assert len(list(pairs_of([source, source]))) == 6


def test_a_twentieth_is_held_out_at_most_a_thousand(tmp_path: Path) -> None:
    assert [development_size(n) for n in (2, 100, 1000, 10**7)] == [1, 5, 50, 1000]
    corpus, _ = prepared(tmp_path)
    assert 1 <= len(corpus.dev) <= 3 * len(PAIRS) // 20
    assert len(corpus) + len(corpus.dev) == len(PAIRS)
    larger, _ = prepared(tmp_path / "larger", how=settings(dev_size=150))
    assert 100 < len(larger.dev) < 200
    assert len(larger) + len(larger.dev) == len(PAIRS)
    assert refused(tmp_path, PAIRS[:9], how=settings(dev_size=9)) == (
        "data.dev_size = 9 leaves nothing of 9 usable pairs to learn from; "
        "lower it or give more text"
    )


def test_a_source_with_two_translations_is_wholly_on_one_side(tmp_path: Path) -> None:
    twice = [pair for s, t in PAIRS for pair in ((s, t), (s, f"Ou bien : {t}"))]
    for seed in range(5):
        folder = tmp_path / str(seed)
        corpus, tokenizer = prepared(folder, twice, settings(seed, dev_size=200))
        training = texts(corpus, tokenizer)
        assert not {s for s, _ in training} & {s for s, _ in corpus.dev}
        assert sorted([*training, *corpus.dev]) == sorted(twice)
        assert len(corpus.dev) == 2 * len({s for s, _ in corpus.dev})


def test_the_split_follows_from_text_and_seed_and_not_from_the_order(tmp_path: Path) -> None:
    first, tokenizer = prepared(tmp_path / "1")
    again, _ = prepared(tmp_path / "2")
    for name in ("source.ids", "source.ends", "target.ids", "target.ends", "lines"):
        data = [(tmp_path / run / "data" / name).read_bytes() for run in "12"]
        assert data[0] == data[1]
    turned, _ = prepared(tmp_path / "3", PAIRS[::-1], tokenizer=tokenizer)
    assert set(turned.dev) == set(first.dev)
    assert texts(turned, tokenizer) == texts(first, tokenizer)[::-1]
    other, _ = prepared(tmp_path / "4", how=settings(seed=2))
    assert set(other.dev) != set(first.dev)
    assert again.dev == first.dev


def test_given_development_text_is_used_and_nothing_is_held_out(tmp_path: Path) -> None:
    corpus, tokenizer = prepared(tmp_path, PAIRS[20:], dev=[*PAIRS[:20], ("", "rien")])
    assert corpus.dev == PAIRS[:20]
    assert texts(corpus, tokenizer) == PAIRS[20:]


def test_development_text_without_a_pair_is_refused(tmp_path: Path) -> None:
    assert refused(tmp_path, PAIRS, dev=[("", "rien"), ("nothing", "")]) == (
        f"{tmp_path / 'dev.tsv'} has no pair with text on both sides to check on; "
        f"give other development text, or none to have a part held out"
    )


def test_given_pieces_are_kept(tmp_path: Path) -> None:
    _, tokenizer = prepared(tmp_path)
    corpus, same = prepared(tmp_path / "other", PAIRS[:50], tokenizer=tokenizer)
    assert same is tokenizer
    assert set(texts(corpus, same)) < set(PAIRS[:50])


def test_pairs_with_too_many_pieces_are_counted_and_left_out(tmp_path: Path) -> None:
    _, tokenizer = prepared(tmp_path)
    longest = 12
    short = [p for p in PAIRS if all(len(tokenizer.encode(side)) <= longest for side in p)]
    assert 0 < len(short) < len(PAIRS)
    corpus, _ = prepared(
        tmp_path / "short", PAIRS[1:], settings(max_length=12), PAIRS[:1], tokenizer
    )
    assert texts(corpus, tokenizer) == [p for p in PAIRS[1:] if p in short]
    assert len(corpus) + corpus.too_long == len(PAIRS) - 1
    assert corpus.source.lengths().max() <= longest
    assert refused(
        tmp_path / "none", [("a " * 30, "b"), ("c", "d " * 30)] * 9, how=settings(max_length=4)
    ) == (
        "all 9 pairs are longer than data.max_length = 4 pieces or empty; "
        "raise data.max_length or split the lines into sentences"
    )


def test_one_pair_is_not_enough(tmp_path: Path) -> None:
    assert refused(tmp_path, PAIRS[:1]) == (
        "1 usable pair of 1 cannot be trained on: at least 2 are needed, "
        "one to learn from and one to check; give more text"
    )
    with pytest.raises(DataError, match=r"^0 usable pairs of 3 cannot be trained on: "):
        prepare_corpus(
            [written(tmp_path, PAIRS[:3])], np.zeros(3, dtype=bool), settings(), tmp_path / "x"
        )
    assert refused(tmp_path, [("the dog", "le chien"), ("the dog", "un chien")]) == (
        "all 2 usable pairs have the same source sentence: at least 2 different ones are needed, "
        "one to learn from and one to check; give more text"
    )


@pytest.mark.parametrize("count", [2, 3])
def test_a_few_pairs_have_always_one_to_learn_from_and_one_to_check(
    tmp_path: Path, count: int
) -> None:
    for seed in range(8):  # with two pairs, every other draw would hold out none or both
        corpus, _ = prepared(tmp_path / str(seed), PAIRS[:count], settings(seed))
        assert len(corpus) >= 1
        assert len(corpus.dev) >= 1
        assert len(corpus) + len(corpus.dev) == count


def test_pieces_are_learned_from_a_sample_of_what_is_trained_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[list[str]] = []

    def learn_and_tell(lines: Iterable[str], how: TokenizerSettings) -> bytes:
        read.append(list(lines))
        return learn(lines, how)  # the text can be gone over again

    monkeypatch.setattr("heedful.tasks.translation.corpus.learn", learn_and_tell)
    how = settings()
    few = how.model_copy(update={"tokenizer": TokenizerSettings(vocab_size=500, sample_lines=30)})
    corpus, tokenizer = prepared(tmp_path / "1", how=how)
    assert read[0] == [side for pair in texts(corpus, tokenizer) for side in pair]
    _, some = prepared(tmp_path / "2", how=few)
    _, again = prepared(tmp_path / "3", how=few)
    assert some.files == again.files
    assert 2 * 15 < len(read[1]) < 2 * 45
    assert set(read[1]) < set(read[0])


def test_progress_is_told(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    prepare_corpus(
        [written(tmp_path, PAIRS)],
        np.ones(len(PAIRS), dtype=bool),
        settings(),
        tmp_path / "data",
        progress=lambda *what: told.append(what),
    )
    assert [what for what, _, _ in told] == ["learning pieces", "preparing"]
    assert {total for _, _, total in told} == {len(PAIRS)}


def test_ids_are_mapped_and_not_read(tmp_path: Path) -> None:
    sequences = [[5, 6, 7], [8], [], [9, 10]]
    np.array([i for s in sequences for i in s], dtype="<i4").tofile(tmp_path / "x.ids")
    np.cumsum([len(s) for s in sequences]).astype("<i8").tofile(tmp_path / "x.ends")
    ids = Ids(tmp_path / "x", "<i4")
    assert isinstance(ids.numbers, np.memmap)
    assert len(ids) == 4
    assert [ids[i].tolist() for i in range(4)] == sequences
    assert ids.lengths().tolist() == [3, 1, 0, 2]
    ids.forget()
    assert [ids[i].tolist() for i in range(4)] == sequences


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("corpus.json", b'{"dev": ['),
        ("corpus.json", b"{}"),
        ("corpus.json", None),
        ("source.ids", b"\0\0\0\0"),
        ("target.ends", b""),
        ("lines", None),
    ],
)
def test_a_damaged_corpus_is_refused(tmp_path: Path, name: str, content: bytes | None) -> None:
    prepared(tmp_path)
    file = tmp_path / "data" / name
    file.unlink()
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ModelFolderError) as error:
        Corpus.open(tmp_path / "data")
    reason = "is missing" if content is None else "is damaged: it is not what was written"
    assert str(error.value) == f"{file} {reason}; restore it or train again"


def test_a_row_is_named_by_its_line(tmp_path: Path) -> None:
    pairs = [("", "x"), *PAIRS[:50], ("a", "")]
    corpus, tokenizer = prepared(tmp_path, pairs, settings(dev_size=5))
    rows = np.arange(len(corpus))
    for place, (source, _) in zip(corpus.places(rows), texts(corpus, tokenizer), strict=True):
        file, line = place.rsplit(":", 1)
        text = Path(file).read_text(encoding="utf-8").splitlines()[int(line) - 1]
        assert text.split("\t")[0] == source


def test_the_facts_are_readable(tmp_path: Path) -> None:
    corpus, _ = prepared(tmp_path, [(f"개 {i}", f"dog {i}") for i in range(40)])
    facts = json.loads((tmp_path / "data" / "corpus.json").read_text(encoding="utf-8"))
    assert facts["dev"] == [list(pair) for pair in corpus.dev]
    assert (facts["too_long"], facts["width"]) == (0, "<u2")
