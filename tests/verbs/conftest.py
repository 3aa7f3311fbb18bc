"""One tiny model that others are made from: trained once, changed by none."""

from __future__ import annotations

from pathlib import Path

import pytest
from verbs_case import SMALL, write

from heedful.tasks.contract import Request
from heedful.verbs.train import train


@pytest.fixture(scope="session")
def parent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("parent")
    files = write(folder, "old", 1)
    train(Request(files=files, output=folder / "model", settings=SMALL, threads=1))
    return folder / "model"
