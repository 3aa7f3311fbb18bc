"""What the commands ask of a task: the whole contract, in one file.

A task is a value: its name, its settings, and plain functions, each in the file of its question.
The commands in `verbs/` know tasks only through this, so a task is added by adding a folder, or by
a package that registers one (`registry.py`). `tasks/translation/` is the one to read first.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict

from heedful import config
from heedful.config import Raw
from heedful.errors import ConfigError
from heedful.settings import Table, TaskSettings

if TYPE_CHECKING:
    from torch import nn

    from heedful.explain.passes import Pass
    from heedful.metrics import Judged, Score, Verdict
    from heedful.models.folder import Folder
    from heedful.train.learner import Learner
    from heedful.train.report import Report

Columns = tuple[str, ...]
"""Names or numbers of the columns for a task's roles, in the task's order."""


# -- what a person asks for ------------------------------------------------------------------------


class Request(BaseModel):
    """What a person asked to be trained; the same request on the same folder goes on with it.

    Further keyword arguments are options of the task, such as the languages of a translation.
    """

    model_config = ConfigDict(frozen=True, extra="allow", use_attribute_docstrings=True)

    def __init__(
        self,
        files: Sequence[Path],
        output: Path,
        dev: Sequence[Path] = (),
        test: Sequence[Path] = (),
        **given: Any,
    ) -> None:
        super().__init__(files=files, output=output, dev=dev, test=test, **given)

    files: tuple[Path, ...]
    output: Path
    task: str | None = None
    """The name of a task; recognised from the data if not given."""
    dev: tuple[Path, ...] = ()
    test: tuple[Path, ...] = ()
    columns: Columns | None = None
    encoding: str = "utf-8"
    settings: dict[str, Any] | None = None
    """Raw settings: preset, recipe and overrides, merged."""
    device: str = "auto"
    threads: int = 0
    parallel: str = "ddp"
    """How several processes share the model: ddp (each has it whole) or fsdp (each has a part)."""
    tensorboard: bool = False
    """Whether the log is also written for TensorBoard."""
    parent: Path | None = None
    """The model this one is fine-tuned from, or the teacher whose pieces it shares."""
    inherit: Literal["weights", "pieces"] = "weights"

    def but(self, **changes: Any) -> Request:
        """Give the same request with some things changed."""
        return self.model_copy(update=changes)

    def options(self, kind: type[Table]) -> Any:
        """Give the options of the task, checked."""
        given = {k: v for k, v in (self.model_extra or {}).items() if v is not None}
        return config.part(kind, given, "")


@dataclass(frozen=True)
class Result:
    """What came of a training."""

    folder: Path
    finished: bool
    scores: dict[str, list[Score]]
    """By the set scored on: "dev", "test"."""
    seconds: float
    step: int
    already: bool = False
    """Nothing was left to do: the folder held the finished model."""
    verdict: Verdict | None = None
    """Whether the simple thing would have done."""


Train = Callable[["Request", "Report", float], Result]
"""`heedful train`, as a task's own command calls it."""


@dataclass(frozen=True)
class How:
    """With what a model is opened to be used."""

    engine: str = "auto"
    compute: str = "float32"
    threads: int = 0
    simple: bool = False
    """Whether the simple thing answers instead of the model."""
    note: Callable[[str], object] = lambda text: None
    """Where it is told what was chosen and why."""


# -- what a task gives -----------------------------------------------------------------------------


class Findings(Protocol):
    """What an examination of the data found."""

    def lines(self) -> list[str]:
        """Say it in plain text, worst first."""
        ...

    def to_json(self) -> str:
        """Put it into JSON, for `check --json` and the page of a training."""
        ...

    @property
    def wrong(self) -> bool:
        """Whether training on this makes no sense."""
        ...


