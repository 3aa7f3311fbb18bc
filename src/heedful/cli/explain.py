"""`explain`: a model's insides, as a page to look at."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from heedful.cli.options import Model
from heedful.cli.show import say
from heedful.errors import ConfigError

__all__ = ["explain"]


def explain(
    model: Model,
    text: Annotated[str, typer.Argument(help="The sentence to translate and explain.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="A page (.html) or the bare numbers (.json).")
    ] = Path("explain.html"),
    translation: Annotated[
        str | None, typer.Option(help="Explain this translation instead of the model's own.")
    ] = None,
    layers: Annotated[str | None, typer.Option(help="Only these layers, such as 0,2.")] = None,
    heads: Annotated[str | None, typer.Option(help="Only these heads, such as 0,3.")] = None,
    decimals: Annotated[int, typer.Option(help="Places behind the point.")] = 4,
    positions: Annotated[
        int, typer.Option(help="Positions to draw at least, whatever the sentence's length.")
    ] = 50,
    values: Annotated[
        bool, typer.Option("--values/--no-values", help="With the vectors, or weights alone.")
    ] = True,
) -> None:
    """See inside: write one page, which works offline, of what every layer and head did."""
    from heedful.verbs.explain import explain as verb

    data = verb(
        model,
        text,
        output,
        translation,
        _numbers("--layers", layers),
        _numbers("--heads", heads),
        decimals,
        values,
        positions,
    )
    for line in data["chosen"]["left_out"]:
        say(f"left out: {line}")
    say("  >  ".join(stream["text"] for stream in data["streams"]))
    say(f"open {output} in a browser" if output.suffix == ".html" else f"the trace is in {output}")


def _numbers(option: str, text: str | None) -> list[int] | None:
    if text is None:
        return None
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise ConfigError(f"{option} {text}: expected numbers such as 0,2") from None
