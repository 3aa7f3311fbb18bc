"""What decoding remembers of keys and values."""

import torch

from heedful.nn.cache import Growing


def test_rows_that_only_leave_hold_no_second_buffer() -> None:
    table = Growing()
    for _ in range(3):
        table.append(torch.randn(5, 2, 1, 7))
    table.select(torch.tensor([0, 3]))
    assert table.buffer is not None
    assert table.bytes == table.buffer.nbytes
    table.select(torch.tensor([1, 0]))  # rows that change places take turns between two
    assert table.bytes == 2 * table.buffer.nbytes