@dataclass(frozen=True)
class Prepared:
    """What a training needs before its first step."""

    settings: Any
    """With everything chosen that nobody chose; a `TaskSettings` of the task."""
    data: Any
    """What the learner reads."""
    dev: Sequence[Any]
    """The rows that are checked on: what an example is, is the task's affair."""
    counts: Mapping[str, int]
    """How much there is to learn from, by name, for the card."""
    tables: Raw = field(default_factory=dict)
    """Tables of config.toml beside the settings, such as the ids."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Files of the model folder beside its weights, such as the pieces."""
    findings: Findings | None = None
    facts: Any = None
    """What else the task's plan is made from."""


@dataclass(frozen=True)
class Plan:
    """What a training will take."""

    lines: Sequence[str]
    """What will be trained, in words."""
    arithmetic: str
    """What an example costs, in words."""
    bytes: float
    """The most memory the training will hold."""
    parameters: int
    flops_per_epoch: float
    units_per_epoch: float
    """Tokens, windows, pictures: what batches are measured in."""
    units_per_batch: float
    sizes: Mapping[str, tuple[int, float]] = field(default_factory=dict)
    """Other presets: parameters and arithmetic of an epoch."""


@dataclass(frozen=True)
class Answers:
    """What a model said to some rows."""

    outputs: list[Any]
    seconds: float
    """What answering took, without the scoring."""
    notes: Sequence[str] = ()
    """What has to be said about them, such as how many were cut off."""


@dataclass(frozen=True)
class Words:
    """What a model card says that only the task knows."""

    sentence: str = ""
    """What the model is; the card goes on with how it was made."""
    python: str = ""
    """A line of Python that uses `model`."""
    limits: str = ""
    """How far to trust it."""
    sizes: Mapping[str, Any] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    """What the counts of `Prepared` are called."""


@dataclass(frozen=True)
class Simple:
    """Something simpler than a model, fitted on the same data in seconds, always beside it."""

    fit: Callable[[Prepared, Sequence[Any], Path, Report], str]
    """Write files `simple.*` into the folder, and give the name of what was fitted.

    What it has to choose, it chooses on the given rows, those the model was chosen on.
    """
    remedy: str = ""
    """The command that uses it, with braces for the folder; `Task.open` opens it for that."""


@dataclass(frozen=True)
class Format:
    """A format of another tool."""

    write: Callable[[Path, Path], None] | None = None
    """From a model folder to a new path."""
    claims: Callable[[Path], bool] | None = None
    """Whether a path holds a model of this format and this task."""
    read: Callable[[Path, Path], None] | None = None
    """From a path to a new model folder."""


@dataclass(frozen=True)
class Terminal:
    """What a task's own command speaks with: lines in and out, progress, and the generic verbs."""

    lines: Callable[[], Iterator[str]]
    """Standard input, line by line."""
    write: Callable[[str], None]
    """A line of standard output."""
    report: Report
    train: Train
    ended: Callable[[Result], None]
    """Say how a training ended, and what to type next."""
    started: float
    """When the command began."""
    typing: bool = False
    """Whether a person types the input, and wants each answer at once."""


@dataclass(frozen=True)
class Command:
    """A command of a task's own, such as `translate`."""

    name: str
    options: type[Table]
    run: Callable[[Any, Terminal], None]
    """Takes the options, and does what they ask."""


