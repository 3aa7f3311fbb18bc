"""The states of a training on disk, kept so that nothing is ever lost.

A state is two files: the tensors (weights, buffers, what the optimiser remembers), and a sealed
JSON with everything else and the sha256 of the tensors. The JSON comes last: a state without it was
never finished. The state before is kept until the new one has been read back, and one longer: if
the newest turns out to be damaged, the run goes on from the one before. Random states are not
saved, for every step seeds its own.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file
from torch import Tensor, nn

from heedful import files
from heedful.errors import ModelFolderError, TrainingError

Tensors = dict[str, Tensor]


def buffer_names(model: nn.Module) -> list[str]:
    """Name the persistent buffers: what a model remembers beside its parameters."""
    kept = model.state_dict().keys()
    return [name for name, _ in model.named_buffers() if name in kept]


def weights_of(model: nn.Module) -> Tensors:
    """Give parameters and persistent buffers by name, a tied one once; they are not copies."""
    found = {name: parameter.detach() for name, parameter in model.named_parameters()}
    return found | {name: model.get_buffer(name) for name in buffer_names(model)}


@torch.no_grad()
def take_weights(model: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Copy what `weights_of` gave back into a model."""
    for name, place in weights_of(model).items():
        place.copy_(weights[name])


def write_weights(path: Path, tensors: Mapping[str, Tensor]) -> str:
    """Write tensors atomically, read them back, and give the sha256 of the file."""
    with files.replacing(path, sum(t.nbytes for t in tensors.values())) as temporary:
        files.save_tensors(temporary, tensors)
    _forget(path)
    with safe_open(path, "pt") as file:
        if any(not torch.equal(file.get_tensor(n), t.detach().cpu()) for n, t in tensors.items()):
            raise TrainingError(f"{path} does not hold what was written: the disk may be failing")
    return files.sha256(path)


def _forget(path: Path) -> None:
    """Have the system read a file from the disk next time, where it can be asked to."""
    if hasattr(os, "posix_fadvise"):
        with path.open("rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def check_weights(path: Path, digest: str | None) -> None:
    """Refuse a file that is missing or is not what was written."""
    if not path.exists():
        raise TrainingError(f"{path} is missing")
    if digest is not None and files.sha256(path) != digest:
        raise TrainingError(f"{path} is damaged: it is not what was written")


def read_weights(path: Path, digest: str | None = None) -> Tensors:
    """Read tensors back; with a sha256, only if they are what was written."""
    check_weights(path, digest)
    try:
        return load_file(path)
    except (OSError, SafetensorError) as error:
        raise TrainingError(f"{path} cannot be read: {error}") from error


class States:
    """The states of one run: the newest that is whole is the one to go on from."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.current: int | None = None
        """The number of the state that was saved or loaded last."""

    def _file(self, number: int, kind: str) -> Path:
        return self.folder / f"{number:08d}.{kind}"

    def _numbers(self) -> list[int]:
        """Numbers of the states there are, whole or not."""
        names = {path.name for path in self.folder.glob("[0-9]*.*")}
        return sorted({int(name.split(".")[0]) for name in names})

    def save(self, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> None:
        """Write a state; only when it is known to be whole, remove the one before the last."""
        self.folder.mkdir(parents=True, exist_ok=True)
        there = self._numbers()
        number = max(there, default=0) + 1
        digest = write_weights(self._file(number, "safetensors"), tensors)
        files.write_sealed(self._file(number, "json"), {"tensors": digest, **facts})
        files.read_sealed(self._file(number, "json"))
        for old in there:
            if old != self.current:
                self._file(old, "json").unlink(missing_ok=True)
                self._file(old, "safetensors").unlink(missing_ok=True)
        for left in self.folder.glob(".*.tmp"):  # of writers that were killed
            shutil.rmtree(left, ignore_errors=True)
        self.current = number

    def load(self, note: Callable[[str], None]) -> tuple[Tensors, dict[str, Any]] | None:
        """Give the newest state that is whole, telling of those that are not; None without any."""
        numbers = self._numbers()
        for number in reversed(numbers):
            try:
                found = self.read(number)
            except (ModelFolderError, TrainingError) as error:
                reason = str(error).removesuffix("; restore it or train again")
                if not self._file(number, "json").exists():
                    reason = f"{self._file(number, 'json')} is missing: this state was not finished"
                    if numbers == [1]:  # the first state is that of step 0
                        note(f"{reason}; beginning again")
                        return None
                if number == numbers[0]:
                    raise TrainingError(
                        f"{reason}, and there is no whole state before it; restore it, "
                        f"or delete {self.folder.parent.parent} and train again"
                    ) from error
                note(f"{reason}; going on from the state before it")
            else:
                self.current = number
                return found
        return None

    def read(self, number: int) -> tuple[Tensors, dict[str, Any]]:
        """Give one state, if it is whole."""
        facts = self._facts(number)
        return read_weights(self._file(number, "safetensors"), facts.pop("tensors")), facts

    def facts(self) -> dict[str, Any] | None:
        """Give the newest whole state without its tensors, which are not read."""
        for number in reversed(self._numbers()):
            try:
                return self._facts(number)
            except ModelFolderError:
                continue
        return None

    def _facts(self, number: int) -> dict[str, Any]:
        return files.read_sealed(self._file(number, "json"))


def average(sets: Iterable[Mapping[str, Tensor]]) -> Tensors:
    """Average weights: the mean of several good points is often better than each.

    Whole numbers, such as a count of batches, have no mean: they are those of the last.
    """
    total: Tensors = {}
    count = 0
    for weights in sets:
        count += 1
        for name, tensor in weights.items():
            if not tensor.is_floating_point():
                total[name] = tensor
            else:
                total[name] = total[name] + tensor.double() if name in total else tensor.double()
    return {n: (t / count).float() if t.is_floating_point() else t for n, t in total.items()}
