"""The model folder: everything a model needs, in files any tool can read, each one checked.

    config.toml        what it is, in settings, and what else its task keeps, such as its ids
    model.safetensors  the best weights so far
    tokenizer.model    what the task needs beside them: pieces, labels, scales ...
    README.md          the model card
    manifest.json      format version, and the sha256 of each of the files above

No task is known here: whoever opens a folder says which settings it has. `run/` and `ctranslate2/`
grow or can be made again, so nothing here knows of them. Torch is only imported where weights are
asked for: an engine without it opens the folder too.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from heedful import __version__, config, files
from heedful.config import Raw
from heedful.data.tokenizer import FILES as TOKENIZER_FILES
from heedful.errors import ConfigError, ModelFolderError
from heedful.settings import FORMAT_VERSION, TaskSettings, TokenIds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor, nn

SettingsT = TypeVar("SettingsT", bound=TaskSettings)

CONFIG, WEIGHTS = "config.toml", "model.safetensors"
CARD, MANIFEST = "README.md", "manifest.json"

RUN = "run"
"""The folder of what a training needs to go on; it is begun before the model is."""

SIMPLE = "simple."
"""What the files of the simple thing beside the model begin with."""

Hashes = dict[str, list[str]]


@dataclass(frozen=True)
class Folder(Generic[SettingsT]):
    """One model on disk. Many may read it while one training writes it."""

    path: Path
    settings: SettingsT
    tables: Raw
    """What config.toml holds beside the settings, such as the ids."""
    digests: Mapping[str, str] = field(default_factory=dict, compare=False)
    """The sha256 each file had when the folder was opened."""

    @property
    def ids(self) -> TokenIds:
        """Which ids of a model of text are special."""
        return config.token_ids(self.tables)

    @property
    def others(self) -> list[str]:
        """The files the task needs beside settings and weights."""
        apart = (CONFIG, CARD, WEIGHTS)
        return sorted(n for n in self.digests if n not in apart and not n.startswith(SIMPLE))

    @property
    def tokenizer(self) -> dict[str, bytes]:
        """The files text is split into pieces with, by name."""
        return {name: self.read(name) for name in TOKENIZER_FILES if name in self.digests}

    def read(self, name: str) -> bytes:
        """Read a file the task keeps in the folder, as it was when the folder was opened."""
        file = self.path / name
        if name not in self.digests:
            raise ModelFolderError(f"{self.path} has no {name}; restore it or train again")
        data = file.read_bytes()
        if hashlib.sha256(data).hexdigest() != self.digests[name]:
            raise ModelFolderError(
                f"{file} has changed since {self.path} was opened; open it again"
            )
        return data

    @staticmethod
    def exists(path: str | Path) -> bool:
        """Say whether a model was begun here, whatever state it is in."""
        try:
            return _is_ours(Path(path)) and bool(_hashes(Path(path)))
        except ModelFolderError:  # damaged or newer, so certainly not free to be written over
            return True
        except OSError as error:
            raise files.not_read(path, error) from error

    @classmethod
    def create(
        cls, path: str | Path, settings: SettingsT, tables: Raw, contents: Mapping[str, bytes]
    ) -> Folder[SettingsT]:
        """Begin a model in a new or empty folder; its weights and its card come later.

        `contents` are the files its task needs beside them.
        """
        path = Path(path)
        if cls.exists(path):
            raise ModelFolderError(
                f"{path} already holds a model; remove it or choose another folder"
            )
        made = _claim(path)
        everything = {CONFIG: config.dump(settings, tables).encode(), **contents}
        try:
            _write_manifest(path, {})  # marks the folder as ours, should we be killed in the middle
            for name, data in everything.items():
                files.write(path / name, data)
            digests = {name: files.sha256(path / name) for name in everything}
            _write_manifest(path, {name: [digest] for name, digest in digests.items()})
        except BaseException:
            for name in (*everything, MANIFEST):
                (path / name).unlink(missing_ok=True)
            if made is not None:
                shutil.rmtree(made, ignore_errors=True)
            raise
        return cls(path, settings, tables, digests)

    @classmethod
    def open(cls, path: str | Path, settings: type[SettingsT]) -> Folder[SettingsT]:
        """Check every file of a model and read what it is, in the settings of its task."""
        path = Path(path)
        hashes = _listed(path)
        digests = {name: _verify(path, name) for name in hashes}
        raw, wanted = _raw(path), settings.model_fields["task"].default
        if raw.get("task", wanted) != wanted:
            raise ModelFolderError(
                f"{path} is a model for the task {raw['task']}; expected {wanted}"
            )
        try:
            found = config.resolve(raw, settings)
            for name in settings.tables:
                if not isinstance(raw.get(name), dict):
                    raise ConfigError(f"the table [{name}] is missing; restore it")
        except ConfigError as error:
            raise ConfigError(f"{path / CONFIG}: {error}") from error
        return cls(path, found, {name: raw[name] for name in settings.tables}, digests)

    def weights(self) -> dict[str, Tensor]:
        """Read the weights, once more checked: a training may have replaced them since `open`."""
        from safetensors import SafetensorError
        from safetensors.torch import load_file

        if WEIGHTS not in _hashes(self.path):
            raise self._no_weights()
        _verify(self.path, WEIGHTS)
        try:
            return load_file(self.path / WEIGHTS)
        except SafetensorError as error:
            raise ModelFolderError(
                f"{self.path / WEIGHTS} is not a safetensors file: {error}; "
                f"restore it or train again"
            ) from error

    def fingerprint(self, use: str) -> str:
        """Give a name to everything an answer depends on: weights, sizes, files, and `use`."""
        if WEIGHTS not in self.digests:
            raise self._no_weights()
        tables = (self.settings.model_dump(mode="json").get("model"), *self.tables.values())
        model = "".join(json.dumps(table, separators=(",", ":")) for table in tables)
        parts = [use, model, *(self.digests[name] for name in (WEIGHTS, *self.others))]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def _no_weights(self) -> ModelFolderError:
        return ModelFolderError(
            f"{self.path} has no {WEIGHTS} yet; let the training run until it has saved one"
        )

    def write_weights(self, tensors: Mapping[str, Tensor]) -> None:
        """Replace the weights in one step; the same weights make the same file, byte for byte."""
        notes = {"format": "pt"}  # one only: safetensors writes several in any order
        with self.replacing(WEIGHTS, sum(t.nbytes for t in tensors.values())) as temporary:
            files.save_tensors(temporary, tensors, notes)

    def write_settings(self, settings: SettingsT) -> Folder[SettingsT]:
        """Replace the settings, such as those of decoding that were chosen after the training."""
        self.write(CONFIG, config.dump(settings, self.tables).encode())
        digests = {**self.digests, CONFIG: files.sha256(self.path / CONFIG)}
        return Folder(self.path, settings, self.tables, digests)

    def write_card(self, text: str) -> None:
        """Replace the model card, README.md."""
        self.write(CARD, text.encode())

    def write(self, name: str, data: bytes) -> None:
        """Replace a small file, or add one."""
        with self.replacing(name, len(data)) as temporary:
            temporary.write_bytes(data)

    @contextmanager
    def replacing(self, name: str, size: int) -> Iterator[Path]:
        """Replace a listed file so that a kill at any moment leaves a folder that opens.

        While the old file gives way to the new one the manifest allows both. A file that is new
        is listed only once it is there: until then a reader takes no notice of it.
        """
        for own in (name, MANIFEST):
            files.sweep(self.path / own)
        hashes = _hashes(self.path)
        with files.replacing(self.path / name, size) as temporary:
            yield temporary
            new = files.sha256(temporary)
            if name in hashes:
                _write_manifest(self.path, {**hashes, name: [*hashes[name], new]})
        _write_manifest(self.path, {**hashes, name: [new]})


def _claim(path: Path) -> Path | None:
    """Make the folder, or see that nothing of anybody's is in it; give the first folder made."""
    if path.exists() and not path.is_dir():
        raise ModelFolderError(f"{path} is a file; choose the name of a new folder")
    try:
        made = next((p for p in reversed([path, *path.parents]) if not p.exists()), None)
        path.mkdir(parents=True, exist_ok=True)
        for left in path.glob(".*.tmp"):  # of writers that were killed
            shutil.rmtree(left, ignore_errors=True)
        other = sorted(entry.name for entry in path.iterdir() if entry.name != RUN)
    except OSError as error:
        raise files.not_written(path, error) from error
    if other and not _is_ours(path):  # what is ours but no model, a killed `create` left
        raise ModelFolderError(
            f"{path} holds other things, {other[0]} among them; choose a new or empty folder"
        )
    return made


