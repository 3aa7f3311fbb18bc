from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heedful.data.findings import KINDS, KOREAN, Kind, Problem
from heedful.data.mojibake import broken
from heedful.data.text import normalise, scripts_in
from heedful.errors import DataError
from heedful.tasks.translation.doctor import Findings, examine
from heedful.tasks.translation.reading import Source, sources
from heedful.tasks.translation.settings import DataSettings

Pairs = Sequence[tuple[str, str]]

NUMBERS = ["eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn"]
GOOD = [
    (f"Hier stehen {one} Hunde und {two} Katzen.", f"Here are {i} dogs and {j} cats.")
    for i, one in enumerate(NUMBERS)
    for j, two in enumerate(NUMBERS)
]


def source_of(folder: Path, name: str, pairs: Pairs) -> Source:
    path = folder / name
    path.write_text("".join(f"{s}\t{t}\n" for s, t in pairs), encoding="utf-8")
    return sources([path])[0]


def examined(folder: Path, pairs: Pairs, **changes: object) -> Findings:
    return examine([source_of(folder, "a.tsv", pairs)], DataSettings.model_validate(changes))


def only_problem(report: Findings) -> Problem:
    assert len(report.problems) == 1, report.lines()
    return report.problems[0]


def test_a_good_corpus_is_kept_whole(tmp_path: Path) -> None:
    report = examined(tmp_path, GOOD)
    assert report.lines() == ["100 pairs: 100 kept, 0 dropped"]
    assert report.keep.all()
    assert report.problems == []
    report.raise_errors()


@pytest.mark.parametrize(
    ("kind", "pair"),
    [
        ("over-long", ("x" * 20_001, "y")),
        ("over-long", ("x", "y" * 20_001)),
        ("empty-side", ("", "There is nothing.")),
        ("empty-side", ("Es gibt \u00e9was.", " \u200b\u00a0 ")),
        ("broken-characters", ("Er ging ins Caf\ufffd.", "He went to the café.")),
        ("broken-characters", ("Er ging ins Café.", "He went to the cafÃ©.")),
        ("equal-sides", ("This is English.", "This  is English.")),
        ("wrong-script", ("Hier ist ein Hund.", "여기에 개가 있다.")),
        ("wrong-script", ("这是一条狗。", "Here is a dog.")),
        ("length-ratio", ("Ja.", "Yes, that is what I have always said, and I say it again.")),
        ("length-ratio", ("Das ist, was ich immer gesagt habe und jetzt sage.", "Y")),
        ("duplicate", (GOOD[3][0] + " ", GOOD[3][1].replace(" ", "\u00a0"))),
    ],
)
def test_each_problem_is_found_counted_and_placed(
    tmp_path: Path, kind: Kind, pair: tuple[str, str]
) -> None:
    report = examined(tmp_path, [*GOOD[:50], pair, *GOOD[50:]])
    problem = only_problem(report)
    assert problem.kind == kind
    assert problem.count == 1
    assert problem.severity == "drop"
    assert problem.lines == [f"{tmp_path / 'a.tsv'}:51"]
    assert problem.advice == KINDS[kind][1]
    assert problem.example.startswith('"')
    assert len(problem.example) < 200
    assert (report.pairs, report.kept) == (101, 100)
    assert list(np.flatnonzero(~report.keep)) == [50]


@pytest.mark.parametrize(
    ("setting", "kind", "pair"),
    [
        ("drop_equal", "equal-sides", ("This is English.", "This is English.")),
        ("drop_wrong_script", "wrong-script", ("Hier ist ein Hund.", "여기에 개가 있다.")),
    ],
)
def test_what_the_settings_keep_is_only_noted(
    tmp_path: Path, setting: str, kind: Kind, pair: tuple[str, str]
) -> None:
    report = examined(tmp_path, [*GOOD, pair], **{setting: False})
    problem = only_problem(report)
    assert (problem.kind, problem.severity, problem.count) == (kind, "note", 1)
    assert report.kept == report.pairs == 101


def test_a_source_with_several_translations_is_noted_and_kept(tmp_path: Path) -> None:
    report = examined(tmp_path, [*GOOD, (GOOD[0][0], "Dogs and cats!"), (GOOD[0][0], "Nothing.")])
    problem = only_problem(report)
    assert (problem.kind, problem.severity, problem.count) == ("many-translations", "note", 1)
    assert problem.lines == [f"{tmp_path / 'a.tsv'}:{line}" for line in (1, 101, 102)]
    assert report.kept == 102


def test_the_first_of_equal_pairs_is_kept(tmp_path: Path) -> None:
    report = examined(tmp_path, [*GOOD, *GOOD[:20], *GOOD[:20]])
    assert list(np.flatnonzero(report.keep)) == list(range(100))
    problem = only_problem(report)
    assert problem.count == 40
    assert len(problem.lines) == 10
    assert problem.text() == [
        f"dropped: 40 repetitions of a pair ({tmp_path / 'a.tsv'}:101, 102, 103, ...); nothing to "
        "do: the first of them is kept",
        f"    {problem.example}",
    ]


