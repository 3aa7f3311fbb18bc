"""The state of a training on disk: one safetensors file, replaced whole or not at all.

Tensors are the weights and Adam's two moments; everything else is JSON in the file's metadata,
so the two can never disagree. Random states are not saved: every step seeds its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save
from torch import Tensor, nn

from heedful import files
from heedful.errors import TrainingError

__all__ = ["average", "load_state", "read_weights", "save_state", "write_weights"]


def write_weights(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Write tensors atomically."""
    files.write(path, save({k: v.detach().contiguous() for k, v in tensors.items()}))


def read_weights(path: Path) -> dict[str, Tensor]:
    """Read tensors back."""
    try:
        return load_file(path)
    except (OSError, SafetensorError) as error:
        raise TrainingError(f"{path} cannot be read: {error}") from error


def save_state(
    path: Path,
    model: nn.Module,
    optimizers: Sequence[torch.optim.Optimizer],
    state: dict[str, Any],
) -> None:
    """Write weights, moments and everything else of a run."""
    tensors: dict[str, Tensor] = {}
    for name, parameter in model.named_parameters():
        tensors[f"model.{name}"] = parameter.detach().contiguous()
        moments: dict[str, Any] = next(
            (o.state[parameter] for o in optimizers if parameter in o.state), {}
        )
        for key in ("exp_avg", "exp_avg_sq"):
            if key in moments:
                tensors[f"{key}.{name}"] = moments[key].contiguous()
        if "step" in moments:
            state = state | {"optimizer_step": float(moments["step"])}
    files.write(path, save(tensors, {"state": json.dumps(state)}))


def load_state(
    path: Path, model: nn.Module, optimizers: Sequence[torch.optim.Optimizer]
) -> dict[str, Any] | None:
    """Restore a run; None where nothing was saved yet."""
    if not path.exists():
        return None
    try:
        with safe_open(path, "pt") as file:
            state: dict[str, Any] = json.loads(file.metadata()["state"])
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
    except (OSError, SafetensorError, ValueError, KeyError) as error:
        raise TrainingError(
            f"the state of the run in {path} cannot be read: {error}; delete it to start again"
        ) from error
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(tensors[f"model.{name}"])
            if f"exp_avg.{name}" in tensors:
                owner = next(o for o in optimizers if _owns(o, parameter))
                owner.state[parameter] = {
                    "step": torch.tensor(state["optimizer_step"]),
                    "exp_avg": tensors[f"exp_avg.{name}"],
                    "exp_avg_sq": tensors[f"exp_avg_sq.{name}"],
                }
    return state


def _owns(optimizer: torch.optim.Optimizer, parameter: Tensor) -> bool:
    return any(p is parameter for group in optimizer.param_groups for p in group["params"])


def average(paths: Iterable[Path]) -> dict[str, Tensor]:
    """Average weights: the mean of several good points is often better than each."""
    total: dict[str, Tensor] = {}
    count = 0
    for path in paths:
        count += 1
        for name, tensor in read_weights(path).items():
            total[name] = total[name] + tensor.double() if name in total else tensor.double()
    return {name: (tensor / count).float() for name, tensor in total.items()}
