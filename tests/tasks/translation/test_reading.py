from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from heedful.errors import DataError
from heedful.tasks.translation.reading import Source, UnequalLines, sources


def write(path: Path, content: str | bytes) -> Path:
    data = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def pairs(*paths: Path | str, columns: tuple[str, str] | None = None) -> list[tuple[int, str, str]]:
    given_paths = [Path(path) for path in paths]
    return [pair for source in sources(given_paths, columns) for pair in source.pairs()]


def test_two_files_are_read_line_by_line(tmp_path: Path) -> None:
    one = write(tmp_path / "a.de", "eins\r\nzwei\r\n")
    two = write(tmp_path / "a.en.gz", "one\ntwo")
    assert pairs(one, two) == [(1, "eins", "one"), (2, "zwei", "two")]
    source = sources([one, two])[0]
    assert source == Source("files", (one, two))
    assert source.place(2) == f"{one}:2"
    assert list(source.pairs()) == list(source.pairs())


def test_several_parts_are_read_in_order(tmp_path: Path) -> None:
    one, two = write(tmp_path / "a.de", "eins\n"), write(tmp_path / "a.en", "one\n")
    three = write(tmp_path / "b.tsv", "zwei\ttwo\n")
    four = write(tmp_path / "c.jsonl.gz", '{"source": "drei", "target": "three"}\n')
    assert [pair[1:] for pair in pairs(one, two, three, four)] == [
        ("eins", "one"),
        ("zwei", "two"),
        ("drei", "three"),
    ]


def test_a_tsv_is_read_by_columns_and_short_lines_have_an_empty_side(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", 'x\tein "Wort\ta word\tmore\nx\tzwei\n\nx\t\t\n')
    assert pairs(path) == [(1, "x", 'ein "Wort'), (2, "x", "zwei"), (3, "", ""), (4, "x", "")]
    expected = [(1, "a word", 'ein "Wort'), (2, "", "zwei"), (3, "", ""), (4, "", "")]
    assert pairs(path, columns=("3", "2")) == expected
    assert pairs(f"{path}:3,2") == expected
    assert pairs(f"{path}:3,2", columns=("1", "2")) == expected


def test_a_file_whose_name_has_a_colon_is_that_file(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv:2,1", "x\ty\n")
    other = write(tmp_path / "b", "z\n")
    assert pairs(path, other) == [(1, "x\ty", "z")]


@pytest.mark.parametrize(
    ("records", "columns", "expected"),
    [
        ([{"de": "ein", "en": "a", "id": 5}], None, ("ein", "a")),
        ([{"target": "a", "source": "ein"}], None, ("ein", "a")),
        ([{"tgt": "a", "src": "ein", "note": "x"}], None, ("ein", "a")),
        ([{"id": "7", "translation": {"de": "ein", "en": "a"}}], None, ("ein", "a")),
        ([{"id": "7", "translation": {"de": "ein", "en": "a"}}], ("en", "de"), ("a", "ein")),
        ([{"de": "ein", "en": "a", "fr": "un"}], ("fr", "de"), ("un", "ein")),
    ],
)
def test_jsonl_keys_are_found(
    tmp_path: Path,
    records: list[object],
    columns: tuple[str, str] | None,
    expected: tuple[str, str],
) -> None:
    path = write(tmp_path / "a.jsonl", "".join(json.dumps(record) + "\n" for record in records))
    assert pairs(path, columns=columns) == [(1, *expected)]


def test_a_jsonl_line_without_both_texts_has_an_empty_side(tmp_path: Path) -> None:
    lines = ['{"de": "ein", "en": "a"}', '{"de": "zwei"}', "", "5", '{"de": 5, "en": "\\ud800x"}']
    assert pairs(write(tmp_path / "a.jsonl", "\n".join(lines))) == [
        (1, "ein", "a"),
        (2, "zwei", ""),
        (3, "", ""),
        (4, "", ""),
        (5, "", "\ufffdx"),
    ]


def mistake(*paths: Path | str, columns: tuple[str, str] | None = None) -> str:
    with pytest.raises(DataError) as error:
        pairs(*paths, columns=columns)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_mistakes_in_naming_files_are_told(tmp_path: Path) -> None:
    one, two = write(tmp_path / "a.de", "eins\n"), write(tmp_path / "b.tsv", "zwei\ttwo\n")
    assert mistake() == "no files given; expected two text files, or a .tsv or a .jsonl; name them"
    missing = (
        f"target missing for {one}; expected text files two by two, source and target; "
        f"add the other file, or name one that holds both .tsv or .jsonl"
    )
    assert mistake(one) == missing
    assert mistake(one, two, one) == missing
    assert mistake(one, tmp_path / "a.en").startswith(f"{tmp_path / 'a.en'} does not exist;")
    assert mistake(two, columns=("de", "en")) == (
        f"{two} has no column 'de'; expected a number from 1; write b.tsv:1,2 for the first two"
    )
    assert mistake(f"{two}:1") == (
        f"{two}:1 names the columns '1'; expected two with a comma; write {two}:1,2"
    )


def test_mistakes_in_jsonl_are_told(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", '{"de": "ein", "en": "a", "fr": "un"}\n')
    assert mistake(path) == (
        f"{path}:1 has 3 keys with text (de, en, fr); expected two; "
        f"name them, such as a.jsonl:source,target"
    )
    assert mistake(path, columns=("de", "ko")) == (
        f"{path}:1 has no text under the key 'ko'; it has de, en, fr; "
        f"name two of them, such as a.jsonl:source,target"
    )
    write(path, '{"de": "ein", "en": "a"}\n{"de":\n')
    assert mistake(path) == (
        f"{path}:2 is not JSON (Expecting value: line 1 column 7 (char 6)); "
        f"expected one object a line; mend or remove the line"
    )


def test_unequal_counts_name_both_and_where_they_drift_apart(tmp_path: Path) -> None:
    lengths = [5 + (7 * i * i + 3 * i) % 83 for i in range(300)]
    one = write(tmp_path / "a.de", "".join("x" * n + "\n" for n in lengths))
    two = write(
        tmp_path / "a.en", "".join("y" * (n + n // 9) + "\n" for n in lengths[:120] + lengths[121:])
    )
    assert mistake(one, two) == (
        f"{one} has 300 lines and {two} has 299; expected as many in both; "
        f"they seem to drift apart around line 121: look there"
    )
    write(two, "".join("y" * n + "\n" for n in lengths[:250]))
    assert mistake(two, one) == (
        f"{two} has 250 lines and {one} has 300; expected as many in both; "
        f"they agree as far as {two} goes: complete it or cut the other"
    )
    write(two, "one line\n")
    with pytest.raises(UnequalLines, match="compare them from the top") as error:
        pairs(one, two)
    assert error.value.counts == (300, 1)
    assert error.value.begins is None
