"""Everything Heedful raises on purpose.

    HeedfulError            something went wrong that a person can act on
    ├── ConfigError         a setting is unknown, of the wrong type or out of range
    ├── DataError           the text given cannot be used as it is
    ├── ModelFolderError    a model folder is missing, damaged, foreign or newer
    ├── InterchangeError    a model of another tool cannot be read or written
    └── TrainingError       a training cannot start, continue or finish

A message says what was wrong, the value got, what was expected and what to do next, in one line.
A mistake the user can mend ends the command with exit code 2, a failed training with 1.
"""

from __future__ import annotations


class HeedfulError(Exception):
    """The root: catch this to catch everything Heedful raises on purpose."""

    exit_code = 2


class ConfigError(HeedfulError):
    """A setting is unknown, of the wrong type or out of range."""


class DataError(HeedfulError):
    """The text given cannot be used as it is."""


class ModelFolderError(HeedfulError):
    """A model folder is missing, damaged, of another kind or newer than this version."""


class InterchangeError(HeedfulError):
    """A model of another tool cannot be read, or ours cannot be written for it."""


class TrainingError(HeedfulError):
    """A training cannot start, continue or finish."""

    exit_code = 1
