"""What a server counts, for Prometheus. No text of a user is ever a label."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

__all__ = ["CONTENT_TYPE", "Rounds", "ServerMetrics", "total"]

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
INPUTS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048)
Labels = tuple[str, ...]


class ServerMetrics(Collector):
    """The metrics of one server, in a registry of its own: two servers in a process share none."""

    def __init__(self) -> None:
        own = self.registry = CollectorRegistry(auto_describe=False)
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
        self.dropped = Counter(
            "heedful_dropped", "Requests whose client left before the answer.", registry=own
        )
        self.under_way = Gauge(
            "heedful_under_way", "Requests that are being answered.", ("path",), registry=own
        )

    def collect(self) -> Iterator[Metric]:
        """Give the metrics without the times at which the library began to count each."""
        for metric in self.registry.collect():
            metric.samples = [one for one in metric.samples if not one.name.endswith("_created")]
            yield metric

    def render(self) -> bytes:
        """Write everything in Prometheus' text format."""
        return generate_latest(self)


class Rounds(Collector):
    """What is counted of the rounds of an API's models, and how much waits for each."""

    def __init__(
        self, own: CollectorRegistry, labels: Labels, called: str, prefix: str = "heedful"
    ) -> None:
        """`labels` tell the models apart, and `called` is what their inputs are called."""
        self._labels, self._prefix = labels, prefix
        self._queues: Callable[[], Mapping[Labels, float]] = dict
        self.inputs = Histogram(
            f"{prefix}_batch_{called}",
            f"{called.capitalize()} computed together.",
            labels,
            buckets=INPUTS,
            registry=own,
        )
        self.pieces = Counter(
            f"{prefix}_pieces", "Pieces computed, estimated.", labels, registry=own
        )
        self.characters = Counter(
            f"{prefix}_characters", "Characters computed.", labels, registry=own
        )
        own.register(self)

    def watch(self, labels: Labels, lengths: Sequence[int], pieces: int) -> None:
        """Count a round of inputs of so many characters each."""
        self.inputs.labels(*labels).observe(len(lengths))
        self.pieces.labels(*labels).inc(pieces)
        self.characters.labels(*labels).inc(sum(lengths))

    def watch_queue(self, read: Callable[[], Mapping[Labels, float]]) -> None:
        """Show how many pieces wait for each model, as they are at each scrape."""
        self._queues = read

    def collect(self) -> Iterator[Metric]:
        """Give what waits now."""
        gauge = GaugeMetricFamily(
            f"{self._prefix}_queue_pieces", "Pieces that wait.", labels=self._labels
        )
        for labels, value in self._queues().items():
            gauge.add_metric(labels, value)
        yield gauge


def total(metric: Counter | Gauge) -> float:
    """Add the values of all labels up."""
    samples = (one for family in metric.collect() for one in family.samples)
    return sum(one.value for one in samples if not one.name.endswith("_created"))
