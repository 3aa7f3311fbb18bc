"""Options of commands as classes: a field is an option, its docstring is the help.

The command line is generated from them (`cli/`), so that a task's own options need no line there.
What several commands take is said once here.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field

from heedful import config
from heedful.config import Raw
from heedful.settings import Table
from heedful.tasks.contract import Request, Task

if TYPE_CHECKING:
    from heedful.tasks.contract import Columns, How


def Option(default: Any = ..., *flags: str, argument: bool = False, **bounds: Any) -> Any:
    """Declare an option.

    `flags` name it where its own name does not; an `argument` stands without a name; `bounds` are
    pydantic's.
    """
    return Field(default, json_schema_extra={"flags": list(flags), "argument": argument}, **bounds)


class Running(Table):
    """Of every command that computes."""

    threads: int = Option(0, ge=0)
    """CPU threads; 0 takes all."""


class Reading(Table):
    """How data is read."""

    columns: str | None = None
    """Columns of a table, by number (2,3) or name (ko,en), in the order of the task's roles."""
    encoding: str = "utf-8"
    """How the files are written."""


class Decoding(Running):
    """With what a model is run."""

    engine: str = "auto"
    """auto, torch or ctranslate2; auto takes CTranslate2 where it can."""
    compute: str = "float32"
    """float32, or int8: faster on CTranslate2, a few words change."""
    simple: bool = False
    """Have the simple thing answer that was fitted beside the model, not the model."""

    def how(self, note: Any) -> How:
        """Give them as what a task opens a model with."""
        from heedful.tasks.contract import How

        return How(self.engine, self.compute, self.threads, self.simple, note)


class Fitting(Reading, Running):
    """Of every command that trains, or says what a training will take."""

    dev: tuple[Path, ...] = ()
    """Development data, to choose the best weights by: as the files of the training."""
    recipe: Path | None = None
    """A TOML file of settings, laid over the preset."""
    minutes: float | None = Option(None, gt=0)
    """Time for the whole command, scoring included."""
    settings: tuple[str, ...] = Option((), "--set")
    """One setting, such as train.steps=200."""


class Making(Fitting):
    """Of every command that makes a model by training."""

    output: Path = Option(..., "--output", "-o")
    """The model folder to make."""
    test: tuple[Path, ...] = ()
    """Test data, only scored at the end."""
    seed: int | None = Option(None, ge=0)
    """Everything random follows from it."""

    def request(self, task: Task, files: tuple[Path, ...], **more: Any) -> Request:
        """Give them as a request; `more` has what only the command takes."""
        preset = more.pop("preset", None)
        return Request(
            files=files,
            output=self.output,
            task=task.name,
            dev=self.dev,
            test=self.test,
            columns=columns_of(self.columns),
            encoding=self.encoding,
            settings=laid_over(task, preset, self.recipe, self.minutes, self.seed, self.settings),
            threads=self.threads,
            **more,
        )


def columns_of(text: str | None) -> Columns | None:
    """Take "2,3" apart."""
    if text is None:
        return None
    parts = tuple(part.strip() for part in text.split(","))
    if not all(parts):
        from heedful.errors import ConfigError

        raise ConfigError(f"--columns {text}: one of them is empty; write them as 2,3 or ko,en")
    return parts


def laid_over(
    task: Task,
    preset: str | None,
    recipe: Path | None,
    minutes: float | None,
    seed: int | None,
    settings: tuple[str, ...],
) -> Raw:
    """Lay recipe over preset, flags over recipe, and single settings over all."""
    raw: Raw = {}
    for name in (preset, recipe):
        if name is not None:
            raw = config.merge(raw, config.recipe(name, task.recipes))
    flags = {k: v for k, v in (("minutes", minutes), ("seed", seed)) if v is not None}
    raw = config.merge(raw, {"train": flags} if flags else {})
    return config.merge(raw, config.parse_overrides(settings))
