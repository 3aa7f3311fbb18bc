from xml.etree import ElementTree

import torch

from heedful.explain.render import heat_map, lines_between, page_of, shades

WEIGHTS = torch.tensor([[1.0, 0.0, 0.0], [0.25, 0.5, 0.25]])


def test_a_page_is_well_formed_and_escapes_what_people_typed() -> None:
    words = ["▁<script>", "▁개&", "</s>"]
    page = page_of(
        [
            heat_map(["▁a", '▁"'], words, WEIGHTS, "a < b & 나"),
            lines_between(words, 1, WEIGHTS, "title"),
        ]
    )
    root = ElementTree.fromstring(page)
    names = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "<script>" in names
    assert "개&" in names
    assert len(list(root.iter("{http://www.w3.org/2000/svg}rect"))) == 1 + 6


def test_lines_are_drawn_for_weights_that_can_be_seen() -> None:
    body, width, height = lines_between(["a", "b", "c"], 0, WEIGHTS, "t")
    assert body.count("<line") == 1 + 3
    assert width > 0 < height


def test_shades_grow_darker_with_the_weight() -> None:
    lines = shades(["a", "한국"], ["x", "y", "z"], WEIGHTS)
    assert lines == [
        "       1  2  3",
        "   a  ██      ",
        "한국  ░░ ▒▒ ░░",
        "1 x  2 y  3 z",
    ]
