"""The one module that calls what torch does not document, and that no other does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

import heedful
from heedful.nn import onednn
from heedful.nn.linear import Linear

SOURCE = Path(heedful.__file__).parent
PRIVATE = re.compile(r"torch\.ops\b|torch\._|torch(\.\w+)*\._[a-z]|from torch(\.\w+)*\._")


def test_nothing_else_calls_private_operations_of_torch() -> None:
    users = [
        path.relative_to(SOURCE).as_posix()
        for path in sorted(SOURCE.rglob("*.py"))
        if PRIVATE.search(path.read_text(encoding="utf-8"))
    ]
    assert users == ["nn/onednn.py"]


def test_products_are_timed_where_the_operations_are(monkeypatch: pytest.MonkeyPatch) -> None:
    threads, put = torch.get_num_threads(), monkeypatch.setattr
    if onednn.available():
        for least, faster in ((0.0, True), (1e9, False)):
            put(onednn, "FASTER", least)
            assert onednn.faster.__wrapped__(trials=1) == faster
    put(onednn, "available", lambda: False)
    assert not onednn.faster.__wrapped__()
    assert torch.get_num_threads() == threads


@pytest.mark.parametrize("error", [AttributeError, RuntimeError, TypeError])
def test_an_operation_that_is_missing_or_other_is_not_there(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def fail(*arguments: object) -> None:
        raise error

    for name in ("linear", "pack"):
        with monkeypatch.context() as patch:
            patch.setattr(onednn, name, fail)
            assert not onednn.available.__wrapped__()


def test_without_the_operations_the_plain_product_is_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(onednn, "available", lambda: False)
    monkeypatch.delattr(onednn, "pack")
    made, x = Linear(4, 6).eval(), torch.randn(3, 4)
    with torch.inference_mode():
        found = made(x)
    assert torch.equal(found, torch.nn.functional.linear(x, made.weight, made.bias))
