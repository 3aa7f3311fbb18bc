"""Texts taken apart into lines and put together again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from heedful.tasks.translation.documents.passages import LONG_LINE, Passage


def test_paragraphs_blank_lines_and_indents_stay() -> None:
    text = "  나는 학생이다.\r\n\r\n\tSecond line \n\n— * —\rlast"
    passage = Passage(text)
    assert passage.lines == ["나는 학생이다.", "Second line", "last"]
    assert passage.join(["A", "B", "C"]) == "  A\r\n\r\n\tB \n\n— * —\rC"


@given(st.text(st.sampled_from("ab가\n\r\t .😀​"), max_size=60))
def test_lines_put_back_are_the_text(text: str) -> None:
    passage = Passage(text)
    assert passage.join(passage.lines) == text
    assert all(line == line.strip() and any(map(str.isalnum, line)) for line in passage.lines)


def test_what_has_no_letter_is_not_sent_to_a_model() -> None:
    for text in ("", "\n\n", "😀", "…", "***"):
        passage = Passage(text)
        assert passage.lines == []
        assert passage.join([]) == text


def test_a_line_of_a_page_is_sentences_that_wait_by_themselves() -> None:
    sentence = "The animal didn't cross the street because it was too tired."
    text = " ".join([sentence] * 100)
    assert len(text) > LONG_LINE
    passage = Passage(text, "en")
    assert passage.lines == [sentence] * 100
    assert passage.join(passage.lines) == text
    assert Passage(text[:LONG_LINE].strip(), "en").lines == [text[:LONG_LINE].strip()]
