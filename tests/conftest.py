"""What every test runs under: shapes checked, seeds set, skips forbidden in CI."""

from __future__ import annotations

import functools
import os
import shutil
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import torch
from torch import Tensor, nn

from heedful.nn import onednn

torch.set_num_threads(1)  # models here are tiny: a second thread would only wait
hypothesis.settings.register_profile("heedful", deadline=None)  # a busy machine is no failure
hypothesis.settings.load_profile("heedful")


@functools.cache
def _axes(forward: Any) -> dict[str, str]:
    """Give the axes annotated on the arguments and the result of a forward method."""
    hints = typing.get_type_hints(forward, include_extras=True)
    found = {}
    for name, hint in hints.items():
        options = typing.get_args(hint) if typing.get_origin(hint) is not typing.Annotated else ()
        for option in (hint, *options):
            marks = getattr(option, "__metadata__", ())
            if marks and isinstance(marks[0], str):
                found[name] = marks[0]
    return found


def check_shapes(module: nn.Module, arguments: tuple[Any, ...], output: Any) -> None:
    """A letter must mean one size within a call; an axis marked * may also be 1."""
    if not type(module).__module__.startswith("heedful"):
        return
    axes = _axes(type(module).forward)
    names = list(typing.get_type_hints(type(module).forward))
    names.remove("return")
    values = dict(zip(names, arguments, strict=False)) | {"return": output}
    sizes: dict[str, int] = {}
    for name, value in values.items():
        if name not in axes or not isinstance(value, Tensor):
            continue
        letters = axes[name].split()
        shape = tuple(value.shape)
        assert len(letters) == len(shape), (
            f"{type(module).__name__}.{name}: {axes[name]} got {shape}"
        )
        for letter, size in zip(letters, shape, strict=True):
            if letter.endswith("*") and size == 1:
                continue
            known = sizes.setdefault(letter.rstrip("*"), size)
            # With a cache the keys are longer than the queries: T and S are not compared.
            assert known == size, f"{type(module).__name__}.{name}: {letter} is {known} and {size}"


if os.environ.get("HEEDFUL_WITHOUT_ONEDNN"):  # the suite as on a torch without its operations
    onednn.available = functools.lru_cache(lambda: False)


@pytest.fixture(scope="session", autouse=True)
def _shapes_are_checked() -> Iterator[None]:
    handle = torch.nn.modules.module.register_module_forward_hook(check_shapes)
    yield
    handle.remove()


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(1)
    torch.set_num_threads(1)  # whatever the test before set


@pytest.fixture
def real_data() -> Path:
    """The folder of real data sets, where there is one."""
    folder = os.environ.get("HEEDFUL_DATA")
    if not folder:
        pytest.skip("HEEDFUL_DATA is not set: no real data to measure on")
    return Path(folder)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A real browser, where there is one, for the tests of pages."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("no chromium here; .ci/run installs it")
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])


def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    """In CI nothing may be skipped but what needs data sets that are not there."""
    skipped = call.excinfo is not None and call.excinfo.errisinstance(pytest.skip.Exception)
    if not skipped or not os.environ.get("HEEDFUL_FORBID_SKIP"):
        return
    if "HEEDFUL_DATA" in str(call.excinfo):
        return
    pytest.fail(f"{item.nodeid} was skipped where skipping is forbidden: {call.excinfo}")