def _listed(path: Path) -> Hashes:
    """Give what the manifest of a model lists, or refuse what is no model."""
    try:
        there, is_folder = path.exists(), path.is_dir()
        listed = (path / MANIFEST).is_file()
    except OSError as error:
        raise files.not_read(path, error) from error
    if not there:
        raise ModelFolderError(f"{path} does not exist; give the folder of a trained model")
    if not is_folder:
        raise ModelFolderError(f"{path} is a file; give the folder of a trained model")
    if not listed:
        raise ModelFolderError(
            f"{path} is not a model folder: it has no {MANIFEST}; "
            f"give a folder that `heedful train` wrote"
        )
    hashes = _hashes(path)
    if CONFIG not in hashes:
        raise ModelFolderError(
            f"{path} is not finished: its {MANIFEST} does not list {CONFIG}; train again"
        )
    return hashes


def _raw(path: Path) -> Raw:
    """Read config.toml as this version would have written it."""
    try:
        return config.upgrade(config.read(path / CONFIG))
    except ConfigError as error:
        raise ConfigError(f"{path / CONFIG}: {error}") from error


def task_of(path: str | Path) -> str:
    """Say which task a model folder was trained for."""
    path = Path(path)
    _listed(path)
    _verify(path, CONFIG)
    task = _raw(path).get("task")
    if not isinstance(task, str):
        raise ConfigError(f"{path / CONFIG}: it has no task; restore it or train again")
    return task


