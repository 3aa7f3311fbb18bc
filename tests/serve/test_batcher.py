"""The queue: lines of all clients together, in a fair order, and none for nothing."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from serve_case import LATER, run, until

from heedful.serve.batcher import EAGERNESS, Batcher, pieces_in
from heedful.serve.errors import RequestError


class Work:
    """Says everything in capitals, keeps its rounds and waits at a gate."""

    def __init__(self) -> None:
        self.rounds: list[list[str]] = []
        self.gate = threading.Event()

    def __call__(self, lines: list[str]) -> list[str]:
        self.rounds.append(lines)
        assert self.gate.wait(LATER)
        if any("독" in text for text in lines):
            raise ValueError("poisoned")
        return [text.upper() for text in lines]

    def order(self) -> list[str]:
        return [text for lines in self.rounds for text in lines]


def batcher(work: Work, **more: Any) -> Batcher[str, str]:
    options = {"round_pieces": 1000, "lanes": 1, "wait": 0.001, "limit": 100_000} | more
    return Batcher(work, pieces_in, **options)


def test_requests_of_several_clients_are_one_round_and_each_gets_its_own_lines_in_order() -> None:
    async def several() -> list[list[str]]:
        work.gate.set()
        one = batcher(work)
        return await asyncio.gather(*(one.answer([f"{n} a", f"{n} b"]) for n in range(5)))

    work = Work()
    found = run(several())
    assert found == [[f"{n} A", f"{n} B"] for n in range(5)]
    assert len(work.rounds) == 1
    assert sorted(work.order()) == sorted(f"{n} {x}" for n in range(5) for x in "ab")


def test_an_empty_request_costs_nothing() -> None:
    work = Work()
    assert run(batcher(work).answer([])) == []
    assert work.rounds == []


def test_a_round_holds_no_more_than_its_pieces_but_one_line_always_goes() -> None:
    async def all_of_them() -> None:
        work.gate.set()
        await batcher(work, round_pieces=10).answer(["x" * 400, *["y" * 16] * 4])

    work = Work()
    run(all_of_them())
    sizes = [[pieces_in(text) for text in lines] for lines in work.rounds]
    assert [102] in sizes
    assert all(sum(pieces) <= 10 for pieces in sizes if pieces != [102])


def test_a_short_request_passes_a_long_one() -> None:
    async def both() -> None:
        one = batcher(work, round_pieces=10)
        first = asyncio.ensure_future(one.answer(["occupied"]))
        await until(lambda: work.rounds)
        long = asyncio.ensure_future(one.answer([f"long {n}" for n in range(100)]))
        await asyncio.sleep(0)
        short = asyncio.ensure_future(one.answer(["short"]))
        await asyncio.sleep(0)
        work.gate.set()
        await asyncio.gather(first, long, short)

    work = Work()
    run(both())
    order = work.order()
    assert order.index("short") <= 2 + 100 // EAGERNESS
    assert [text for text in order if text.startswith("long")] == [f"long {n}" for n in range(100)]


def test_nothing_waits_for_ever() -> None:
    """However many short requests keep coming, a long one is passed by a bounded number of them."""

    async def crowd() -> int:
        one = batcher(work, round_pieces=10)
        first = asyncio.ensure_future(one.answer(["occupied"]))
        await until(lambda: work.rounds)
        long = asyncio.ensure_future(one.answer(["l" * 400]))
        await asyncio.sleep(0)
        short = [asyncio.ensure_future(one.answer([f"short {n}"])) for n in range(600)]
        await asyncio.sleep(0)
        work.gate.set()
        await asyncio.gather(first, long, *short)
        return work.order().index("l" * 400)

    work = Work()
    passed = run(crowd())
    assert 10 < passed <= 1 + EAGERNESS * pieces_in("l" * 400) // pieces_in("short 1") < 600


def test_a_long_line_holds_one_lane_and_short_ones_take_the_other() -> None:
    """The long round is not over when the short request has its answer."""

    async def both() -> None:
        def work(lines: list[str]) -> list[str]:
            if lines[0] == "long":
                assert gate.wait(LATER)
            return lines

        gate = threading.Event()
        one = Batcher(work, pieces_in, round_pieces=10, lanes=2, wait=0.001, limit=1000)
        long = asyncio.ensure_future(one.answer(["long"]))
        await until(lambda: not one.waiting)
        await one.answer(["short"])
        assert not long.done()
        gate.set()
        await long

    run(both())


def test_a_full_queue_refuses_at_once_and_takes_what_was_admitted_before() -> None:
    async def fill() -> None:
        one = batcher(work, limit=30)
        held = [asyncio.ensure_future(one.answer(["first"]))]
        await until(lambda: work.rounds)
        held.append(asyncio.ensure_future(one.answer(["x" * 100])))  # into an empty queue
        await asyncio.sleep(0)
        assert not one.full
        held.append(asyncio.ensure_future(one.answer(["second hop"], admitted=True)))
        await asyncio.sleep(0)
        assert one.full
        with pytest.raises(RequestError) as refused:
            await one.answer(["more"])
        assert refused.value.status == 503
        assert 1 <= int(refused.value.headers["Retry-After"]) <= 60
        assert refused.value.text.startswith("Slowdown: too many inputs are waiting, try again in ")
        work.gate.set()
        await asyncio.gather(*held)
        assert one.waiting == 0

    work = Work()
    run(fill())


def test_after_one_that_found_no_room_nobody_passes_it_until_there_is_room() -> None:
    async def turn_away() -> None:
        one = batcher(work, limit=40)
        held = [asyncio.ensure_future(one.answer(["first"]))]
        await until(lambda: work.rounds)
        held.append(asyncio.ensure_future(one.answer(["x" * 100])))
        await asyncio.sleep(0)
        assert one.waiting < 30
        assert not one.full
        for text in ("y" * 100, "small"):  # the small one would fit
            with pytest.raises(RequestError):
                await one.answer([text])
            assert one.full
        work.gate.set()
        await asyncio.gather(*held)
        assert not one.full
        await one.answer(["small"])

    work = Work()
    run(turn_away())


def test_a_request_that_is_given_up_leaves_the_queue() -> None:
    async def leave() -> None:
        one = batcher(work)
        first = asyncio.ensure_future(one.answer(["first"]))
        await until(lambda: work.rounds)
        gone = asyncio.ensure_future(one.answer(["gone"] * 50))
        stays = asyncio.ensure_future(one.answer(["stays"]))
        await asyncio.sleep(0)
        waiting = one.waiting
        gone.cancel()
        await asyncio.gather(gone, return_exceptions=True)
        assert one.waiting == waiting - 50 * pieces_in("gone")
        work.gate.set()
        await asyncio.gather(first, stays)
        assert one.waiting == 0

    work = Work()
    run(leave())
    assert "gone" not in work.order()


def test_a_text_that_fails_spoils_no_other_request() -> None:
    async def mixed() -> list[Any]:
        work.gate.set()
        one = batcher(work)
        return await asyncio.gather(
            *(one.answer([text]) for text in ("하나", "독", "둘")), return_exceptions=True
        )

    work = Work()
    good, bad, other = run(mixed())
    assert (good[0], other[0]) == ("하나", "둘")
    assert isinstance(bad, ValueError)


def test_waiting_time_is_told_from_the_speed_of_the_last_rounds() -> None:
    async def measured() -> tuple[int, int]:
        one = batcher(work)
        unknown = one.retry_after
        work.gate.set()
        await one.answer(["x"] * 100)
        one.waiting = 10**9
        return unknown, one.retry_after

    work = Work()
    assert run(measured()) == (1, 60)
