"""`heedful plan`: what a training will take, before it takes it."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from heedful.tasks import registry
from heedful.tasks.contract import Plan, Prepared, Request, Task
from heedful.train import rate
from heedful.train.report import Report, clock

MINUTES = (10, 30, 60, 480)


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


@dataclass(frozen=True)
class Measured:
    """What a few steps of a training took."""

    seconds: float
    """Of an epoch."""
    workers: int
    short: bool
    """Whether oneDNN keeps code for products of every shape."""


def plan(
    request: Request, hardware: Hardware | None = None, report: Report | None = None
) -> list[str]:
    """Prepare the data in a temporary folder, take a few steps, and say what a training takes."""
    report = report or Report()
    task, _ = registry.recognise(request.files, request.columns, request.task)
    with tempfile.TemporaryDirectory() as folder:
        prepared = task.prepare(request, Path(folder), report)
        measured = measured_epoch(task, prepared, request)
        found = foreseen(task, prepared, measured.workers)
        lines = plan_lines(task, prepared, measured)
        lines += ["", *_sizes(found, measured.seconds)]
        if hardware is not None:
            there = hardware.seconds(found.flops_per_epoch)
            lines += ["", f"on {hardware}: {clock(there)} an epoch"]
    return lines


def measured_epoch(task: Task, prepared: Prepared, request: Request) -> Measured:
    """Take a few steps on a model of the planned size."""
    import torch

    from heedful.machine import workers_for
    from heedful.train.precision import choose_precision, device_of

    training, device = prepared.settings.train, device_of(request.device)
    workers = workers_for(int(foreseen(task, prepared, 1).units_per_batch), device, request.threads)
    precision = choose_precision(training.precision, device, training.compile)
    with torch.random.fork_rng(devices=[]):
        model = task.build(prepared.settings, prepared.tables).to(device).train()
        learner = task.learner(model, prepared, workers, 0)
        seconds = rate.calibrate(learner, training, workers, precision)
    short = device == "cpu" and (precision.name == "bfloat16" or precision.onednn)
    return Measured(seconds, workers, short)


def foreseen(task: Task, prepared: Prepared, workers: int) -> Plan:
    """Ask the task what a training takes, or work it out: 6 FLOPs a weight and example."""
    if task.plan is not None:
        return task.plan(prepared, workers)
    import torch

    with torch.random.fork_rng(devices=[]):
        model = task.build(prepared.settings, prepared.tables)
    learner = task.learner(model, prepared, workers, 0)
    units = learner.count(next(learner.batches(0, 0)))
    parameters, epoch = sum(p.numel() for p in model.parameters()), units * learner.size(0)
    counted = ", ".join(f"{count:,} {name}" for name, count in prepared.counts.items())
    return Plan(
        lines=[f"{counted}; {parameters / 1e6:.2f} M parameters"],
        arithmetic=f"{6 * parameters / 1e6:.1f} MFLOP for a {learner.unit}",
        bytes=rate.BARE + 4.0 * parameters * (3 + workers),
        parameters=parameters,
        flops_per_epoch=6.0 * parameters * epoch,
        units_per_epoch=epoch,
        units_per_batch=units,
    )


def plan_lines(task: Task, prepared: Prepared, measured: Measured) -> list[str]:
    """Say before the first step what will be trained, and what it will take."""
    ends, found = prepared.settings.train, foreseen(task, prepared, measured.workers)
    peak = found.bytes + rate.KEPT_CODE * measured.short
    lines = [
        *found.lines,
        f"{found.arithmetic}, forward and backward; about {peak / 1e9:.1f} GB of memory at most",
        f"about {clock(measured.seconds)} an epoch here, measured on a few steps",
    ]
    if ends.minutes:
        fit = 60 * ends.minutes * rate.SHARE_FOR_STEPS / measured.seconds
        lines[-1] += f"; {ends.minutes:g} minutes in all, about {fit:.1f} epochs"
    elif ends.epochs:
        whole = measured.seconds * ends.epochs
        lines[-1] += f"; at most {ends.epochs:g} epochs, {clock(whole)}"
    elif ends.steps:
        share = ends.steps * found.units_per_batch * ends.accumulate / found.units_per_epoch
        lines[-1] += f"; {ends.steps:,} steps, {clock(share * measured.seconds)}"
    return lines


def _sizes(found: Plan, seconds: float) -> list[str]:
    """Show how many epochs fit into some minutes, for the planned model and the other presets."""
    models = {"planned": (found.parameters, found.flops_per_epoch), **found.sizes}
    lines = ["epochs that fit into    " + "".join(f"{f'{t} min':>9}" for t in MINUTES)]
    for name, (parameters, flops) in models.items():
        epoch = seconds * flops / found.flops_per_epoch
        fit = "".join(f"{60 * t * rate.SHARE_FOR_STEPS / epoch:9.1f}" for t in MINUTES)
        lines.append(f"{name:>8}{parameters / 1e6:9.1f} M     {fit}")
    return lines