def _is_ours(path: Path) -> bool:
    """Tell our manifest from the manifests of other tools, even when it is damaged."""
    file = path / MANIFEST
    return file.is_file() and b'"heedful"' in file.read_bytes()


def half_made(path: Path) -> bool:
    """Say whether `create` was killed here: the manifest is ours and lists nothing yet."""
    return _is_ours(path) and not _hashes(path)


def _hashes(path: Path) -> Hashes:
    """Read the manifest: which files there are, and the sha256 each of them may have."""
    file = path / MANIFEST
    try:
        manifest = files.read_sealed(file)
        made_by, listed = manifest["format"], manifest["files"]
        if isinstance(made_by, int) and made_by > FORMAT_VERSION:
            raise ModelFolderError(
                f"{path} was made by a newer Heedful (format {made_by}, this version reads up to "
                f"{FORMAT_VERSION}); upgrade"
            )
        right = made_by in range(1, FORMAT_VERSION + 1) and all(
            Path(name).name == name and hashes and all(isinstance(h, str) for h in hashes)
            for name, hashes in listed.items()
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        right = False
    if not right:
        raise ModelFolderError(
            f"{file} is damaged: it does not list the files of a model; restore it or train again"
        )
    return {name: list(hashes) for name, hashes in listed.items()}


def _write_manifest(path: Path, hashes: Hashes) -> None:
    manifest = {"format": FORMAT_VERSION, "heedful": __version__, "files": hashes}
    files.write_sealed(path / MANIFEST, manifest)


def _verify(path: Path, name: str) -> str:
    """Refuse a file that is not the one the manifest lists; give the sha256 of one that is.

    A training may replace file and manifest between our reading of the two, so a mismatch only
    counts when the manifest says the same before and after.
    """
    file = path / name
    expected = _hashes(path).get(name, [])
    while True:
        if not file.is_file():
            raise ModelFolderError(f"{file} is missing; restore it or train again")
        got = files.sha256(file)
        if got in expected:
            return got
        before, expected = expected, _hashes(path).get(name, [])
        if expected == before:
            wanted = " or ".join(h[:12] for h in expected)
            raise ModelFolderError(
                f"{file} is damaged: sha256 {got[:12]}..., expected {wanted}...; "
                f"restore it or train again"
            )


def state(model: nn.Module) -> dict[str, Tensor]:
    """Name the weights as the folder stores them: a tied matrix once.

    `model.tied` are the other names of such matrices. The tensors are the model's, not copies.
    """
    tied: frozenset[str] = getattr(model, "tied", frozenset())
    return {
        name: tensor.detach().contiguous()
        for name, tensor in model.state_dict().items()
        if name not in tied
    }


def load_weights(model: nn.Module, folder: Folder[Any]) -> None:
    """Copy a folder's weights into its model; every one must be there and must fit."""
    import torch

    weights, places = folder.weights(), state(model)
    file = folder.path / WEIGHTS
    for one, other, says in ((places, weights, "lacks"), (weights, places, "should not have")):
        odd = [name for name in one if name not in other]
        if odd:
            more = f" and {len(odd) - 1} more" if len(odd) > 1 else ""
            raise ModelFolderError(
                f"{file} {says} {odd[0]}{more}, going by {CONFIG}; restore both or train again"
            )
    with torch.no_grad():
        for name, place in places.items():
            if place.shape != weights[name].shape:
                raise ModelFolderError(
                    f"{file} does not fit {CONFIG}: {name} is {_size(weights[name])}, expected "
                    f"{_size(place)}; restore both or train again"
                )
            place.copy_(weights[name])


def _size(tensor: Tensor) -> str:
    return " x ".join(map(str, tensor.shape))
