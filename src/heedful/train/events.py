"""The log of a run as TensorBoard reads it: an extra, for people who keep their runs there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from heedful.errors import ConfigError


def tensorboard(folder: Path) -> Callable[[Mapping[str, Any]], None]:
    """Give what writes a record of the log into `folder` too.

    A run that goes on from an earlier state takes back what TensorBoard was told after it.
    """
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise ConfigError(
            "--tensorboard needs the package tensorboard; pip install 'heedful[tensorboard]'"
        ) from error
    writers: list[Any] = []

    def listen(record: Mapping[str, Any]) -> None:
        step = record["step"]
        if not writers:
            writers.append(SummaryWriter(str(folder), purge_step=step))
        (writer,) = writers
        if record["kind"] == "step":
            for name in record.keys() - {"kind", "step", "at", "spent", "crc"}:
                writer.add_scalar(f"training/{name}", record[name], step)
        elif record["kind"] == "look":
            for name, value in record["figures"].items():
                writer.add_scalar(f"development/{name}", value, step)
            for number, sample in enumerate(record["samples"]):
                text = "\n\n".join(f"{kind}: {sample[kind]}" for kind in ("given", "wanted", "got"))
                writer.add_text(f"sample {number + 1}", text, step)
        writer.flush()

    return listen
