"""Memory does not grow with the corpus."""

import pytest

pytestmark = [pytest.mark.long, pytest.mark.timeout(3600)]


def test_five_million_pairs_start_training_in_a_gigabyte_and_a_half() -> None:
    from benchmarks.growth import corpora

    lines = list(corpora([5_000_000]))
    print("\n" + "\n".join(lines))
    assert float(lines[-1].split("|")[3]) < 1.5
