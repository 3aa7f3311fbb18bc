import torch

from heedful.explain.words import by_words, word_spans


def test_words_begin_where_a_space_was_and_the_end_is_none() -> None:
    assert word_spans(["▁The", "▁an", "imal", "▁it", ".", "</s>"]) == [(0, 1), (1, 3), (3, 5)]
    assert word_spans(["개", "는", "▁잔", "다"]) == [(0, 2), (2, 4)]
    assert word_spans(["</s>"]) == word_spans([]) == []


def test_pieces_become_words_by_mean_over_rows_and_sum_over_columns() -> None:
    weights = torch.tensor([[0.5, 0.25, 0.25], [0.1, 0.2, 0.7]])
    found = by_words(weights, [(0, 2)], [(0, 1), (1, 3)])
    torch.testing.assert_close(found, torch.tensor([[0.3, 0.7]]))
