"""Damage to any file that loading or continuing reads is seen and named; nothing trains on it."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from killed import SETTINGS
from test_killed import log_of, newest, write_text

from heedful import files
from heedful.errors import HeedfulError
from heedful.tasks.translation.model import load_model, open_folder
from heedful.train import loop
from heedful.train.checkpoint import States
from heedful.train.report import Report
from heedful.verbs.train import Request, Result, train

SHORT: dict[str, Any] = SETTINGS | {"train": {**SETTINGS["train"], "steps": 14}}


class Heard(Report):
    def __init__(self) -> None:
        self.told: list[str] = []

    def note(self, text: str) -> None:
        self.told.append(text)


def again(folder: Path, output: str = "model") -> tuple[Result, list[str]]:
    heard = Heard()
    files = folder / "a.en", folder / "a.fr"
    request = Request(files=files, output=folder / output, settings=SHORT, threads=1)
    return train(request, heard), heard.told


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run stopped after the look at step 10, with two states, and one that was not stopped."""
    folder = tmp_path_factory.mktemp("stopped")
    write_text(folder)
    again(folder, "whole")
    take: Callable[..., Any] = loop.Trainer.step

    def stepping(trainer: loop.Trainer[Any], group: Any) -> Any:
        found = take(trainer, group)
        trainer.interrupted = trainer.state.step == 12
        return found

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(loop.Trainer, "step", stepping)
        result, _ = again(folder)
    assert (result.finished, result.step) == (False, 12)
    return folder


