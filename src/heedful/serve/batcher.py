"""The queue before a model: what all clients send is computed together.

Each input of a request is an item of a priority queue. A round takes items up to a number of pieces
and is computed in a thread, while the next one gathers. An item's place is the number of pieces
admitted before its request, plus `EAGERNESS` times the pieces of its own request up to its end. So
a short request overtakes a long one, and nothing waits for ever: an item is overtaken by at most
`EAGERNESS` times the pieces of its own request.
"""

from __future__ import annotations

import asyncio
import heapq
import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar

from heedful.serve.errors import RequestError, busy
from heedful.serve.metrics import Rounds
from heedful.serve.options import ServeOptions

In = TypeVar("In")
Out = TypeVar("Out")
Work = Callable[[list[In]], list[Out]]
"""Answers a round, input by input; it is called in several threads at once."""

EAGERNESS = 8
"""A larger number makes short requests quicker and long ones slower."""
BYTES_A_PIECE = 4
"""UTF-8 bytes of a piece, roughly, in any language; the exact number is known only once split."""
PATIENCE = 8
"""How often a round waits for more, at most, while requests keep coming in."""


def pieces_in(text: str) -> int:
    """Estimate the pieces of a text without splitting it, the end-of-sentence piece included."""
    return len(text.encode("utf-8", "surrogatepass")) // BYTES_A_PIECE + 2


@dataclass(eq=False)
class _Job:
    """The inputs of one request, until all are answered or the client has left."""

    done: asyncio.Future[None]
    found: list[Any]
    missing: int
    waiting: int = 0
    """Its pieces that are still in the queue."""
    left: bool = False


@dataclass(order=True)
class _Item:
    place: int
    number: int
    job: _Job = field(compare=False)
    index: int = field(compare=False)
    value: Any = field(compare=False)
    pieces: int = field(compare=False)


