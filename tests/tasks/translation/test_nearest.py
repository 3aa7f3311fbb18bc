from __future__ import annotations

import gzip
import math
from collections import Counter
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heedful import metrics
from heedful.data.grammar import generate
from heedful.data.text import normalise
from heedful.errors import DataError, ModelFolderError
from heedful.tasks.translation import nearest
from heedful.tasks.translation.nearest import LIMIT, SIZES, NearestSentence, most_pairs, seconds

Pair = tuple[str, str]
TEXTS = st.text(st.sampled_from("abAB 가나.\t"), max_size=11)
CORPORA = st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=13)
ANIMALS = [
    ("A dog sleeps in the garden.", "Ein Hund schläft im Garten."),
    ("Two cats sleep on the roof.", "Zwei Katzen schlafen auf dem Dach."),
    ("The horse eats grass.", "Das Pferd frisst Gras."),
]


def fit(pairs: list[Pair], dev: list[Pair] | None = None, **how: object) -> NearestSentence:
    return NearestSentence.fit(pairs.__getitem__, len(pairs), dev or [], **how)  # type: ignore[arg-type]


def corpus(count: int) -> list[Pair]:
    return [(s.en, s.ko) for s in islice(generate(), count)]


def test_the_nearest_sentence_gives_its_translation() -> None:
    found = fit(ANIMALS).translate(
        ["a dog slept in a garden", "Cats sleep on roofs", "Horses eat."]
    )
    assert found == [target for _, target in ANIMALS]


def test_korean_is_found_whatever_the_particle_once_development_pairs_ask_for_short_ngrams() -> (
    None
):
    pairs = [
        ("나는 학교에 간다.", "I go to school."),
        ("고양이가 지붕 위에서 잔다.", "A cat sleeps on the roof."),
        ("나는 밥을 먹는다.", "I eat rice."),
    ]
    model = fit(pairs, [("밥도 먹자", "I eat rice.")])
    assert model.facts["size"] == 2
    asked = ["학교에서 나는", "고양이는 지붕에서 잤다", "밥은 먹었다"]
    assert model.translate(asked) == [target for _, target in pairs]


def test_line_n_out_is_line_n_in_and_an_empty_line_stays_empty() -> None:
    (_, first), (_, second), _ = ANIMALS
    assert fit(ANIMALS).translate(["", "two cats", "  \t", "a dog"]) == ["", second, "", first]
    assert fit(ANIMALS).translate([]) == []


@settings(max_examples=50)
@given(CORPORA, TEXTS)
def test_a_sentence_that_was_seen_is_always_found_and_of_its_translations_the_first(
    pairs: list[Pair], other: str
) -> None:
    expected: dict[str, str] = {}
    for source, target in pairs:
        expected.setdefault(normalise(source), normalise(target))
    expected.pop("", None)
    assert fit(pairs).translate(expected) == list(expected.values())
    # and another pair makes no exact match worse
    assert fit([*pairs, (other, "?")]).translate(expected) == list(expected.values())


def test_capital_letters_decide_only_between_sentences_that_are_equal_otherwise() -> None:
    model = fit([("the polish", "die Politur"), ("the Polish", "die Polen")])
    assert model.translate(["the Polish", "the polish"]) == ["die Polen", "die Politur"]
    assert fit(ANIMALS).translate(["A DOG SLEEPS"]) == [ANIMALS[0][1]]


def test_of_equally_near_sentences_the_earliest_answers() -> None:
    pairs = [("one two", "1"), ("two three", "2"), ("three four", "3")]
    assert fit(pairs).translate(["zzz"]) == ["1"]  # nothing in common with any
    assert fit(pairs[::-1]).translate(["zzz"]) == ["3"]


def test_the_index_agrees_with_a_plain_cosine_over_ngrams() -> None:
    pairs, asked = corpus(200)[:150], [source for source, _ in corpus(200)[150:]]
    model = fit(pairs)
    size = model.facts["size"]

    def grams(text: str) -> set[object]:
        padded = f"\n{text.lower()}\n"
        return {padded[i : i + size] for i in range(len(padded) - size + 1)} | {(text,)}

    known = [grams(source) for source, _ in pairs]
    counts = Counter(gram for each in known for gram in each)
    weight = {g: round(1000 * math.sqrt(math.log1p(len(pairs) / n))) for g, n in counts.items()}

    def cosine(one: set[object], other: set[object]) -> float:
        shared = sum(weight[gram] for gram in one & other)
        return shared / math.sqrt(sum(weight[gram] for gram in other))

    for source, found in zip(asked, model.translate(asked), strict=True):
        near = [cosine(grams(source), each) for each in known]
        assert found == pairs[near.index(max(near))][1]


def test_more_sentences_than_fit_a_chunk_are_indexed_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs, asked = corpus(97), [source[3:] for source, _ in corpus(97)]
    whole = fit(pairs).translate(asked)
    monkeypatch.setattr(nearest, "CHUNK", 7)
    assert fit(pairs).translate(asked) == whole


