"""Which of several processes this is, and how they meet; alone, no torch is loaded for it."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from heedful.errors import ConfigError
from heedful.machine import cores

ValueT = TypeVar("ValueT")

WAIT = timedelta(hours=12)
"""How long a process waits for the others: the lead may have a large corpus to prepare."""


@dataclass(frozen=True)
class World:
    """Which of how many processes this is; `local` counts those on the same machine."""

    rank: int = 0
    size: int = 1
    local: int = 0
    local_size: int = 1

    @classmethod
    def of_environment(cls) -> World:
        """Read what torchrun says; alone where nothing started us."""
        names = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE")
        values = [int(os.environ.get(n, d)) for n, d in zip(names, (0, 1, 0, 1), strict=True)]
        return cls(*values) if values[1] > 1 else cls()

    @property
    def lead(self) -> bool:
        """Whether this process speaks and writes."""
        return self.rank == 0


def share_machine(world: World, device: str) -> int:
    """Take a fair share of the machine's cores; give how many workers decode with them."""
    import torch

    share = max(1, cores() // world.local_size)
    if device == "cpu":
        torch.set_num_threads(share)
    return 1


@contextmanager
def joined(world: World, device: str) -> Iterator[None]:
    """Meet the other processes, and leave them at the end."""
    import torch
    import torch.distributed as dist
    from torch.distributed.rendezvous import rendezvous

    if device == "cuda":
        torch.cuda.set_device(world.local)
    there = rendezvous("env://", world.rank, world.size, timeout=WAIT)
    store, _, _ = next(iter(there))
    dist.init_process_group(
        "nccl" if device == "cuda" else "gloo",
        store=_fresh(store, world),
        rank=world.rank,
        world_size=world.size,
        timeout=WAIT,
    )
    try:
        yield
    finally:
        dist.destroy_process_group()


def _fresh(store: Any, world: World) -> Any:
    """Agree on a part of the store that no earlier attempt has written to.

    torchrun keeps one store for all its attempts, and with it the addresses of the dead. Each
    process shows a token nobody has seen, and the lead answers it with the name of the new part.
    """
    from torch.distributed import PrefixStore  # type: ignore[attr-defined]

    if world.lead:
        name, answered = secrets.token_hex(8), set()
        waiting = set(range(1, world.size))
        while waiting:
            for rank in sorted(waiting):
                hello = f"heedful/hello/{rank}"
                if store.check([f"heedful/thanks/{name}/{rank}"]):
                    waiting.discard(rank)
                elif store.check([hello]) and (token := store.get(hello)) not in answered:
                    answered.add(token)
                    store.set(f"heedful/answer/{token.decode()}", name)
            time.sleep(0.02)
    else:
        token = secrets.token_hex(8)
        store.set(f"heedful/hello/{world.rank}", token)
        name = store.get(f"heedful/answer/{token}").decode()
        store.set(f"heedful/thanks/{name}/{world.rank}", "1")
    return PrefixStore(f"heedful/{name}", store)


def from_lead(value: ValueT) -> ValueT:
    """Give the lead's value in every process: the others wait until the lead has it."""
    import torch.distributed as dist

    values = [value]
    dist.broadcast_object_list(values)
    return values[0]


def in_one_process(command: str) -> None:
    """Refuse to run under torchrun what several processes cannot share."""
    if World.of_environment().size > 1:
        raise ConfigError(f"{command} runs in one process; start it without torchrun")