def test_text_of_the_test_and_development_sets_is_kept_out_of_training(tmp_path: Path) -> None:
    dev = source_of(tmp_path, "dev.tsv", [GOOD[5], (GOOD[6][0] + " ", "Another translation.")])
    test = source_of(tmp_path, "test.tsv", [GOOD[7], ("", ""), ("Neu.", "New.")])
    train = source_of(tmp_path, "a.tsv", [*GOOD, ("", "")])
    report = examine([train], DataSettings(), [dev], [test])
    found = {problem.kind: problem for problem in report.problems}
    assert sorted(found) == ["empty-side", "leak-dev", "leak-test"]
    assert found["leak-dev"].count == 2
    assert found["leak-dev"].advice == "1 with the same translation; keep the sets apart"
    assert found["leak-test"].text()[0] == (
        f"dropped: 1 pair whose source is in the test set ({tmp_path / 'a.tsv'}:8); "
        f"1 with the same translation; keep test text out of training"
    )
    assert list(np.flatnonzero(~report.keep)) == [5, 6, 7, 100]


def test_unequal_files_are_an_error_with_the_place_where_they_drift(tmp_path: Path) -> None:
    draw = random.Random(1)
    german = [" ".join(draw.choices(NUMBERS, k=draw.randint(2, 20))) for _ in range(400)]
    english = [line.upper() for line in german]
    del english[250]
    paths = [tmp_path / "a.de", tmp_path / "a.en"]
    for path, lines in zip(paths, (german, english), strict=True):
        path.write_text("\n".join(lines), encoding="utf-8")
    report = examine(sources(paths), DataSettings())
    worst = report.problems[0]
    assert (worst.kind, worst.severity, worst.count) == ("unequal-lines", "error", 1)
    assert worst.lines == [f"{paths[0]}:251"]
    assert report.pairs == len(report.keep) == 399
    assert report.lines()[1].startswith("error: 1 line more in one file than in the other (")
    with pytest.raises(DataError) as error:
        report.raise_errors()
    assert str(error.value) == (
        f"{paths[0]} has 400 lines and {paths[1]} has 399; expected as many in both; "
        f"they seem to drift apart around line 251: look there"
    )


def test_a_corpus_of_which_nothing_is_left_is_an_error(tmp_path: Path) -> None:
    report = examined(tmp_path, [("only one column", ""), ("", "")])
    assert [problem.kind for problem in report.problems] == ["nothing-left", "empty-side"]
    assert report.lines()[1].startswith("error: 2 pairs and none left to train on; ")
    with pytest.raises(DataError) as error:
        report.raise_errors()
    assert str(error.value) == (
        "no pair of 2 can be trained on; look at the other problems and at the columns given"
    )


def test_a_file_is_named_once_and_then_its_lines(tmp_path: Path) -> None:
    sick = [*GOOD, GOOD[0], GOOD[1], ("", "x"), ("", "y")]
    lines = examined(tmp_path, sick).lines()
    assert [line.split("(")[1].split(")")[0] for line in lines[1::2]] == [
        f"{tmp_path / 'a.tsv'}:103, 104",
        "a.tsv:101, 102",
    ]
    parts = [source_of(tmp_path, name, [("a", "a"), ("b", "b")]) for name in ("1.tsv", "2.tsv")]
    (tmp_path / "other").mkdir()
    parts.append(source_of(tmp_path / "other", "1.tsv", [("", "d"), *GOOD]))
    lines = examine(parts, DataSettings()).lines()
    one, two, three = (part.paths[0] for part in parts)
    assert f"({one}:1, 2; {two}:1, ...)" in lines[1]
    assert f"({three}:1)" in lines[3], "another folder has a file of that name"


def test_every_kind_of_problem_has_its_korean_words() -> None:
    assert set(KOREAN) == set(KINDS)


def test_the_report_is_sorted_worst_first_and_adds_up(tmp_path: Path) -> None:
    pairs = [*GOOD, *GOOD[:3], ("", "x"), ("same", "same"), ("same", "same"), (GOOD[0][0], "Dogs!")]
    report = examined(tmp_path, pairs)
    order = [(problem.severity, problem.count) for problem in report.problems]
    assert order == [("drop", 3), ("drop", 2), ("drop", 1), ("note", 1)]
    dropped = sum(problem.count for problem in report.problems if problem.severity == "drop")
    assert report.pairs - report.kept == dropped == 6
    lines = report.lines()
    assert lines[0] == "107 pairs: 101 kept, 6 dropped"
    assert lines[4] == '    "same" | "same"'
    facts = json.loads(report.to_json())
    assert (facts["pairs"], facts["kept"]) == (107, 101)
    assert facts["source_scripts"] == facts["target_scripts"] == ["latin"]
    assert facts["problems"][0]["kind"] == "duplicate"
    assert set(facts["problems"][0]) == set(Problem.__dataclass_fields__)


