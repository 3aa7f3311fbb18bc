"""States that an earlier version wrote are read, and a run begun by it goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from run_case import Run, same, settings, written
from toy_task import Reverse

from heedful import files
from heedful.train.state import State

NOW_THEN = {"count": "tokens", "batch": "place", "evaluate_at": "look_at"}


def older(facts: dict[str, Any]) -> dict[str, Any]:
    """Give the facts of a state the names they had."""
    then = {NOW_THEN.get(name, name): value for name, value in facts.items()}
    window = facts["window"]
    return then | {"window": {NOW_THEN.get(name, name): window[name] for name in window}}


def test_a_state_with_the_names_of_before_is_the_same_state() -> None:
    state = State(step=3, batch=2, count=70, evaluate_at=9)
    state.window.add(11, 2.0, 3.0, 0.5)
    facts = state.to_facts()
    assert older(facts)["tokens"] == 70
    assert older(facts)["window"]["tokens"] == 11
    assert State.of_facts(older(facts)) == State.of_facts(facts) == state


def test_a_run_of_the_version_before_goes_on_to_the_same_end(tmp_path: Path) -> None:
    def make() -> Reverse:
        return Reverse(dropout=0.2, d_model=8)

    whole = Run(tmp_path / "whole", make(), settings(average=2), 2)
    expected = whole.trainer.train()
    begun = Run(tmp_path / "parts", make(), settings(average=2), 2)
    begun.after(7, lambda: setattr(begun.trainer, "interrupted", True))
    begun.trainer.train()
    for file in (tmp_path / "parts" / "state").glob("*.json"):
        files.write_sealed(file, older(files.read_sealed(file)))
    ended = Run(tmp_path / "parts", make(), settings(average=2), 2)
    assert ended.trainer.train().count == expected.count
    assert same(ended.weights(), whole.weights())
    assert written(tmp_path / "parts") == written(tmp_path / "whole")
    losses = [(r["step"], r["loss"]) for r in whole.log("step")]
    assert [(r["step"], r["loss"]) for r in ended.log("step")] == losses