class Batcher(Generic[In, Out]):
    """Batches the inputs of all requests for one model, in a fair order."""

    def __init__(
        self,
        work: Work[In, Out],
        size: Callable[[In], int],
        round_pieces: int,
        lanes: int,
        wait: float,
        limit: int,
        watch: Callable[[list[In], int], None] = lambda inputs, pieces: None,
        verb: str = "answer",
        called: str = "inputs",
    ) -> None:
        """`size` gives the pieces of an input; `watch` is told the inputs and pieces of each round.

        `verb` names the threads, and `called` is what a refusal calls the inputs.
        """
        self._work, self._size, self._watch, self._called = work, size, watch, called
        self._round, self._lanes, self._wait, self._limit = round_pieces, lanes, wait, limit
        self._pool = ThreadPoolExecutor(lanes, thread_name_prefix=f"heedful-{verb}")
        self._queue: list[_Item] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._running = 0
        self._gathering = False
        self._admitted = 0
        self._number = 0
        self._rate = 0.0
        self._turned_away = 0
        self.waiting = 0
        """Pieces in the queue."""

    @property
    def full(self) -> bool:
        """Whether every request is refused, even one that would fit.

        After a request was refused for want of room, all are until there is room for one of its
        size: otherwise small requests would fill every gap and large ones never get in.
        """
        return self.waiting >= self._limit or self._turned_away > 0

    @property
    def retry_after(self) -> int:
        """Seconds until the queue should be empty, at the speed of the last rounds."""
        seconds = self.waiting / self._rate if self._rate else 1.0
        return max(1, min(60, math.ceil(seconds)))

    def busy(self) -> RequestError:
        """Give the error of a request there is no room for."""
        return busy(self.retry_after, f"too many {self._called} are waiting")

    async def answer(self, inputs: Sequence[In], admitted: bool = False) -> list[Out]:
        """Answer inputs, batched with those of other requests; cancelling drops them.

        A full queue refuses at once, except the later steps of a request `admitted` before.
        """
        if not inputs:
            return []
        sizes = [self._size(one) for one in inputs]
        total = sum(sizes)
        if not admitted and self.waiting and (self.full or self.waiting + total > self._limit):
            self._turned_away = max(self._turned_away, min(total, self._limit // 2))
            raise self.busy()
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        job = _Job(done, [None] * len(inputs), len(inputs), total)
        asked = 0
        for index, (value, size) in enumerate(zip(inputs, sizes, strict=True)):
            asked += size
            self._number += 1
            place = self._admitted + EAGERNESS * asked
            item = _Item(place, self._number, job, index, value, size)
            heapq.heappush(self._queue, item)
        self._admitted += total
        self.waiting += total
        self._wake()
        try:
            await done
        finally:
            job.left = True
            self._make_room(job.waiting)
            job.waiting = 0
        return job.found

    def _make_room(self, pieces: int) -> None:
        """Subtract pieces that left the queue; admit requests again once there is room enough."""
        self.waiting -= pieces
        if self.waiting + self._turned_away <= self._limit:
            self._turned_away = 0

    def close(self) -> None:
        """Let the threads end."""
        for task in self._tasks:
            task.cancel()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _wake(self) -> None:
        if self._running < self._lanes and not self._gathering:
            self._running += 1
            self._gathering = True
            task = asyncio.get_running_loop().create_task(self._lane())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _lane(self) -> None:
        try:
            while True:
                await self._gather()
                items = self._take()
                self._gathering = False
                if self._queue:
                    self._wake()
                if items:
                    await self._compute(items)
                # Another lane is gathering, or nothing is left.
                if self._gathering or not self._queue:
                    return
                self._gathering = True
        finally:
            self._running -= 1

    async def _gather(self) -> None:
        """Wait while requests keep coming in: a batch costs less than its inputs one by one."""
        for _ in range(PATIENCE):
            before = self._admitted
            if self.waiting >= self._round:
                return
            await asyncio.sleep(self._wait)
            if self._admitted == before:
                return

    def _take(self) -> list[_Item]:
        items: list[_Item] = []
        pieces = 0
        while self._queue:
            if items and pieces + self._queue[0].pieces > self._round:
                break
            item = heapq.heappop(self._queue)
            if item.job.left:
                continue
            item.job.waiting -= item.pieces
            self._make_room(item.pieces)
            pieces += item.pieces
            items.append(item)
        return items

    async def _compute(self, items: list[_Item]) -> None:
        """Compute a round; if it fails, each request alone, so that only the bad one fails."""
        loop = asyncio.get_running_loop()
        inputs = [item.value for item in items]
        began = loop.time()
        try:
            found = await loop.run_in_executor(self._pool, self._work, inputs)
            answers = list(zip(items, found, strict=True))
        except Exception as error:
            jobs = list(dict.fromkeys(item.job for item in items))
            if len(jobs) > 1:
                for job in jobs:
                    await self._compute([item for item in items if item.job is job])
            elif not jobs[0].done.done():
                jobs[0].done.set_exception(error)
            return
        pieces = sum(item.pieces for item in items)
        rate = self._lanes * pieces / max(loop.time() - began, 1e-6)
        self._rate = rate if not self._rate else 0.8 * self._rate + 0.2 * rate
        self._watch(inputs, pieces)
        for item, one in answers:
            job = item.job
            job.found[item.index] = one
            job.missing -= 1
            if not job.missing and not job.done.done():
                job.done.set_result(None)


class Queues(dict[tuple[str, ...], Batcher[In, Out]]):
    """The queues of an API, each by what its model is called in the metrics."""

    def __init__(
        self,
        works: Mapping[tuple[str, ...], Work[In, Out]],
        text: Callable[[In], str],
        options: ServeOptions,
        rounds: Rounds,
        verb: str,
        called: str,
    ) -> None:
        """`text` gives what of an input is measured."""

        def queue(labels: tuple[str, ...], work: Work[In, Out]) -> Batcher[In, Out]:
            return Batcher(
                work,
                lambda one: pieces_in(text(one)),
                options.round_pieces,
                options.lanes,
                options.wait,
                options.queue,
                lambda some, pieces: rounds.watch(labels, [len(text(one)) for one in some], pieces),
                verb,
                called,
            )

        super().__init__({labels: queue(labels, work) for labels, work in works.items()})
        for labels, one in self.items():
            rounds.waiting.labels(*labels).set_function(partial(getattr, one, "waiting"))

    def no_room(self) -> RequestError | None:
        """Give the error every request gets, before its body is read, while all queues are full."""
        if not all(one.full for one in self.values()):
            return None
        return min(self.values(), key=lambda one: one.retry_after).busy()

    def close(self) -> None:
        """Let the threads end."""
        for one in self.values():
            one.close()
