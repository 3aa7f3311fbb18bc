"""Heedful: the Transformer as a product.

    import heedful
    heedful.Translator.load("model").translate(["나는 학생이다."])

What is in `__all__` is the public API; it is imported when it is first used, so that
`import heedful` costs nothing.
"""

from __future__ import annotations

import importlib
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
    from heedful.settings import Settings
    from heedful.translator import Translation, Translator
    from heedful.verbs.evaluate import evaluate
    from heedful.verbs.exchange import export_model, import_model
    from heedful.verbs.train import Request, train

__version__ = "0.1.0"

_HOMES = {
    "ConfigError": "errors",
    "DataError": "errors",
    "HeedfulError": "errors",
    "InterchangeError": "errors",
    "ModelFolderError": "errors",
    "Request": "verbs.train",
    "Settings": "settings",
    "TrainingError": "errors",
    "Translation": "translator",
    "Translator": "translator",
    "evaluate": "verbs.evaluate",
    "export_model": "verbs.exchange",
    "import_model": "verbs.exchange",
    "train": "verbs.train",
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
    "train",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"heedful.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'heedful' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