def damage(file: Path, chance: random.Random) -> str:
    """Cut a file, flip a bit of it or remove it; say what was done."""
    data = file.read_bytes()
    how = chance.choice(["cut", "flip", "flip", "flip", "remove"]) if data else "remove"
    if how == "remove":
        file.unlink()
    elif how == "cut":
        file.write_bytes(data[: chance.randrange(len(data))])
    else:
        bit = chance.randrange(8 * len(data))
        spoilt = bytearray(data)
        spoilt[bit // 8] ^= 1 << bit % 8
        file.write_bytes(spoilt)
    return how


def readable(model: Path) -> list[Path]:
    """What loading and continuing read: of the states the newest."""
    files = sorted(p for p in model.rglob("*") if p.is_file())
    newest = max(p.stem for p in files if p.parent.name == "state")
    unread = ("lock", "report.html")
    return [
        p for p in files if p.name not in unread and (p.parent.name != "state" or p.stem == newest)
    ]


def damages(stopped: Path, tmp_path: Path, seed: int, count: int) -> None:
    chance = random.Random(seed)
    whole = stopped / "whole"
    for number in range(count):
        folder = tmp_path / str(number)
        shutil.copytree(stopped / "model", folder / "model")
        file = chance.choice(readable(folder / "model"))
        how = damage(file, chance)
        case = f"{how} {file}"
        where = file.relative_to(folder / "model")
        if len(where.parts) == 1:
            with pytest.raises(HeedfulError) as refused:
                load_model(open_folder(folder / "model"))
            assert file.name in str(refused.value), case
        moved = Request(
            files=(stopped / "a.en", stopped / "a.fr"),
            output=folder / "model",
            settings=SHORT,
            threads=1,
        )
        heard, refusals = Heard(), []
        try:
            train(moved, heard)
        except HeedfulError as error:
            refusals.append(str(error))
        told = [*refusals, *heard.told]
        assert all("\n" not in line for line in told)
        if where.parts[1:2] == ("state",):
            # Without its other half a state is as good as gone, whichever half it is.
            assert any(f"state/{file.stem}." in line for line in told), case
            ours, theirs = (m / "model.safetensors" for m in (folder / "model", whole))
            assert ours.read_bytes() == theirs.read_bytes(), case
            assert newest(folder / "model") == newest(whole), case
            assert log_of(folder / "model") == log_of(whole), case
        else:
            assert any(file.name in line for line in told), case
            assert refusals or file.name == "log.jsonl" or where.parts[1] == "kept", case
        shutil.rmtree(folder)


def test_forty_damages_are_seen(stopped: Path, tmp_path: Path) -> None:
    damages(stopped, tmp_path, 1, 40)


@pytest.mark.long
def test_two_hundred_damages_are_seen(stopped: Path, tmp_path: Path) -> None:
    damages(stopped, tmp_path, 2, 200)


def test_the_scores_of_a_finished_run_are_made_again_where_they_are_gone(
    stopped: Path, tmp_path: Path
) -> None:
    done = stopped / "whole" / "run" / "done.json"
    before = done.read_bytes()
    assert again(stopped, "whole")[0].already
    done.unlink()
    result, told = again(stopped, "whole")
    assert result.finished
    assert not result.already
    assert f"{done} is missing: scoring again" in told
    done.write_bytes(before.replace(b'"step": 14', b'"step": 15'))
    with pytest.raises(HeedfulError, match=r"done\.json is damaged"):
        again(stopped, "whole")
    done.unlink()
    again(stopped, "whole")


@pytest.mark.parametrize("decay", [0.0, 0.9])
def test_a_run_begun_when_there_was_a_moving_average_goes_on_without_it(
    stopped: Path, tmp_path: Path, decay: float
) -> None:
    older = tmp_path / "model"
    shutil.copytree(stopped / "model", older)
    text = (older / "config.toml").read_text(encoding="utf-8")
    raw = text.replace("[train]\n", f"[train]\nema = {decay}\n", 1).encode()
    assert raw != text.encode()
    (older / "config.toml").write_bytes(raw)
    manifest = files.read_sealed(older / "manifest.json")
    manifest["files"]["config.toml"] = [files.sha256(older / "config.toml")]
    files.write_sealed(older / "manifest.json", manifest)
    request = files.read_sealed(older / "run" / "request.json")
    request["settings"]["train"]["ema"] = decay
    files.write_sealed(older / "run" / "request.json", request)
    states = States(older / "run" / "state")
    found = states.load(print)
    assert found is not None
    tensors, facts = found
    states.save(tensors | {"ema.weight": torch.zeros(7)}, facts)

    wanted = Request(
        files=(stopped / "a.en", stopped / "a.fr"), output=older, settings=SHORT, threads=1
    )
    assert train(wanted).finished
    ours, theirs = (m / "model.safetensors" for m in (older, stopped / "whole"))
    assert ours.read_bytes() == theirs.read_bytes()
    assert load_model(open_folder(older))


LIMITED = """
import resource, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from killed import SETTINGS
from heedful.errors import HeedfulError
from heedful.train import loop
from heedful.verbs.train import Request, train
take = loop.Trainer.step
def stepping(trainer, group):
    if trainer.state.step == 7:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))
    return take(trainer, group)
loop.Trainer.step = stepping
folder = Path(sys.argv[2])
try:
    train(Request(files=(folder / "a.en", folder / "a.fr"), output=folder / "full",
                  settings=SETTINGS | {"train": {**SETTINGS["train"], "steps": 14}}, threads=1))
except HeedfulError as error:
    print(error)
"""


def test_a_disk_that_is_full_in_the_middle_of_a_write_loses_nothing(stopped: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", LIMITED, str(Path(__file__).parent), str(stopped)],
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=True,
    )
    full = stopped / "full"
    assert ran.stdout.count("\n") == 1
    assert ran.stdout.startswith(str(full))
    assert "cannot be written: the system allows no file so large" in ran.stdout
    assert "kB needed" in ran.stdout
    again(stopped, "full")
    assert newest(full) == newest(stopped / "whole")
    assert log_of(full) == log_of(stopped / "whole")


def test_two_runs_on_one_folder_are_refused(stopped: Path, tmp_path: Path) -> None:
    held = subprocess.Popen(
        [
            *(sys.executable, "-c"),
            "import sys, time; from pathlib import Path; "
            "from heedful.verbs.request import locked\n"
            "with locked(Path(sys.argv[1])):\n print('locked', flush=True); time.sleep(60)",
            str(stopped / "whole"),
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert held.stdout is not None
    try:
        assert held.stdout.readline() == "locked\n"
        with pytest.raises(HeedfulError) as refused:
            again(stopped, "whole")
        assert str(refused.value) == (
            f"{stopped / 'whole'} is being trained by another process ({held.pid}); wait for it, "
            f"stop it, or choose another folder with -o"
        )
    finally:
        held.kill()
        held.wait()
        held.stdout.close()
    assert again(stopped, "whole")[0].already
