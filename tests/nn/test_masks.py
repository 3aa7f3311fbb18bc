import torch

from heedful.nn.masks import look_ahead, padding, real


def test_padding_hides_what_lies_beyond_the_length() -> None:
    assert padding(torch.tensor([1, 3]), 3).tolist() == [
        [[[True, False, False]]],
        [[[True, True, True]]],
    ]
    assert real(torch.tensor([0, 2]), 2).tolist() == [[False, False], [True, True]]


def test_look_ahead_contains_the_padding_mask() -> None:
    lengths = torch.tensor([2, 3])
    keep = look_ahead(lengths, 3)
    assert keep[0, 0].tolist() == [[True, False, False], [True, True, False], [True, True, False]]
    assert keep[1, 0].tolist() == [[True, False, False], [True, True, False], [True, True, True]]
    assert not (keep & ~padding(lengths, 3)).any()
