"""Words tied to words: through one model, through two, and not without end."""

from __future__ import annotations

import threading

from serve_case import Fake

from heedful.errors import DataError
from heedful.serve.translation import aligning
from heedful.serve.translation.aligning import Aligner
from heedful.serve.translation.directions import Served

Pairs = list[tuple[int, int]]


class Tied(Fake):
    def __init__(self, pairs: Pairs) -> None:
        super().__init__()
        self.pairs, self.asked = pairs, list[tuple[str, str]]()

    def align(self, text: str, translation: str) -> Pairs:
        if text == "wrong":
            raise DataError("this text cannot be looked into")
        self.asked.append((text, translation))
        return self.pairs


def tied(*pairs: Pairs) -> list[Served]:
    return [Served("model", "a", "b", Tied(one)) for one in pairs]


def aligner(way: list[Served], between: dict[str, str] | None = None) -> Aligner:
    return Aligner(way, between or {}, longest=20, torch=threading.Lock())


def test_one_model_is_asked_directly() -> None:
    assert aligner(tied([(0, 1), (1, 0)]))("하나 둘", "two one") == [(0, 1), (1, 0)]


def test_two_models_are_asked_by_way_of_the_text_between() -> None:
    way = tied([(0, 1), (1, 0), (2, 2)], [(0, 0), (1, 2), (1, 3)])
    assert aligner(way, {"하나": "eins"})("하나", "one") == [(0, 2), (0, 3), (1, 0)]
    asked = [one.translator.asked for one in way]  # type: ignore[attr-defined]
    assert asked == [[("하나", "eins")], [("eins", "one")]]
    assert aligner(way)("unknown", "x") == []


def test_nothing_is_said_of_what_is_too_long_or_wrong_or_wanted_no_more() -> None:
    way = tied([(0, 0)])
    align = aligner(way)
    assert align("x" * 21, "y") == align("x", "y" * 21) == align("wrong", "y") == []
    assert align("x", "y") == [(0, 0)]
    align.stop()
    assert align("x", "y") == []


def test_a_request_has_no_more_than_its_share() -> None:
    align = aligner(tied([(0, 0)]))
    found = [align("x", "y") for _ in range(aligning.MOST + 5)]
    assert sum(map(bool, found)) == aligning.MOST