@dataclass(frozen=True)
class Task:
    """A task, whole."""

    name: str
    sentence: str
    """What it makes of which data, for a person."""
    settings: type[TaskSettings]
    roles: tuple[str, ...]
    """What `--columns` names, in this order."""
    claims: Callable[[Sequence[Path], Columns | None], str | None]
    """Recognise data by its shape and say in words what it is; None where it is not this task's."""
    prepare: Callable[[Request, Path, Report], Prepared]
    """Examine the data, choose what nobody chose, write what training reads into the folder.

    Killed and called again on the same folder it may go on where it was; it may train, too.
    """
    reopen: Callable[[Folder[Any], Path], Prepared]
    """Give what an earlier `prepare` wrote."""
    build: Callable[[Any, Raw], nn.Module]
    """Make the model of some settings and tables, with new weights."""
    learner: Callable[[nn.Module, Prepared, int, int], Learner[Any]]
    """Say what a batch, a loss and an evaluation are, for so many workers and test rows."""
    open: Callable[[Path, How], Any]
    """Open a model to be used: a Translator, a Classifier ..."""
    rows: Callable[[Sequence[Path], Columns | None, str], list[Any]]
    """Read the examples of a development or test set, with what is right."""
    answer: Callable[[Any, Sequence[Any], Mapping[str, Any]], Answers]
    """Have a model, or the simple thing, answer rows exactly as it would answer a person."""
    judge: Callable[[Answers, Sequence[Any], Any, Mapping[str, Any]], list[Judged]]
    """Compare answers with what is right, under some settings, the leading score first."""
    examine: Callable[[Request, Report], Findings] | None = None
    """Read the data, and say what is wrong with it."""
    plan: Callable[[Prepared, int], Plan] | None = None
    """Foresee a training on so many workers; worked out from the model if not given."""
    recipes: str = ""
    """The package whose folder `recipes` has its presets."""
    options: Mapping[str, type[Table]] = field(default_factory=dict)
    """Options of its own, by the name of the generic command that takes them."""
    words: Callable[[Any], Words] = lambda settings: Words()
    """What the model card of some settings says."""
    told: Callable[[Any], str] = lambda settings: ""
    """What a model of these settings is, in a few words."""
    measure: Callable[[Any, Sequence[Any]], dict[str, float]] = lambda used, rows: {}
    """Figures that need no answers, such as the perplexity of what is right."""
    apart: Callable[[Sequence[Any]], Sequence[bool]] = lambda dev: [False] * len(dev)
    """Which development rows choose nothing, for the verdict where no test set is given."""
    evaluated: Callable[[Sequence[Path], Columns | None, str], list[Any]] | None = None
    """Read what `evaluate` is given, where that is not read as a test set is."""
    figures: Mapping[str, str] = field(default_factory=dict)
    """What the figures of `measure` are counted by, in words."""
    tune: Callable[[Folder[Any], Sequence[Any], Raw, int, Report], Folder[Any]] = (
        lambda folder, dev, asked, threads, report: folder
    )
    """Choose on development rows how the trained model is used, unless that was asked for."""
    inherit: Callable[[Folder[Any], Raw], Raw] | None = None
    """Give the settings a fine-tuned model keeps, and refuse asked ones that do not fit."""
    mix: (
        Callable[[Request, Folder[Any], Sequence[Any], Mapping[str, Any], Report], Request] | None
    ) = None
    """Mix known data into that of a fine-tuning, so that less is forgotten."""
    simple: Simple | None = None
    show: Callable[[Any, Sequence[str], Mapping[str, Any]], Pass] | None = None
    """Tell of the pass over an input, from which its trace is made."""
    reply: Callable[[Any, Sequence[Any], Mapping[str, Any]], list[Any]] | None = None
    """Answer inputs of `heedful serve`, JSON with JSON, under options of the task's own for it.

    Reply n is that to input n; a DataError is the client's mistake. It is called in several threads
    at once. A task with an API of its own in `serve/` needs none.
    """
    formats: Mapping[str, Format] = field(default_factory=dict)
    commands: tuple[Command, ...] = ()
    try_it: str = "heedful info {}"
    """What to type next with a finished model, whose folder stands for the braces."""

    def check_columns(self, columns: Columns | None) -> None:
        """Refuse columns that are not one for each role."""
        if columns is not None and len(columns) != len(self.roles):
            raise ConfigError(
                f"--columns {','.join(columns)}: expected {len(self.roles)} of them, "
                f"{' and '.join(self.roles)}, such as 2,3 or ko,en"
            )


def lazy(place: str) -> Any:
    """Name a function, as "module:function", that is imported when it is first called.

    A task can be listed, and its options shown, without loading what only its work needs.
    """
    module, _, name = place.partition(":")

    @cache
    def found() -> Any:
        return getattr(importlib.import_module(module), name)

    def call(*arguments: Any, **named: Any) -> Any:
        return found()(*arguments, **named)

    return call