def test_places_and_examples_are_right_across_sources(tmp_path: Path) -> None:
    parts = [
        source_of(tmp_path, f"{n}.tsv", [*GOOD[10 * n : 10 * n + 10], (f"equal {n}", f"equal {n}")])
        for n in range(3)
    ]
    told: list[tuple[str, int, int]] = []
    report = examine(parts, DataSettings(), progress=lambda *progress: told.append(progress))
    problem = only_problem(report)
    assert problem.lines == [f"{tmp_path / f'{n}.tsv'}:11" for n in range(3)]
    assert problem.example == '"equal 0" | "equal 0"'
    assert told[-1] == ("examining", 33, 33)


def test_progress_is_told_now_and_then(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    part = source_of(tmp_path, "a.tsv", [(f"Satz {i}", f"sentence {i}") for i in range(12_000)])
    examine([part], DataSettings(), progress=lambda *progress: told.append(progress))
    assert [done for _, done, _ in told] == [5_000, 10_000, 12_000]
    assert all(done < total for _, done, total in told[:-1])
    assert told[-1][1] == told[-1][2]


def test_lengths_are_compared_with_the_middle_of_the_corpus(tmp_path: Path) -> None:
    tripled = [(s, " ".join([t] * 6)) for s, t in GOOD]
    report = examined(tmp_path, [*tripled, ("Ein ganz gewöhnlicher Satz.", "An ordinary one.")])
    assert report.ratio == pytest.approx(np.median([len(s) / len(t) for s, t in tripled]), 0.02)
    assert report.kept == 101
    far = ("Ein ganz gewöhnlicher Satz, ein wenig länger.", "Ok.")
    assert only_problem(examined(tmp_path, [*tripled, far])).kind == "length-ratio"


def test_a_side_may_have_two_scripts(tmp_path: Path) -> None:
    both = [(s, t if i % 3 else "Это собака.") for i, (s, t) in enumerate(GOOD)]
    report = examined(tmp_path, [*both, ("Ja.", "예, 그렇습니다.")])
    drops = [problem.kind for problem in report.problems if problem.severity == "drop"]
    assert drops == ["wrong-script"]
    assert report.kept == 100


def test_a_line_that_names_something_foreign_is_not_foreign(tmp_path: Path) -> None:
    korean = [(s, f"개 {i}마리와 고양이가 있다.") for i, (s, _) in enumerate(GOOD)]
    pairs = [*korean, ("Hier ist Windows.", "Microsoft Windows XP를 샀다."), ("42", "42.")]
    assert examined(tmp_path, pairs).lines() == ["102 pairs: 102 kept, 0 dropped"]


# -- a pair alone --------------------------------------------------------------------------------

PIECES = st.sampled_from(
    [
        *(*NUMBERS, "dog", "cats", "Ã©", "é", "ß”", "\ufffd", "개가", "있다", "собака", "狗"),
        *(" ", "\u00a0", "\u200b", ".", "x" * 30, "x" * 90, "42", "\x93", "\x85"),
    ]
)
TEXTS = st.lists(PIECES, max_size=6).map(" ".join)


def judge(source: str, target: str, report: Findings, how: DataSettings) -> Kind | None:
    """Say of one pair, by itself, why it is dropped; the rules of `examine` without its arrays."""

    def foreign(text: str, own: int) -> bool:
        return scripts_in(text) & own == 0 and scripts_in(text) != 0 != own

    if max(len(source), len(target)) > how.max_characters:
        return "over-long"
    spoilt = broken(source) or broken(target)
    source, target = normalise(source), normalise(target)
    if not source or not target:
        return "empty-side"
    if spoilt:
        return "broken-characters"
    if source == target and how.drop_equal:
        return "equal-sides"
    if how.drop_wrong_script and (
        foreign(source, report.source_scripts) or foreign(target, report.target_scripts)
    ):
        return "wrong-script"
    short, long = sorted((len(source) + 3, len(target) * report.ratio + 3))
    return "length-ratio" if long > how.max_ratio * short else None


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=30), st.booleans(), st.booleans())
@settings(max_examples=150)
def test_each_pair_is_judged_as_it_would_be_by_itself(
    tmp_path_factory: pytest.TempPathFactory,
    pairs: list[tuple[str, str]],
    equal: bool,
    script: bool,
) -> None:
    folder = tmp_path_factory.getbasetemp()
    chosen = DataSettings(
        max_characters=200, max_ratio=3, drop_equal=equal, drop_wrong_script=script
    )
    report = examine([source_of(folder, "drawn.tsv", [*GOOD[:9], *pairs])], chosen)
    seen = set()
    expected = []
    for source, target in [*GOOD[:9], *pairs]:
        pair = (normalise(source), normalise(target))
        kind = judge(source, target, report, chosen)
        expected.append(kind is None and pair not in seen)
        if kind is None:
            seen.add(pair)
    assert report.keep.tolist() == expected
    drops = {p.kind: p.count for p in report.problems if p.severity == "drop"}
    drops.pop("duplicate", 0)
    judged = [judge(source, target, report, chosen) for source, target in pairs]
    assert drops == {kind: judged.count(kind) for kind in set(judged) if kind is not None}