def test_the_size_is_chosen_by_the_score_on_the_development_pairs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pairs = corpus(150)
    train, dev = pairs[:120], pairs[120:]
    model = fit(train, dev, language="ko")
    tried = dict(model.facts["tried"])
    assert set(tried) == set(SIZES)
    assert tried[model.facts["size"]] == max(tried.values())
    for size in SIZES:
        monkeypatch.setattr(nearest, "SIZES", (size,))
        texts = fit(train).translate([source for source, _ in dev])
        score = next(metrics.judged(texts, [target for _, target in dev], "ko"))
        assert (score.name, score.value) == ("chrF", tried[size])


def test_without_development_pairs_the_usual_size_is_taken() -> None:
    facts = fit(ANIMALS).facts
    assert (facts["size"], facts["tried"]) == (SIZES[0], [])


def test_a_choice_is_made_on_a_part_where_there_is_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nearest, "ENOUGH_PAIRS", 2)
    monkeypatch.setattr(nearest, "ENOUGH_ROWS", 1)
    pairs = [("aaaa", "1"), ("bbbb", "2"), ("cccc", "3"), ("dddd", "4")]
    model = fit(pairs, [("bbbb", "2"), ("aaaa", "1")])
    assert {value for _, value in model.facts["tried"]} == {0}  # "bbbb" is left out there
    assert model.translate(["bbbb"]) == ["2"]


def test_of_more_pairs_than_the_limit_a_sample_is_kept_and_told() -> None:
    pairs = [(f"sentence {i}", f"Satz {i}") for i in range(7)]
    model = fit(pairs, limit=3)
    assert model.name == "nearest training sentence (a sample of 3 of 7 pairs)"
    assert model.translate(source for source, _ in pairs[:5:2]) == ["Satz 0", "Satz 2", "Satz 4"]
    assert fit(pairs).name == "nearest training sentence"


def test_a_training_of_few_minutes_keeps_fewer_pairs_and_foresees_what_they_take() -> None:
    assert most_pairs(None) == most_pairs(60) == LIMIT
    assert most_pairs(1) == 60_000
    assert most_pairs(1e-9) == 1000
    assert seconds(10**7, 1) == 3 + 60 / 20  # the choice, and a twentieth of a minute
    assert seconds(100, None) < 0.1


def test_only_pairs_that_are_kept_are_asked_for() -> None:
    asked: list[int] = []

    def pair(number: int) -> Pair:
        asked.append(number)
        return f"sentence {number}", "Satz"

    NearestSentence.fit(pair, 10**9, limit=4)
    assert asked == [0, 250_000_000, 500_000_000, 750_000_000]


def test_it_tells_how_far_it_is() -> None:
    told: list[tuple[str, int, int]] = []
    fit(ANIMALS, ANIMALS[:1], progress=lambda *now: told.append(now))
    assert told[0] == ("reading the pairs for the simple thing", 0, 3)
    assert told[1:] == [("choosing the n-grams", i, len(SIZES)) for i in range(len(SIZES))]


def test_the_same_pairs_make_the_same_bytes_and_answer_from_the_folder_alone(
    tmp_path: Path,
) -> None:
    pairs, dev = corpus(60)[:50], corpus(60)[50:]
    folders = [tmp_path / name for name in ("one", "two", "again")]
    for folder in folders:
        folder.mkdir()
    model = fit(pairs, dev)
    model.save(folders[0])
    fit(pairs, dev).save(folders[1])
    opened = NearestSentence.open(folders[0])
    opened.save(folders[2])
    asked = [source for source, _ in dev]
    assert opened.translate(asked) == model.translate(asked)
    assert opened.name == model.name
    names = {path.name for path in folders[0].iterdir()}
    assert names == {"simple.json", "simple.tsv.gz"}
    for name in names:
        assert len({(folder / name).read_bytes() for folder in folders}) == 1


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


DAMAGED = "is damaged: it is not what was written; restore it or train again"


@pytest.mark.parametrize(
    ("harm", "name", "told"),
    [
        (flip, "simple.tsv.gz", DAMAGED),
        (flip, "simple.json", DAMAGED),
        (Path.unlink, "simple.tsv.gz", "is missing; restore it or train again"),
        (Path.unlink, "simple.json", "is missing; restore it or train again"),
    ],
)
def test_a_file_that_is_damaged_or_missing_is_refused_by_name(
    tmp_path: Path, harm: Callable[[Path], None], name: str, told: str
) -> None:
    fit(ANIMALS).save(tmp_path)
    harm(tmp_path / name)
    with pytest.raises(ModelFolderError) as caught:
        NearestSentence.open(tmp_path)
    assert str(caught.value) == f"{tmp_path / name} {told}"


def test_no_pairs_are_refused() -> None:
    with pytest.raises(DataError) as caught:
        fit([])
    assert str(caught.value) == "there are no pairs to find the nearest of; give at least one"


def test_on_captions_it_is_a_rival_to_be_reckoned_with(real_data: Path) -> None:
    def read(part: str) -> list[Pair]:
        folder = real_data / "multi30k" / "raw"
        packed = [(folder / f"{part}.{side}.gz").read_bytes() for side in ("de", "en")]
        return list(zip(*(gzip.decompress(p).decode().splitlines() for p in packed), strict=True))

    dev = read("val")
    model = fit(read("train"), dev, language="en")
    texts = model.translate([source for source, _ in dev[:300]])
    assert metrics.bleu(texts, [target for _, target in dev[:300]]).value > 12
