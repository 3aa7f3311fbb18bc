"""What a server counts, for Prometheus. No text of a user is ever a label."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import Metric
from prometheus_client.registry import Collector

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
INPUTS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048)


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


class Rounds:
    """What is counted of the rounds of an API's models, and how much waits for each."""

    def __init__(
        self, own: CollectorRegistry, labels: Sequence[str], called: str, prefix: str = "heedful"
    ) -> None:
        """`labels` tell the models apart, and `called` is what their inputs are called."""
        together = f"{called.capitalize()} computed together."
        self.inputs = Histogram(
            f"{prefix}_batch_{called}", together, labels, buckets=INPUTS, registry=own
        )
        self.pieces = Counter(f"{prefix}_pieces", "Pieces, estimated.", labels, registry=own)
        self.characters = Counter(f"{prefix}_characters", "Characters.", labels, registry=own)
        self.waiting = Gauge(f"{prefix}_queue_pieces", "Pieces that wait.", labels, registry=own)

    def watch(self, labels: Sequence[str], lengths: Sequence[int], pieces: int) -> None:
        """Count a round of inputs of so many characters each."""
        self.inputs.labels(*labels).observe(len(lengths))
        self.pieces.labels(*labels).inc(pieces)
        self.characters.labels(*labels).inc(sum(lengths))


def total(metric: Counter | Gauge) -> float:
    """Add the values of all labels up."""
    samples = (one for family in metric.collect() for one in family.samples)
    return sum(one.value for one in samples if not one.name.endswith("_created"))
