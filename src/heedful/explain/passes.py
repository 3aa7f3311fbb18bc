"""What a task tells of one pass of its model, so that it can be traced.

A pass reads streams of items through stacks of layers, and something comes out. Each task's
`showing.py` gives a `Pass`; everything else here knows only that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from torch import Tensor, nn

from heedful.nn.positions import Positions

if TYPE_CHECKING:
    from heedful.explain.writer import Writer

Item = Mapping[str, Any]
"""Its "kind" is "piece" (with "text"), "patch" (with "box") or "step" (with "time")."""


def pieces(texts: Sequence[str]) -> list[Item]:
    """Make items of the pieces of a text."""
    return [{"kind": "piece", "text": text} for text in texts]


@dataclass(frozen=True)
class Stream:
    """A sequence of items, which the model embeds."""

    name: str
    text: str
    """What it says; of a picture or a series, what people call it."""
    items: Sequence[Item]
    embedding: nn.Module
    """The module by whose name the model shows the embedded items to the observer."""
    positions: Positions | None = None
    """What is added to the embedded items, where anything is."""
    scale: float = 1.0
    """What the embedded items are multiplied with before that."""
    reads: Literal["text", "picture", "series"] = "text"
    about: Mapping[str, Any] = field(default_factory=dict)
    """More of it, as docs/trace.md has it: language, words, picture."""


@dataclass(frozen=True)
class Attends:
    """One attention of every layer of a stack."""

    kind: str
    """What it is called in the trace."""
    to: str
    """The stream that its keys and values come from."""
    causal: bool = False
    sublayer: str = "attention"
    """Its name within the layer."""


@dataclass(frozen=True)
class Stack:
    """Layers one after the other: a module with `layers` and a `norm` that closes them."""

    name: str
    """Where it is in the model, and what it is called in the trace."""
    stream: str
    attentions: Sequence[Attends]


@dataclass(frozen=True)
class Output:
    """What comes out: at some items of a stack's stream, a choice among names; or a forecast."""

    kind: Literal["next-piece", "masked-piece", "class", "tag", "forecast"]
    stack: str
    about: Mapping[str, Any] = field(default_factory=dict)
    """More of it, as docs/trace.md has it; of a forecast all of it."""
    taken: Sequence[int] = ()
    """The number of what was taken at each step; empty for a forecast."""
    at: Sequence[int] | None = None
    """The item each step was computed at; None where the whole stream gives one step."""
    name: Callable[[int], str] = str
    """From a number to the piece, class or tag it stands for."""
    head: Callable[[Tensor], Tensor] | None = None
    """From the stack's states at these items to logits, for the lens; 1 T D -> 1 T V."""


@dataclass(frozen=True)
class Pass:
    """One pass of a model, which can be run as often as one likes."""

    model: nn.Module
    run: Callable[[], Tensor]
    """Runs it, with gradients where they are wanted, and gives the logits of each step."""
    streams: Sequence[Stream]
    """In the order in which the model embeds them."""
    stacks: Sequence[Stack]
    output: Output
    about: Mapping[str, Any] = field(default_factory=dict)
    """What is known of the model beside its sizes: its name."""
    left_out: Sequence[tuple[str, Sequence[Any]]] = ()
    """What is not in this pass, in a sentence, and as its kind and the numbers of the sentence."""
    more: Callable[[Writer], Mapping[str, Any]] = lambda _: {}
    """What the task itself finds out from the recorded pass: alignment, best_head."""
