"""The training loop.

A step is: take the batches, seed, forward, backward, clip, learning rate, Adam. Around it: look
at the development set now and then (`looking.py`), stop when done (`pacing.py`), and save so that
the same command goes on where it stopped, to the bit (`run.py`). A loss that is no number takes the
run back to where it was saved last, with half the learning rate.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Iterator
from contextlib import closing
from typing import TypeVar

import torch

from heedful.errors import TrainingError
from heedful.train.looking import Diverged, Looking
from heedful.train.report import clock
from heedful.train.state import Outcome, Window

__all__ = ["Trainer", "seed_of"]

BatchT = TypeVar("BatchT")
SAVE_EVERY = 300.0
"""Seconds between saved states, besides those at every look."""
ROLLBACKS = 3
"""Times in a row that a run may go back after its loss became no number."""


def seed_of(*numbers: int) -> int:
    """Mix numbers into a seed, so that every step has random numbers of its own."""
    text = ",".join(map(str, numbers)).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=7).digest(), "little")


class Trainer(Looking[BatchT]):
    """Trains a task's model."""

    def train(self) -> Outcome:
        """Run to the end, or to where it is interrupted."""
        with closing(self.engine):
            if self.engine.lead:
                self.run.mkdir(parents=True, exist_ok=True)
            self._restore()
            with closing(self._open_log()) as self._log:
                if not self.state.finished:
                    self._train()
        state = self.state
        return Outcome(
            state.step,
            state.epoch + state.place / self._size,
            state.tokens,
            state.spent,
            state.best,
            state.why,
            state.weights,
            sum(p.numel() for p in self.model.parameters()),
        )

    def _train(self) -> None:
        self.model.train()
        for note in self._notes:
            self._write("note", text=note)
        why = self._steps()
        self.state.why = why
        if why != "interrupted":
            if not self.state.kept or self.state.kept[-1].step != self.state.step:
                try:
                    self._look()
                except Diverged as found:
                    raise TrainingError(
                        f"the development set has {found.what} at the end; try a lower train.lr"
                    ) from found
            self.state.weights = self._choose()
            self.state.finished = True
        self._save()

    def _steps(self) -> str:
        """Take step after step, looking and saving now and then; give why it ended."""
        self._foresee()
        if self.settings.evaluate_every is None and not self.state.look_at:
            self.state.look_at = self.state.step + self._look_gap()
        self._save()  # so that there is a state to go back to, which knows what changed
        groups = self._groups()
        while True:
            stop, late, save = self.engine.agree(
                [self.interrupted, self._over(), time.monotonic() - self._saved > SAVE_EVERY]
            )
            if late:
                return "finished"
            if stop:
                return "interrupted"
            if save:
                self._save()
            started = time.monotonic()
            group = next(groups)
            try:
                self.state.window.add(*self._step(group))
                # An epoch is planned before its first step, which says nothing of the others.
                begins = self.state.place == len(group) and self._per_epoch() > 1
                if not begins or not self._pace:
                    self._pace.append(time.monotonic() - started)
                if self.state.step % self.settings.log_every == 0 or self.state.step in (10, 25):
                    self._tell()
                    self._foresee()
                if self._due():
                    if self._look():
                        return "no better for a while"
                    self._save()
            except Diverged as found:
                self._go_back(found, group)
                groups = self._groups()

    def _groups(self) -> Iterator[list[BatchT]]:
        """Give the batches of each step, epoch after epoch, from where the run is."""
        state, wanted = self.state, self.settings.accumulate
        while True:
            group: list[BatchT] = []
            for batch in self.task.batches(
                state.epoch, state.place, self.engine.part, self.engine.parts
            ):
                group.append(batch)
                if len(group) == wanted:
                    state.place += len(group)
                    yield group
                    group = []
            if group:
                state.place += len(group)
                yield group
            state.epoch, state.place = state.epoch + 1, 0

    def _step(self, group: list[BatchT]) -> tuple[int, float, float, float]:
        """Do one step; give its tokens, loss, likelihood and gradient norm."""
        state, engine = self.state, self.engine
        state.step += 1
        first = engine.part * engine.size
        seeds = [seed_of(self.settings.seed, state.step, first + i) for i in range(engine.size)]
        tokens, loss, nll = engine.gradients(group, seeds)
        norm = engine.norm()
        if engine.scale.overflowed(norm) and math.isfinite(loss):
            state.tokens += tokens
            return tokens, loss, nll, 0.0
        if not math.isfinite(loss) or not math.isfinite(norm):
            raise Diverged(loss, norm)
        clip = self.settings.clip
        engine.update(self._lr(), min(1.0, clip / norm) if clip else 1.0)
        self._follow()
        state.tokens += tokens
        self._watch(loss / tokens, group)
        return tokens, loss, nll, norm

    @torch.no_grad()
    def _follow(self) -> None:
        """Have the moving average of the weights, where one is asked for, follow them."""
        decay = self.settings.ema
        if not decay:
            return
        weights = {n: p.detach() for n, p in self.model.named_parameters()}
        if not self._ema:
            self._ema = {name: tensor.clone() for name, tensor in weights.items()}
        torch._foreach_lerp_([self._ema[n] for n in weights], list(weights.values()), 1 - decay)

    def _tell(self) -> None:
        state, lr = self.state, self._lr()
        figures = state.window.figures()
        state.window = Window()
        self._write("step", lr=lr, **figures)
        last, left = self._last(), self.clock.left()
        if math.isfinite(last):
            pace = sum(self._pace) / len(self._pace)
            left = min(left, (last - state.step) * pace)
        details = (
            f"step {state.step}  loss {figures['loss']:.3f}  "
            f"perplexity {figures['perplexity']:.2f}  "
            f"{figures['tokens_per_second']:,.0f} tokens/s  lr {lr:.2e}"
        )
        if math.isfinite(left):
            details += f"  {clock(left)} left"
        total = last if math.isfinite(last) else 0
        self.report.progress("training", state.step, total, details)

    # -- when it goes wrong ------------------------------------------------------------------

    def _go_back(self, found: Diverged, group: list[BatchT]) -> None:
        """Return to the last state with half the learning rate, naming the batch."""
        bad, lr, count = self.state.step, self._lr(), self.state.rollbacks + 1
        lines = [place for batch in group for place in self.task.where(batch)]
        some = ", ".join(lines[:5]) + (f" and {len(lines) - 5:,} more" if len(lines) > 5 else "")
        if count > ROLLBACKS:
            raise TrainingError(
                f"{found.what} at step {bad:,} again, after going back {ROLLBACKS} times; the "
                f"batch has {some}; look at these lines, and try a lower train.lr or a longer "
                f"train.warmup in a new folder"
            )
        look_seconds = self._look_seconds
        spent = self.state.spent
        self._restore()
        self.engine.agree([False])  # all have read the state before the lead writes another
        state = self.state
        state.lr_scale /= 2
        state.rollbacks, state.diverged_at, state.spent = count, bad, spent
        self._look_seconds = look_seconds
        self._log.cut(state.log_size)
        about = {"from": bad, "found": found.what, "lr_scale": state.lr_scale, "lines": lines}
        self._write("rollback", **about)
        self.report.note(
            f"{found.what} at step {bad:,}: back to step {state.step:,} with half the learning "
            f"rate ({lr:.1e} was too much, or the batch is bad: {some})"
        )
        self._save()

    def _watch(self, loss: float, group: list[BatchT]) -> None:
        """Tell of a batch whose loss is far above what is usual of late."""
        state = self.state
        away = loss - state.typical
        usual = max(8 * state.spread, 0.3 * state.typical)
        if state.step > 100 and away > usual and state.step > state.spiked_at + 50:
            state.spiked_at = state.step
            lines = [place for batch in group for place in self.task.where(batch)]
            self._write("spike", loss=loss, usual=state.typical, lines=lines)
            self.report.note(
                f"step {state.step:,}: loss {loss:.2f} where {state.typical:.2f} is usual; "
                f"the batch begins with {lines[0]}"
            )
        weight = 0.02 if state.step > 50 else 1 / state.step
        state.typical += weight * away
        state.spread += weight * (abs(away) - state.spread)
