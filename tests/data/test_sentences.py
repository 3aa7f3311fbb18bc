from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.data.sentences import chop, split_keeping


def split(text: str, language: str = "und") -> list[str]:
    return [sentence for sentence, _ in split_keeping(text, language) if sentence]


SENTENCES = [
    ("en", ["Mr. Smith met Dr. Jones.", "They talked."]),
    ("en", ["It costs 3.14 dollars, i.e. too much.", "No. 5 is cheaper!", "Really?", "Yes."]),
    ("en", ['"Stop!" he said.', '"Why?"', "She left (at last!) and cried."]),
    ("en", ["J. R. R. Tolkien wrote it in the U.K. for children.", "We read it."]),
    ("en", ["Wait... what?", "No… never.", "Bring pens, paper, etc.", "Then go."]),
    ("en", ["See example.com or Node.js for more.", "It was 1990.", "He left."]),
    ("en", ["1. First item.", "2. Second item."]),
    ("de", ["Am 3. Oktober kam z.B. Herr Müller.", "Er blieb bis zum 19. Jahrhundert."]),
    (
        "de",
        ["Er sagte: „Nein.“", "Sie, d. h. Dr. Maier, ging.", "»Gut.«", "Das war der 3.", "Er kam."],
    ),
    ("und", ["Am 3. Oktober war es z. B. kalt.", "Mme. Durand et M. Dupont sont là."]),
    ("fr", ["« Bonjour ! » dit M. Dupont.", "Quoi ?", "Rien…", "« Ah ! »", "Il sortit."]),
    ("es", ["¿Qué quiere la Sra. López?", "¡Nada!"]),
    ("ru", ["А. С. Пушкин родился в Москве.", "Он, т.е. поэт, писал."]),
    ("ko", ["나는 학교에 갔다.", "집에 왔어요!", "왜 그랬을까?", "2024. 3. 5. 회의가 열렸다."]),
    ("ko", ["한.미 정상이 3.5배로 합의했다.", '그는 "간다."라고 말했다.']),
    ("hi", ["यह एक वाक्य है।", "यह दूसरा है।"]),
    ("ar", ["كيف حالك؟", "أنا بخير."]),
]


@pytest.mark.parametrize(("language", "sentences"), SENTENCES)
def test_sentences_joined_by_a_space_come_apart_again(language: str, sentences: list[str]) -> None:
    assert split(" ".join(sentences), language) == sentences


@pytest.mark.parametrize(
    ("language", "sentences"),
    [
        ("ko", ["나는 학교에 갔다.", "그리고 집에 왔어요.", "정말?", "그래!", "좋아."]),
        ("zh", ["我来了。", "你呢？", "很好！", "“走吧。”", "他说。"]),
        ("ja", ["「行く。」と言った。", "彼は帰った！", "なぜ？", "（終わり。）"]),
    ],
)
def test_sentences_without_spaces_come_apart(language: str, sentences: list[str]) -> None:
    assert split("".join(sentences), language) == sentences


def test_text_without_capitals_is_split_at_its_marks() -> None:
    assert split("a man walks . he sings . e.g. a song .") == [
        "a man walks .",
        "he sings .",
        "e.g. a song .",
    ]
    assert split("A man walks. he sings.") == ["A man walks. he sings."]


def test_an_empty_line_ends_a_sentence() -> None:
    assert split_keeping("a title \n \nthe text") == [("a title", " \n \n"), ("the text", "")]


def test_the_space_behind_a_sentence_is_kept_beside_it() -> None:
    assert split_keeping("  One.  Two.\tThree ") == [
        ("", "  "),
        ("One.", "  "),
        ("Two.", "\t"),
        ("Three", " "),
    ]
    assert split_keeping("") == []
    assert split_keeping("   ") == [("", "   ")]
    assert split("   ") == []


DRAWN = st.text("aB1가다か漢 .!?…。！\"'»«“”()\n\t,zM\u0301", max_size=60)


@given(DRAWN | st.text(max_size=60), st.sampled_from(["und", "de", "ko", "en"]))
def test_nothing_is_lost_by_splitting(text: str, language: str) -> None:
    pairs = split_keeping(text, language)
    assert "".join(sentence + space for sentence, space in pairs) == text
    assert all(sentence == sentence.strip() for sentence, _ in pairs)
    assert all(sentence for sentence, _ in pairs[1:])
    assert all(not space or space.isspace() for _, space in pairs)


def test_an_over_long_sentence_is_cut_at_the_best_place() -> None:
    text = "One two three four, five six seven eight nine ten eleven twelve thirteen."
    assert chop(text, 30, len) == [
        "One two three four, ",
        "five six seven eight nine ",
        "ten eleven twelve thirteen.",
    ]
    assert chop("1,000,000원은 一百万、それは数です", 17, len) == [
        "1,000,000원은 一百万、",
        "それは数です",
    ]
    assert chop("short", 30, len) == ["short"]
    assert chop("", 30, len) == []


def test_two_equal_parts_are_better_than_a_long_one_and_a_rest() -> None:
    assert [len(part) for part in chop("x" * 110, 100, len)] == [55, 55]


def test_an_accent_stays_with_its_letter() -> None:
    parts = chop("e\u0301" * 50, 7, len)
    assert "".join(parts) == "e\u0301" * 50
    assert not any(part.startswith("\u0301") for part in parts)


def test_a_character_longer_than_the_limit_stands_alone() -> None:
    assert chop("가나a", 2, lambda part: len(part.encode())) == ["가", "나", "a"]


def bytes_long(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def uneven(text: str) -> int:
    """Longer text may measure shorter, as with subword pieces."""
    return len(text) - 2 * text.count("ab")


@given(DRAWN | st.text(max_size=80), st.integers(4, 30), st.sampled_from([len, bytes_long, uneven]))
def test_no_part_is_too_long_and_no_character_is_lost(
    text: str,
    limit: int,
    length: object,
) -> None:
    assert callable(length)
    parts = chop(text, limit, length)
    assert "".join(parts) == text
    assert all(parts)
    assert all(length(part) <= limit for part in parts)


@pytest.mark.parametrize(
    "text",
    ["가" * 1_000_000, "word " * 200_000, "a. " * 100_000, "." * 1_000_000, "\n " * 500_000],
    ids=["no spaces", "words", "initials", "marks", "line ends"],
)
def test_a_line_of_a_megabyte_takes_seconds_at_most(text: str) -> None:
    measured = 0

    def length(part: str) -> int:
        nonlocal measured
        measured += len(part)
        return len(part)

    started = time.process_time()
    assert "".join(sentence + space for sentence, space in split_keeping(text)) == text
    parts = chop(text, 200, length)
    assert time.process_time() - started < 5
    assert max(map(len, parts)) <= 200
    assert measured < 20 * len(text)
