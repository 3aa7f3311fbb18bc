"""`heedful explain`: what happens inside a model, as a page or as data."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from heedful import files
from heedful.errors import ConfigError, DataError
from heedful.explain.document import as_page
from heedful.explain.trace import trace
from heedful.explain.writer import Extent
from heedful.tasks import registry
from heedful.tasks.contract import How
from heedful.verbs.evaluate import own_options


def explain(
    model: Path,
    inputs: Sequence[str] | str,
    output: Path,
    extent: Extent | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Write the trace of an input: a page that works offline, or JSON if the name says so.

    `extent` says how much of it; `options` are the task's own.
    """
    if output.suffix not in (".html", ".json"):
        raise ConfigError(f"{output}: expected a name that ends in .html or .json")
    given = [inputs] if isinstance(inputs, str) else list(inputs)
    if not any(one.strip() for one in given):
        raise DataError("there is no text to explain; give a sentence")
    task = registry.of_folder(model)
    if task.show is None:
        raise ConfigError(f"{model}: a model for the task {task.name} cannot be explained yet")
    used = task.open(model, How(engine="torch", threads=1))
    data = trace(task.show(used, given, own_options(task, "explain", options)), extent or Extent())
    if output.suffix == ".json":
        files.write(output, json.dumps(data, ensure_ascii=False) + "\n")
    else:
        files.write(output, as_page(data, f"{given[0]} · Heedful"))
    return data
