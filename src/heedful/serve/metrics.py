"""What a server counts, in Prometheus' text format. No text of a user is ever a label."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

__all__ = ["CONTENT_TYPE", "Counter", "Gauge", "Histogram", "Metrics", "ServerMetrics"]

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Labels = tuple[str, ...]

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
LINES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048)


def _spell(names: Sequence[str], labels: Labels, more: Mapping[str, str] | None = None) -> str:
    pairs = [*zip(names, labels, strict=True), *(more or {}).items()]
    if not pairs:
        return ""
    return "{" + ",".join(f'{name}="{_escape(value)}"' for name, value in pairs) + "}"


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


class Counter:
    """Something that only grows."""

    kind = "counter"

    def __init__(self, name: str, text: str, labels: Sequence[str] = ()) -> None:
        self.name, self.text, self._labels = name, text, labels
        self._values: dict[Labels, float] = {} if labels else {(): 0}

    def add(self, *labels: str, by: float = 1) -> None:
        """Count."""
        self._values[labels] = self._values.get(labels, 0) + by

    @property
    def total(self) -> float:
        """All of them together."""
        return sum(self._values.values())

    def lines(self) -> list[str]:
        """Write the values."""
        return [
            f"{self.name}{_spell(self._labels, labels)} {value:g}"
            if value < 1e6
            else f"{self.name}{_spell(self._labels, labels)} {value:.0f}"
            for labels, value in sorted(self._values.items())
        ]


class Gauge:
    """Something that is looked at when somebody asks."""

    kind = "gauge"

    def __init__(
        self,
        name: str,
        text: str,
        labels: Sequence[str],
        look: Callable[[], Mapping[Labels, float]],
    ) -> None:
        self.name, self.text, self._labels, self._look = name, text, labels, look

    def lines(self) -> list[str]:
        """Write the values as they are now."""
        return [
            f"{self.name}{_spell(self._labels, labels)} {value:.0f}"
            for labels, value in sorted(self._look().items())
        ]


class Histogram:
    """How often something was how large."""

    kind = "histogram"

    def __init__(
        self, name: str, text: str, bounds: Sequence[float], labels: Sequence[str] = ()
    ) -> None:
        self.name, self.text, self._bounds, self._labels = name, text, bounds, labels
        self._counts: dict[Labels, list[int]] = {}
        self._sums: dict[Labels, float] = {}

    def add(self, value: float, *labels: str) -> None:
        """Count a value into its bucket."""
        counts = self._counts.setdefault(labels, [0] * (len(self._bounds) + 1))
        counts[bisect_left(self._bounds, value)] += 1
        self._sums[labels] = self._sums.get(labels, 0.0) + value

    def lines(self) -> list[str]:
        """Write the buckets, each with those below it, and the sum."""
        found = []
        for labels, counts in sorted(self._counts.items()):
            total = 0
            for bound, count in zip((*self._bounds, "+Inf"), counts, strict=True):
                total += count
                place = bound if isinstance(bound, str) else f"{bound:g}"
                found.append(
                    f"{self.name}_bucket{_spell(self._labels, labels, {'le': place})} {total}"
                )
            spelled = _spell(self._labels, labels)
            found.append(f"{self.name}_sum{spelled} {self._sums[labels]:.6f}")
            found.append(f"{self.name}_count{spelled} {total}")
        return found


Kept = TypeVar("Kept", Counter, Gauge, Histogram)


class Metrics:
    """All counters of a server, to be written out together."""

    def __init__(self) -> None:
        self._all: list[Counter | Gauge | Histogram] = []

    def keep(self, each: Kept) -> Kept:
        """Take one more."""
        self._all.append(each)
        return each

    def render(self) -> str:
        """Write everything in Prometheus' text format."""
        lines = []
        for each in self._all:
            lines.append(f"# HELP {each.name} {each.text}")
            lines.append(f"# TYPE {each.name} {each.kind}")
            lines.extend(each.lines())
        return "\n".join(lines) + "\n"


class ServerMetrics(Metrics):
    """What this server counts."""

    def __init__(self) -> None:
        super().__init__()
        self.requests = self.keep(
            Counter("heedful_requests_total", "Requests answered.", ("path", "status"))
        )
        self.seconds = self.keep(
            Histogram("heedful_request_seconds", "Time to an answer.", SECONDS, ("path",))
        )
        self.lines = self.keep(
            Histogram(
                "heedful_batch_lines", "Lines translated together.", LINES, ("source", "target")
            )
        )
        self.pieces = self.keep(
            Counter("heedful_pieces_total", "Pieces translated, estimated.", ("source", "target"))
        )
        self.characters = self.keep(
            Counter("heedful_characters_total", "Characters translated.", ("source", "target"))
        )
        self.dropped = self.keep(
            Counter("heedful_dropped_total", "Requests whose client left before the answer.")
        )

        self.under_way: dict[Labels, int] = {}
        """Requests that are being answered, by path."""
        self.keep(
            Gauge(
                "heedful_under_way",
                "Requests that are being answered.",
                ("path",),
                lambda: self.under_way,
            )
        )

    def watch_queue(self, look: Callable[[], Mapping[Labels, float]]) -> None:
        """Show how many pieces wait for each model."""
        self.keep(Gauge("heedful_queue_pieces", "Pieces that wait.", ("source", "target"), look))
