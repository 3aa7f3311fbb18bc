"""The demo reaches what it promises, with the default seed and a second one."""

import time
from pathlib import Path

import pytest

from heedful.tasks.translation.demo import demo
from heedful.tasks.translation.settings import Demo
from heedful.train.report import PlainReport
from heedful.verbs.train import train

pytestmark = [pytest.mark.long, pytest.mark.timeout(1200)]


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("to", ["fr", "ko"])
def test_the_demo_learns_the_built_in_corpus(to: str, seed: int, tmp_path: Path) -> None:
    options = Demo(to=to, output=tmp_path / "demo", seed=seed)
    found = demo(options, train, PlainReport(), time.time())
    print(f"\n{to} seed {seed}: {found}")
    assert found.seconds <= 300
    assert found.bleu["random"] >= 97
    assert found.agreement >= 0.97
    assert found.exact["combinations"] >= 0.90
