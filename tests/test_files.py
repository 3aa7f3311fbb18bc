from __future__ import annotations

import errno
import os
import shutil
import stat
from pathlib import Path

import pytest

from heedful import files
from heedful.errors import ModelFolderError


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (errno.ENOSPC, "the disk is full (2.5 MB needed, 7.0 kB free); free some space or choose"),
        (errno.EDQUOT, "the disk is full (2.5 MB needed, 7.0 kB free); free some space or choose"),
        (
            errno.EACCES,
            "the folder is not writable (Permission denied); change its permissions or choose",
        ),
        (
            errno.EROFS,
            "the folder is not writable (Read-only file system); change its permissions or choose",
        ),
        (errno.EIO, "Input/output error; choose"),
    ],
)
@pytest.mark.parametrize("call", ["mkdir", "fsync", "replace"])
def test_a_disk_that_refuses_is_told_in_one_line_and_the_old_file_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int, reason: str
) -> None:
    path = tmp_path / "file.txt"
    path.write_text("old")
    usage = shutil.disk_usage(tmp_path)._replace(free=7_000)

    def refuse(*args: object) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patched:
        patched.setattr(os, call, refuse)
        patched.setattr(shutil, "disk_usage", lambda folder: usage)
        with pytest.raises(ModelFolderError) as caught:
            files.write(path, b"x" * 2_500_000)
    assert str(caught.value) == f"{path} cannot be written: {reason} another folder"
    assert [p.name for p in tmp_path.iterdir()] == ["file.txt"]
    assert path.read_text() == "old"


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    path = tmp_path / "none" / "file.txt"
    with pytest.raises(ModelFolderError) as caught:
        files.write(path, "text")
    assert str(caught.value) == (
        f"{path} cannot be written: No such file or directory; choose another folder"
    )


def test_a_drive_that_cannot_force_a_folder_still_takes_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    force = os.fsync

    def fsync(handle: int) -> None:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        force(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    files.write(tmp_path / "file.txt", "text")
    assert (tmp_path / "file.txt").read_text() == "text"


def test_a_file_that_cannot_be_read_is_told_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(ModelFolderError) as caught:
        files.sha256(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path} cannot be read: Is a directory; check it and its permissions"
    )


def test_writing_replaces_text_and_bytes_and_leaves_line_ends_alone(tmp_path: Path) -> None:
    path = tmp_path / "a[1].txt"
    for data, expected in (("한\r\n", "한\r\n".encode()), (b"\x00\xff", b"\x00\xff")):
        files.write(path, data)
        assert path.read_bytes() == expected
    (tmp_path / ".a[1].txt.0123.tmp").mkdir()
    (tmp_path / ".other.txt.0123.tmp").mkdir()
    files.sweep(path)
    assert sorted(p.name for p in tmp_path.iterdir()) == [".other.txt.0123.tmp", "a[1].txt"]
