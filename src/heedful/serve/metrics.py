"""What a server counts, for Prometheus. No text of a user is ever a label."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

__all__ = ["CONTENT_TYPE", "ServerMetrics", "total"]

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
LINES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048)
PAIR = ("source", "target")


class ServerMetrics(Collector):
    """The metrics of one server, in a registry of its own: two servers in a process share none."""

    def __init__(self) -> None:
        own = self._registry = CollectorRegistry(auto_describe=False)
        self.requests = Counter(
            "heedful_requests", "Requests answered.", ("path", "status"), registry=own
        )
        self.seconds = Histogram(
            "heedful_request_seconds",
            "Time to an answer.",
            ("path",),
            buckets=SECONDS,
            registry=own,
        )
        self.lines = Histogram(
            "heedful_batch_lines", "Lines translated together.", PAIR, buckets=LINES, registry=own
        )
        self.pieces = Counter("heedful_pieces", "Pieces translated, estimated.", PAIR, registry=own)
        self.characters = Counter(
            "heedful_characters", "Characters translated.", PAIR, registry=own
        )
        self.dropped = Counter(
            "heedful_dropped", "Requests whose client left before the answer.", registry=own
        )
        self.under_way = Gauge(
            "heedful_under_way", "Requests that are being answered.", ("path",), registry=own
        )

    def watch_queue(self, read: Callable[[], Mapping[tuple[str, str], float]]) -> None:
        """Show how many pieces wait for each model."""
        self._registry.register(_Queue(read))

    def collect(self) -> Iterator[Metric]:
        """Give the metrics without the times at which the library began to count each."""
        for metric in self._registry.collect():
            metric.samples = [one for one in metric.samples if not one.name.endswith("_created")]
            yield metric

    def render(self) -> bytes:
        """Write everything in Prometheus' text format."""
        return generate_latest(self)


class _Queue(Collector):
    """A gauge whose values are read at each scrape."""

    def __init__(self, read: Callable[[], Mapping[tuple[str, str], float]]) -> None:
        self._read = read

    def collect(self) -> Iterator[Metric]:
        """Give the values as they are now."""
        gauge = GaugeMetricFamily("heedful_queue_pieces", "Pieces that wait.", labels=PAIR)
        for labels, value in self._read().items():
            gauge.add_metric(labels, value)
        yield gauge


def total(metric: Counter | Gauge) -> float:
    """Add the values of all labels up."""
    samples = (one for family in metric.collect() for one in family.samples)
    return sum(one.value for one in samples if not one.name.endswith("_created"))
