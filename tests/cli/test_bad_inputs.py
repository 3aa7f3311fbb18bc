"""What people get wrong: each mistake is one line and exit code 2, and leaves nothing behind."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from command import call, everything, pairs, training, two_files, write

from heedful import config

TRANSLATION = "heedful.tasks.translation"

BOTH = pairs(40)
ENGLISH = [s for s, _ in BOTH]
FRENCH = [t for _, t in BOTH]

Case = Callable[[Path], tuple[list[object], str]]
"""From a folder to what is typed, and what is answered."""
CASES: dict[str, Case] = {}


def case(make: Case) -> Case:
    CASES[make.__name__] = make
    return make


def train(folder: Path, *arguments: object) -> list[object]:
    return ["train", *arguments, "-o", folder / "model"]


def beside(folder: Path, content: object) -> tuple[Path, Path]:
    """A source file, and this as its target file."""
    return write(folder / "a.en", ENGLISH), write(folder / "a.fr", content)


@case
def an_empty_file(folder: Path) -> tuple[list[object], str]:
    one, two = beside(folder, b"")
    return train(folder, one, two), (
        f"{two} is empty; expected one sentence a line; check how it was made"
    )


@case
def unequal_counts(folder: Path) -> tuple[list[object], str]:
    one, two = beside(folder, FRENCH[:33])
    return train(folder, one, two), (
        f"{one} has 40 lines and {two} has 33; expected as many in both; "
        f"they agree as far as {two} goes: complete it or cut the other"
    )


@case
def a_binary_file(folder: Path) -> tuple[list[object], str]:
    one, two = beside(folder, b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 9)
    return train(folder, one, two), (
        f"{two} contains NUL bytes (the first in line 3) and is binary or damaged; "
        f"expected plain text; give the text itself"
    )


@case
def a_cp949_file(folder: Path) -> tuple[list[object], str]:
    korean = "".join(f"{t}\n" for _, t in pairs(40, "ko"))
    one, two = beside(folder, korean.encode("cp949"))
    byte = korean.encode("cp949")[0]
    return train(folder, one, two), (
        f"{two} is not UTF-8 (byte 0x{byte:02x} in line 1); it looks like CP949: "
        f"add --encoding cp949"
    )


@case
def a_utf16_file(folder: Path) -> tuple[list[object], str]:
    one, two = beside(folder, "\n".join(FRENCH).encode("utf-16"))
    return train(folder, one, two), (
        f"{two} is not UTF-8; it looks like UTF-16: add --encoding utf-16"
    )


@case
def a_wrong_encoding(folder: Path) -> tuple[list[object], str]:
    return train(folder, *two_files(folder), "--encoding", "utf-7000"), (
        "unknown encoding 'utf-7000'; expected one such as utf-8, cp949, utf-16 or latin-1; "
        "leave --encoding out for UTF-8"
    )


@case
def nul_bytes(folder: Path) -> tuple[list[object], str]:
    one, two = beside(folder, [*FRENCH[:6], "un\0chien", *FRENCH[7:]])
    return train(folder, one, two), (
        f"{two} contains NUL bytes (the first in line 7) and is binary or damaged; "
        f"expected plain text; give the text itself"
    )


@case
def one_pair_only(folder: Path) -> tuple[list[object], str]:
    one, two = two_files(folder, 1)  # the folders above the model's go with it
    return ["train", one, two, "-o", folder / "new" / "deeper" / "model"], (
        "1 usable pair of 1 cannot be trained on: at least 2 are needed, "
        "one to learn from and one to check; give more text"
    )


@case
def no_usable_pair(folder: Path) -> tuple[list[object], str]:
    one, two = beside(folder, ENGLISH)
    return train(folder, one, two), (
        "no pair of 40 can be trained on; look at the other problems and at the columns given"
    )


@case
def the_target_missing(folder: Path) -> tuple[list[object], str]:
    one, _ = two_files(folder)
    return train(folder, one), (
        f"target missing for {one}; expected text files two by two, source and target; "
        f"add the other file, or name one that holds both .tsv or .jsonl"
    )


@case
def a_missing_file(folder: Path) -> tuple[list[object], str]:
    one, _ = two_files(folder)
    return train(folder, one, folder / "a.de"), (
        f"{folder / 'a.de'} does not exist; expected a text, TSV or JSONL file, plain or .gz; "
        f"check the name"
    )


@case
def a_folder_for_a_file(folder: Path) -> tuple[list[object], str]:
    one, _ = two_files(folder)
    return train(folder, one, folder), (
        f"{folder} is a folder; expected a file with one sentence a line; name a file"
    )


@case
def development_text_that_is_missing(folder: Path) -> tuple[list[object], str]:
    absent = folder / "dev.en"
    return train(folder, *two_files(folder), "--dev", absent, folder / "dev.fr"), (
        f"{absent} does not exist; expected a text, TSV or JSONL file, plain or .gz; check the name"
    )


@case
def a_place_that_cannot_be_written(folder: Path) -> tuple[list[object], str]:
    one, two = two_files(folder)
    inside = one / "deeper" / "model"
    return ["train", one, two, "-o", inside], (
        f"{inside / 'run'} cannot be made: Not a directory; "
        f"choose a folder that can be written with -o"
    )


@case
def a_file_where_the_model_should_go(folder: Path) -> tuple[list[object], str]:
    one, two = two_files(folder)
    return ["train", one, two, "-o", one], (
        f"{one} exists and is not a Heedful model folder; choose another folder with -o"
    )


@case
def a_folder_of_other_things(folder: Path) -> tuple[list[object], str]:
    (folder / "model").mkdir()
    write(folder / "model" / "thesis.tex", "years of work")
    return train(folder, *two_files(folder)), (
        f"{folder / 'model'} exists and is not a Heedful model folder; "
        f"choose another folder with -o"
    )


@case
def a_folder_with_somebody_elses_run(folder: Path) -> tuple[list[object], str]:
    (folder / "model" / "run").mkdir(parents=True)
    write(folder / "model" / "run" / "marathon.txt", "42.195")
    return train(folder, *two_files(folder)), (
        f"{folder / 'model'} has a folder run that is not Heedful's; choose another folder with -o"
    )


@case
def an_unknown_setting(folder: Path) -> tuple[list[object], str]:
    return train(folder, *two_files(folder), "--set", "train.learning_rate=1"), (
        "train.learning_rate is not a setting; did you mean train.lr?"
    )


@case
def a_setting_of_the_wrong_kind(folder: Path) -> tuple[list[object], str]:
    return train(folder, *two_files(folder), "--set", "train.steps=many"), (
        'train.steps = "many" is not allowed; expected a whole number, at least 1'
    )


@case
def a_setting_out_of_range(folder: Path) -> tuple[list[object], str]:
    return train(folder, *two_files(folder), "--set", "model.dropout=1.5"), (
        "model.dropout = 1.5 is out of range; expected a number, at least 0 and below 1"
    )


@case
def a_setting_without_a_value(folder: Path) -> tuple[list[object], str]:
    return train(folder, *two_files(folder), "--set", "train.steps"), (
        "'train.steps' does not set anything; write it as table.name=value, "
        "for example train.lr=3e-4"
    )


@case
def batches_that_are_too_small(folder: Path) -> tuple[list[object], str]:
    (folder / "model").mkdir()  # an empty folder stays one
    # Every digit is a piece, so is the space before them; each side has an end.
    path = write(folder / "a.tsv", [f"{n}\t{n + 1}" for n in range(123_450, 123_490)])
    return train(folder, path, "--set", "data.batch_tokens=15"), (
        "a pair of 16 positions does not fit into data.batch_tokens = 15; "
        "raise data.batch_tokens or lower data.max_length"
    )


@case
def a_learned_table_that_is_too_short(folder: Path) -> tuple[list[object], str]:
    short = ["model.positions=learned", "model.max_positions=256"]
    return train(folder, *two_files(folder), *(x for s in short for x in ("--set", s))), (
        "data.max_length = 256 pieces and an end do not fit into model.max_positions = 256; "
        "lower the one or raise the other"
    )


@case
def an_unknown_preset(folder: Path) -> tuple[list[object], str]:
    return train(folder, *two_files(folder), "--preset", "smal"), (
        f"'smal' is not a preset; the presets are {', '.join(config.presets(TRANSLATION))}; "
        f"did you mean small?"
    )


@case
def a_missing_recipe(folder: Path) -> tuple[list[object], str]:
    return train(folder, *two_files(folder), "--recipe", folder / "mine.toml"), (
        f"{folder / 'mine.toml'} does not exist; give the path of a TOML file"
    )


@case
def an_unknown_language(folder: Path) -> tuple[list[object], str]:
    return train(folder, *two_files(folder), "--from", "korean"), (
        "unknown language code 'korean'; expected an ISO 639 code such as en, ko or de; "
        "did you mean ko?"
    )


@case
def a_device_that_is_not_there(folder: Path) -> tuple[list[object], str]:
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    absent = next(name for name, found in there.items() if not found)
    present = "".join(f"{name} or " for name, found in there.items() if found)
    return train(folder, *two_files(folder), "--device", absent), (
        f"--device {absent} is not on this machine; expected auto or {present}cpu"
    )


@case
def a_device_nobody_knows(folder: Path) -> tuple[list[object], str]:
    return train(folder, *two_files(folder), "--device", "abacus"), (
        "--device abacus: expected auto, cpu, cuda or mps"
    )


@case
def a_damaged_gz(folder: Path) -> tuple[list[object], str]:
    one, _ = two_files(folder)
    whole = gzip.compress("\n".join(FRENCH).encode())
    path = write(folder / "b.fr.gz", whole[:-20])
    return train(folder, one, path), (
        f"{path} cannot be unpacked as gzip: it ends too early; expected a whole .gz file; "
        f"fetch or compress it again"
    )


@case
def a_gz_in_name_only(folder: Path) -> tuple[list[object], str]:
    one, _ = two_files(folder)
    path = write(folder / "b.fr.gz", FRENCH)
    begin = FRENCH[0].encode()[:2].hex()
    return train(folder, one, path), (
        f"{path} is not gzip data although its name says so (it begins with 0x{begin}); "
        f"take .gz off the name or compress it"
    )


@case
def a_tsv_with_one_column(folder: Path) -> tuple[list[object], str]:
    return train(folder, write(folder / "a.tsv", ENGLISH)), (
        "no pair of 40 can be trained on; look at the other problems and at the columns given"
    )


@case
def a_tsv_with_named_columns(folder: Path) -> tuple[list[object], str]:
    path = write(folder / "a.tsv", [f"{s}\t{t}" for s, t in BOTH])
    return train(folder, path, "--columns", "en,fr"), (
        f"{path} has no column 'en'; expected a number from 1; write a.tsv:1,2 for the first two"
    )


@case
def three_columns(folder: Path) -> tuple[list[object], str]:
    path = write(folder / "a.tsv", [f"{s}\t{t}" for s, t in BOTH])
    return train(folder, path, "--columns", "1,2,3"), (
        "--columns 1,2,3: expected 2 of them, source and target, such as 2,3 or ko,en"
    )


@case
def jsonl_that_is_no_json(folder: Path) -> tuple[list[object], str]:
    path = write(folder / "a.jsonl", ['{"en": "a dog", "fr": "un chien"}', "{en: a cat}"])
    return train(folder, path), (
        f"{path}:2 is not JSON (Expecting property name enclosed in double quotes: line 1 column 2 "
        f"(char 1)); expected one object a line; mend or remove the line"
    )


@case
def a_folder_that_is_no_model(folder: Path) -> tuple[list[object], str]:
    return ["translate", folder, "a dog"], (
        f"{folder} is not a model folder: it has no manifest.json; "
        f"give a folder that `heedful train` wrote"
    )


@case
def a_model_that_is_missing(folder: Path) -> tuple[list[object], str]:
    return ["translate", folder / "model", "a dog"], (
        f"{folder / 'model'} does not exist; give the folder of a trained model"
    )


@pytest.mark.parametrize("name", CASES)
def test_a_mistake_is_one_line_and_leaves_nothing_behind(name: str, tmp_path: Path) -> None:
    arguments, message = CASES[name](tmp_path)
    before = everything(tmp_path)
    called = call(*arguments)
    assert called.code == 2, called.err
    assert called.mistake == message
    assert called.out == ""
    assert everything(tmp_path) == before


def test_a_line_of_a_megabyte_is_kept_out_and_said_so(tmp_path: Path) -> None:
    one = write(tmp_path / "a.en", [*ENGLISH, "x " * 500_000])
    two = write(tmp_path / "a.fr", [*FRENCH, "court"])
    called = call("train", one, two, "-o", tmp_path / "model", *training())
    assert called.code == 0, called.err
    told = called.err.splitlines()
    place = told.index("41 pairs: 40 kept, 1 dropped")
    assert told[place + 1] == (
        f"dropped: 1 line too long to be sentences ({one}:41); "
        f"split them, or raise data.max_characters"
    )
    assert max(map(len, told)) < 400
