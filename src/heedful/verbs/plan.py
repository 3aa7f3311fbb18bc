"""`heedful plan`: what a training will take, before it takes it."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from heedful.settings import ModelSettings
from heedful.train import plan as rules
from heedful.train.report import Report, SilentReport, clock
from heedful.verbs.prepare import Prepared, device_of, plan_lines, prepare_text
from heedful.verbs.request import Request

__all__ = ["Hardware", "measured_epoch", "plan"]


@dataclass(frozen=True)
class Hardware:
    """Another machine than this one, by its arithmetic a second."""

    devices: int = 8
    tflops: float = 9.5
    """Peak of one device in 10^12 operations a second; the paper assumes 9.5 for its P100s."""
    efficiency: float = 0.3
    """Share of the peak that a training reaches."""

    def seconds(self, flops: float) -> float:
        """Time for so much arithmetic."""
        return flops / (self.devices * self.tflops * 1e12 * self.efficiency)

    def __str__(self) -> str:
        return (
            f"{self.devices} device{'s' * (self.devices != 1)} of {self.tflops:g} TFLOP/s at "
            f"{100 * self.efficiency:g} %"
        )


def plan(
    request: Request, hardware: Hardware | None = None, report: Report | None = None
) -> list[str]:
    """Prepare the text in a temporary folder, take a few steps, and say what a training takes."""
    report = report or SilentReport()
    with tempfile.TemporaryDirectory() as folder:
        prepared = prepare_text(request, Path(folder), report)
        seconds, workers = measured_epoch(prepared, request)
        lines = plan_lines(prepared, seconds, workers)
        lines += ["", *_sizes(prepared, seconds)]
        if hardware is not None:
            foreseen = rules.estimate(prepared.settings.model, prepared.facts, 1.0)
            there = hardware.seconds(foreseen.flops_per_epoch)
            lines += ["", f"on {hardware}: {clock(there)} an epoch"]
    return lines


def measured_epoch(prepared: Prepared, request: Request) -> tuple[float, int]:
    """Take a few steps on a model of the planned size; give seconds an epoch, and the workers."""
    import torch

    from heedful.machine import workers_for
    from heedful.models.transformer import Transformer
    from heedful.tasks.translation.learning import TranslationLearner
    from heedful.train.precision import choose_precision

    settings, device = prepared.settings, device_of(request.device)
    workers = workers_for(settings.data.batch_tokens, device, request.threads)
    with torch.random.fork_rng(devices=[]):
        model = Transformer(settings.model, prepared.tokenizer.ids).to(device).train()
        learner = TranslationLearner(model, prepared.tokenizer, prepared.corpus, settings, workers)
        precision = choose_precision(settings.train.precision, device, settings.train.compile)
        return rules.calibrate(learner, settings.train, workers, precision), workers


def _sizes(prepared: Prepared, seconds: float) -> list[str]:
    """Show how many epochs fit into some minutes, for the planned model and the other presets."""
    planned = rules.estimate(prepared.settings.model, prepared.facts, 1.0)
    rate = planned.flops_per_epoch / seconds
    models = {"planned": prepared.settings.model} | {
        name: ModelSettings.model_validate(size) for name, size in rules.SIZES.items()
    }
    times = (10, 30, 60, 480)
    lines = ["epochs that fit into    " + "".join(f"{f'{t} min':>9}" for t in times)]
    for name, model in models.items():
        found = rules.estimate(model, prepared.facts, 1.0)
        epoch = found.flops_per_epoch / rate
        fit = "".join(f"{60 * t * rules.SHARE_FOR_STEPS / epoch:9.1f}" for t in times)
        lines.append(f"{name:>8}{found.parameters / 1e6:9.1f} M     {fit}")
    return lines
