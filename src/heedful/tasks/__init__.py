"""What a model can be trained for, a folder each; the trainer knows only `train/learner.py`."""

from heedful.tasks.registry import register

__all__ = ["register"]
