"""In which numbers to compute: float32, or half as many bits where the hardware is built for it."""

from __future__ import annotations

import math
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Literal

import torch

from heedful.errors import ConfigError
from heedful.nn import onednn
from heedful.nn.linear import products_in

Name = Literal["float32", "bfloat16", "float16"]
Asked = Literal["auto", Name]
SHORT_UNITS = ("avx512_bf16", "amx_bf16")
"""Of a CPU: with one of them products in bfloat16 are faster, without far slower."""
BY_ONEDNN = " in blocks"
"""What a state says of a run whose float32 products oneDNN computed; part of the format."""


@dataclass(frozen=True)
class Precision:
    """Numbers of the matrix products; weights, sums and the softmax stay in float32."""

    name: Name = "float32"
    device: str = "cpu"
    why: str = ""
    onednn: bool = False
    """Have oneDNN compute products in float32."""

    @property
    def told(self) -> str:
        """What decides about the last bit, in words."""
        return self.name + BY_ONEDNN if self.onednn else self.name

    def as_in(self, where: str) -> Precision:
        """Multiply as a run did that goes on here, though a trial may have come out otherwise."""
        if (self.name, self.device) != ("float32", "cpu") or not onednn.available():
            return self
        return replace(self, onednn=where.endswith(BY_ONEDNN))

    def numbers(self) -> AbstractContextManager[None]:
        """Compute in these numbers inside a `with`; every thread has to say so for itself."""
        if self.name == "float32" and not self.onednn:
            return nullcontext()
        numbers = getattr(torch, self.name)
        if self.device == "cpu":
            return products_in(numbers, self.onednn)
        return torch.autocast(self.device, numbers)


def choose_precision(asked: Asked, device: str, compiled: bool = False) -> Precision:
    """Take what was asked for, or the fastest numbers the hardware has units for.

    Layers that are compiled multiply in torch's own way.
    """
    found = _choose(asked, device)
    usual = compiled or (found.name, device) != ("float32", "cpu")
    return found if usual else replace(found, onednn=onednn.faster())


def _choose(asked: Asked, device: str) -> Precision:
    if asked != "auto":
        if device == "mps" and asked != "float32":
            raise ConfigError(f"train.precision = {asked} is not there on mps; expected float32")
        return Precision(asked, device, "asked for")
    if device == "cuda":
        if torch.cuda.is_bf16_supported(including_emulation=False):
            return Precision("bfloat16", device, "this GPU has units for it")
        if torch.cuda.get_device_capability() >= (7, 0):
            return Precision("float16", device, "this GPU has units for it, and none for bfloat16")
        return Precision("float32", device, "this GPU has units for nothing less")
    if device == "cpu":
        units = torch.cpu.get_capabilities()
        if any(units.get(unit) for unit in SHORT_UNITS):
            return Precision("bfloat16", device, "this CPU has units for it")
        return Precision("float32", device, "this CPU has no units for bfloat16")
    return Precision("float32", device, "the safe choice here")


class Scale:
    """Keeps the small gradients of float16 from vanishing: the loss is multiplied, then divided.

    Too high a factor overflows: that step is left out and the factor halved. After many good
    steps it is tried twice as high.
    """

    def __init__(self, precision: Precision) -> None:
        self.factor = 2.0**14 if precision.name == "float16" else 1.0
        self.scaled, self.good = precision.name == "float16", 0

    def overflowed(self, norm: float) -> bool:
        """Say whether a step has to be left out, and learn from it."""
        if not self.scaled:
            return False
        if math.isfinite(norm):
            self.good += 1
            if self.good == 2000:
                self.factor, self.good = 2 * self.factor, 0
            return False
        self.factor, self.good = self.factor / 2, 0
        return self.factor >= 1.0


def device_of(name: str) -> str:
    """Choose the device, or see that the one asked for is there."""
    there = {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "cpu": True,
    }
    found = [device for device, is_there in there.items() if is_there]
    if name != "auto" and name not in found:
        raise ConfigError(
            f"--device {name} is not on this machine; expected auto or {' or '.join(found)}"
        )
    return found[0] if name == "auto" else name
