"""The queue before a model: lines of all clients are translated together.

A request's lines wait as items of their own. A round takes as many as fill the cores for a
moment, and while it is computed in a thread the next one gathers. Who comes first is decided by
size: an item's place is what had been admitted before it plus `EAGERNESS` times what its own
request has asked for up to it. So a short request passes a long one, and even the last line of the
longest is passed by no more than `EAGERNESS` times its size: nothing waits for ever.
"""

from __future__ import annotations

import asyncio
import heapq
import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from heedful.serve.errors import busy

if TYPE_CHECKING:
    from heedful.translator import Translation

__all__ = ["Batcher", "Line", "pieces_in"]

Line = tuple[str, int]
"""A text, and how many translations of it are wanted."""

EAGERNESS = 8
"""How much a long request lets pass: more makes short ones quicker and long ones later."""
BYTES_A_PIECE = 4
"""Of UTF-8, about, in any language: pieces are counted in the thread that splits the text."""
PATIENCE = 8
"""Waits for more, at most, while requests keep coming in."""


def pieces_in(text: str) -> int:
    """Estimate the pieces of a line without splitting it, its end included."""
    return len(text.encode("utf-8", "surrogatepass")) // BYTES_A_PIECE + 2


@dataclass(eq=False)
class _Job:
    """One request's lines, until all have been translated or nobody wants them any more."""

    done: asyncio.Future[None]
    found: list[Translation | None]
    missing: int
    waiting: int = 0
    """Pieces of it still in the queue."""
    left: bool = False


@dataclass(order=True)
class _Item:
    place: int
    number: int
    job: _Job = field(compare=False)
    index: int = field(compare=False)
    line: Line = field(compare=False)
    pieces: int = field(compare=False)


class Batcher:
    """Puts the lines of all requests for one model together, in a fair order."""

    def __init__(
        self,
        work: Callable[[list[Line]], list[Translation]],
        round_pieces: int,
        lanes: int,
        wait: float,
        limit: int,
        watch: Callable[[int, int, int], None] = lambda lines, pieces, characters: None,
    ) -> None:
        """Take the function that translates, called in a thread; `watch` is told of each round."""
        self._work, self._watch = work, watch
        self._round, self._lanes, self._wait, self._limit = round_pieces, lanes, wait, limit
        self._pool = ThreadPoolExecutor(lanes, thread_name_prefix="heedful-translate")
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
        """Whether nothing more is taken, not even what would fit.

        After a request that found no room nobody is let in until there is room for its like:
        otherwise small ones would keep large ones out, and each would be read only to be refused.
        """
        return self.waiting >= self._limit or self._turned_away > 0

    @property
    def retry_after(self) -> int:
        """Seconds after which there should be room, going by the last rounds."""
        seconds = self.waiting / self._rate if self._rate else 1.0
        return max(1, min(60, math.ceil(seconds)))

    async def translate(
        self, texts: Sequence[str], n_best: int = 1, admitted: bool = False
    ) -> list[Translation]:
        """Translate lines among those of everybody else; cancelling takes them out of the queue.

        A full queue refuses at once, but not what was `admitted` before and only goes on here.
        """
        if not texts:
            return []
        sizes = [pieces_in(text) for text in texts]
        total = sum(sizes)
        if not admitted and self.waiting and (self.full or self.waiting + total > self._limit):
            self._turned_away = max(self._turned_away, min(total, self._limit // 2))
            raise busy(self.retry_after)
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        job = _Job(done, [None] * len(texts), len(texts), total)
        asked = 0
        for index, (text, size) in enumerate(zip(texts, sizes, strict=True)):
            asked += size
            self._number += 1
            place = self._admitted + EAGERNESS * asked
            item = _Item(place, self._number, job, index, (text, n_best), size)
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
        return [one for one in job.found if one is not None]

    def _make_room(self, pieces: int) -> None:
        """Count pieces that wait no more, and let others in again once there is room enough."""
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
                    await self._translate(items)
                if self._gathering or not self._queue:  # another lane takes what there is
                    return
                self._gathering = True
        finally:
            self._running -= 1

    async def _gather(self) -> None:
        """Wait while requests keep coming in: together they cost less than one by one."""
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

    async def _translate(self, items: list[_Item]) -> None:
        """Compute a round. Where it fails, each request is tried alone: one must not spoil all."""
        loop = asyncio.get_running_loop()
        lines = [item.line for item in items]
        began = loop.time()
        try:
            found = await loop.run_in_executor(self._pool, self._work, lines)
        except Exception as error:
            jobs = list(dict.fromkeys(item.job for item in items))
            if len(jobs) > 1:
                for job in jobs:
                    await self._translate([item for item in items if item.job is job])
            elif not jobs[0].done.done():
                jobs[0].done.set_exception(error)
            return
        pieces = sum(item.pieces for item in items)
        rate = self._lanes * pieces / max(loop.time() - began, 1e-6)
        self._rate = rate if not self._rate else 0.8 * self._rate + 0.2 * rate
        self._watch(len(items), pieces, sum(len(text) for text, _ in lines))
        for item, one in zip(items, found, strict=True):
            job = item.job
            job.found[item.index] = one
            job.missing -= 1
            if not job.missing and not job.done.done():
                job.done.set_result(None)
