"""Memory does not grow with the corpus."""

import pytest

pytestmark = [pytest.mark.long, pytest.mark.timeout(3600)]


def test_five_million_pairs_start_training_in_a_gigabyte_and_a_half() -> None:
    from benchmarks import memory

    lines = list(memory.run())
    print("\n" + "\n".join(lines))
    assert float(lines[-1].split("|")[3]) < 1.5
