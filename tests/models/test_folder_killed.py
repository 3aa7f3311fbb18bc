from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import safetensors.torch
import torch
from folder_case import IDS, LISTED, TABLES, make, manifest, refusal, same, settings

from heedful import files
from heedful.data.tokenizer import JOINT
from heedful.errors import ModelFolderError
from heedful.models import folder as folders
from heedful.models.folder import Folder, state
from heedful.models.transformer import Transformer
from heedful.tasks.translation.model import load_model, open_folder


class Killed(BaseException):
    """A death that no `except Exception` sees."""


@pytest.mark.parametrize("fatal", range(4))
def test_a_kill_at_any_rename_never_makes_a_good_folder_look_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fatal: int
) -> None:
    made, old = make(tmp_path / "model")
    torch.manual_seed(1)
    new = Transformer(made.settings.model, IDS)
    renames, dead = 0, False
    rename, rmtree = os.replace, shutil.rmtree

    def replace(source: str | Path, target: str | Path) -> None:
        nonlocal renames, dead
        if renames == fatal:
            dead = True
            raise Killed
        renames += 1
        rename(source, target)

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", replace)
        patched.setattr(shutil, "rmtree", lambda *a, **k: dead or rmtree(*a))
        if fatal == 3:  # manifest, weights, manifest: a replacement is three renames
            made.write_weights(state(new))
        else:
            with pytest.raises(Killed):
                made.write_weights(state(new))
    assert len(list(made.path.glob(".*.tmp"))) == (0 if fatal == 3 else 2 if fatal == 0 else 1)
    assert same(load_model(open_folder(made.path)), old if fatal < 2 else new)

    made.write_weights(state(new))  # the next run goes on, and tidies up
    assert same(load_model(open_folder(made.path)), new)
    assert len(manifest(made.path)["model.safetensors"]) == 1
    assert sorted(p.name for p in made.path.iterdir()) == sorted([*LISTED, "manifest.json"])


@pytest.mark.parametrize("fatal", range(2))
def test_a_kill_at_the_first_saving_leaves_a_folder_just_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fatal: int
) -> None:
    made = Folder.create(tmp_path, settings(), TABLES, {JOINT: b"pieces"})
    network = Transformer(made.settings.model, IDS)
    rename = os.replace
    seen: list[object] = []

    def replace(source: str | Path, target: str | Path) -> None:
        seen.append(target)
        if len(seen) > fatal:
            raise Killed
        rename(source, target)

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", replace)
        with pytest.raises(Killed):
            made.write_weights(state(network))
    with pytest.raises(ModelFolderError, match=r"has no model\.safetensors yet"):
        open_folder(tmp_path).weights()
    made.write_weights(state(network))
    assert same(load_model(open_folder(tmp_path)), network)


@pytest.mark.parametrize("fatal", range(4))
def test_a_kill_while_beginning_leaves_a_place_to_begin_again(tmp_path: Path, fatal: int) -> None:
    code = f"""
import os
from tests_settings import begin
from heedful import files
left, rename = {fatal}, os.replace
def replace(source, target):
    global left
    if left == 0:
        os._exit(9)
    left -= 1
    rename(source, target)
os.replace = replace
begin()
"""
    (tmp_path / "tests_settings.py").write_text(
        "from heedful.models.folder import Folder\n"
        "from heedful.settings import TokenIds\n"
        "from heedful.tasks.translation.settings import Settings\n"
        "def begin():\n"
        "    ids, pieces = TokenIds(size=5, pad=4, start=4), {'tokenizer.model': b'pieces'}\n"
        "    Folder.create('model', Settings(), {'ids': ids.model_dump()}, pieces)\n"
    )
    place = [str(tmp_path), str(Path(folders.__file__).parents[2])]
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(place)},
        check=False,
    )
    assert ran.returncode == 9
    path = tmp_path / "model"
    assert not Folder.exists(path)
    with pytest.raises(ModelFolderError):
        open_folder(path)
    made = Folder.create(path, settings(), TABLES, {JOINT: b"pieces"})
    assert open_folder(path) == made
    assert not list(path.glob(".*.tmp"))


def test_a_folder_whose_beginning_was_killed_says_so(tmp_path: Path) -> None:
    folders._write_manifest(tmp_path, {})
    assert refusal(tmp_path) == (
        f"{tmp_path} is not finished: its manifest.json does not list config.toml; train again"
    )


def test_a_training_that_saves_while_we_check_is_not_taken_for_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, _ = make(tmp_path / "model")
    torch.manual_seed(1)
    new = Transformer(made.settings.model, IDS)
    plain = files.sha256
    pending = [True]

    def sha256(path: str | Path) -> str:
        if Path(path) == made.path / "model.safetensors" and pending:
            pending.clear()
            made.write_weights(state(new))  # between our reading the manifest and the file
        return plain(path)

    monkeypatch.setattr(files, "sha256", sha256)
    assert same(load_model(open_folder(made.path)), new)
    assert not pending


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES, errno.EROFS, errno.EIO])
def test_a_disk_that_refuses_leaves_the_old_file_and_nothing_half_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    made, network = make(tmp_path / "model")

    def fsync(handle: int) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", fsync)
        for write in (
            lambda: made.write_card("# another"),
            lambda: made.write_weights({"other": torch.zeros(3)}),
            lambda: Folder.create(
                tmp_path / "new" / "model", settings(), TABLES, {JOINT: b"pieces"}
            ),
        ):
            with pytest.raises(ModelFolderError, match=r"manifest\.json cannot be written: "):
                write()
    assert same(load_model(open_folder(made.path)), network)
    assert (made.path / "README.md").read_text() == "# card\n"
    assert not list(tmp_path.rglob(".*.tmp"))
    assert not (tmp_path / "new").exists()


def test_a_full_disk_met_by_safetensors_is_told_the_same_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, network = make(tmp_path / "model")

    def save_file(*args: object) -> None:
        raise safetensors.SafetensorError("I/O error: No space left on device (os error 28)")

    usage = shutil.disk_usage(tmp_path)._replace(free=1_500_000)
    with monkeypatch.context() as patched:
        patched.setattr(safetensors.torch, "save_file", save_file)
        patched.setattr(shutil, "disk_usage", lambda path: usage)
        big = {"big": torch.zeros(1_000_003)}
        with pytest.raises(ModelFolderError) as caught:
            made.write_weights(big)
    assert str(caught.value) == (
        f"{made.path / 'model.safetensors'} cannot be written: the disk is full "
        f"(4.0 MB needed, 1.5 MB free); free some space or choose another folder"
    )
    assert same(load_model(open_folder(made.path)), network)


def test_a_real_limit_of_the_system_is_told_in_one_line(tmp_path: Path) -> None:
    pytest.importorskip("resource")
    code = """
import resource, signal, sys, torch
from heedful.errors import ModelFolderError
from heedful.tasks.translation.model import open_folder
folder = open_folder(sys.argv[1])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
try:
    folder.write_weights({"big": torch.zeros(100_003)})
except ModelFolderError as error:
    print(error)
"""
    made, network = make(tmp_path / "model")
    ran = subprocess.run(
        [sys.executable, "-c", code, str(made.path)], capture_output=True, text=True, check=True
    )
    file = made.path / "model.safetensors"
    assert ran.stdout.startswith(f"{file} cannot be written: ")
    assert "the system allows no file so large (0.4 MB needed)" in ran.stdout
    assert ran.stdout.count("\n") == 1
    assert same(load_model(open_folder(made.path)), network)
    assert not list(made.path.glob(".*"))
