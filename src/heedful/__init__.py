"""Heedful: the Transformer as a product.

    import heedful
    heedful.load("model").translate(["나는 학생이다."])

What is in `__all__` is the public API; it is imported when it is first used, so that
`import heedful` costs nothing.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from heedful.errors import (
        ConfigError,
        DataError,
        HeedfulError,
        InterchangeError,
        ModelFolderError,
        TrainingError,
    )
    from heedful.tasks.registry import load
    from heedful.tasks.translation.settings import Settings
    from heedful.tasks.translation.using import Translation, Translator
    from heedful.verbs.evaluate import evaluate
    from heedful.verbs.exchange import export_model, import_model
    from heedful.verbs.train import Request
    from heedful.verbs.train import train as train_model

__version__ = "0.1.0"

# OpenMP's threads spin while they wait for each other. On a machine that does anything else at the
# same time, that made training fifteen times slower; sleeping costs next to nothing. OpenMP reads
# this once, when torch is loaded: a program that imports torch before Heedful decides for itself.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

_HOMES = {
    "ConfigError": "errors",
    "DataError": "errors",
    "HeedfulError": "errors",
    "InterchangeError": "errors",
    "ModelFolderError": "errors",
    "Request": "verbs.train",
    "Settings": "tasks.translation.settings",
    "TrainingError": "errors",
    "Translation": "tasks.translation.using",
    "Translator": "tasks.translation.using",
    "evaluate": "verbs.evaluate",
    "export_model": "verbs.exchange",
    "import_model": "verbs.exchange",
    "load": "tasks.registry",
    "train_model": "verbs.train",
}

__all__ = [
    "ConfigError",
    "DataError",
    "HeedfulError",
    "InterchangeError",
    "ModelFolderError",
    "Request",
    "Settings",
    "TrainingError",
    "Translation",
    "Translator",
    "__version__",
    "evaluate",
    "export_model",
    "import_model",
    "load",
    "train_model",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        # `heedful.train` is the package of that name, so the function has another name here.
        there = "train" if name == "train_model" else name
        return getattr(importlib.import_module(f"heedful.{_HOMES[name]}"), there)
    raise AttributeError(f"module 'heedful' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
