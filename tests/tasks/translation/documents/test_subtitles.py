from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heedful.tasks.translation.documents.formats import DocumentError, open_document
from heedful.tasks.translation.documents.subtitles import WIDEST, wrap

SRT = """1
00:00:01,000 --> 00:00:02,500
<i>The boats come back</i>
before the storm.

2
00:00:03,000 --> 00:00:04,000 X1:40 X2:600
- Who is there?
- 안녕하세요, {\\an8}여러분!

3
00:00:05,000 --> 00:00:06,000
♪ ♪

4
00:00:07,000 --> 00:00:08,000
First half

second half
"""

VTT = """WEBVTT - the boats

STYLE
::cue { color: red }

NOTE nobody reads
this note

harbour
00:01.000 --> 00:02.000 align:start
<v Bob>Tom &amp; I are
here <b>now</b>

00:03.000 --> 01:00:04.000
Yes <00:03.500>no
"""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_file_untranslated_is_the_same_file(end: str, encoding: str) -> None:
    for ending, content in ((".srt", SRT), (".vtt", VTT)):
        data = content.replace("\n", end).encode(encoding)
        document = open_document(f"x{ending}", data)
        assert document.rebuild(document.texts) == data


def test_the_lines_of_a_cue_are_one_text_and_each_speaker_another() -> None:
    assert open_document("x.srt", SRT.encode()).texts == [
        "The boats come back before the storm.",
        "Who is there?",
        "안녕하세요, 여러분!",
        "First half",
        "second half",
    ]
    assert open_document("x.vtt", VTT.encode()).texts == ["Tom & I are here now", "Yes no"]


def test_everything_but_the_text_stays() -> None:
    document = open_document("x.srt", SRT.encode())
    done = document.rebuild(
        ["Die Boote kehren vor dem Sturm zurück.", "Wer da?", "Hallo, alle!", "Eins", "zwei"],
        lambda source, target: list(enumerate((0, 1, 2, 2, 3, 4, 5))) if "boats" in source else [],
    )
    assert done.decode() == (
        SRT.replace(
            "<i>The boats come back</i>\nbefore the storm.",
            "<i>Die Boote kehren</i> vor\ndem Sturm zurück.",
        )
        .replace("Who is there?", "Wer da?")
        .replace("안녕하세요, {\\an8}여러분!", "Hallo, {\\an8}alle!")
        .replace("First half", "Eins")
        .replace("second half", "zwei")
    )


def test_webvtt_is_escaped_and_keeps_heading_notes_styles_and_names() -> None:
    document = open_document("x.vtt", VTT.encode())
    done = document.rebuild(["Tom --> ich & sind <jetzt> hier", "Ja nein"]).decode()
    kept = [line for line in VTT.splitlines() if line not in ("here <b>now</b>",)][:-1]
    kept = [line for line in kept if not line.startswith("<v")]
    assert [line for line in done.splitlines() if line in kept] == kept
    assert "&lt;jetzt&gt;" in done
    assert "--&gt;" in done
    assert done.count("-->") == 2
    assert re.findall("<[^<>]+>", done) == re.findall("<[^<>]+>", VTT)


def test_an_arrow_in_a_translation_makes_no_new_cue() -> None:
    document = open_document("x.srt", SRT.encode())
    done = document.rebuild(["00:00:01,000 --> 00:00:02,000", *document.texts[1:]])
    assert done.count(b"-->") == SRT.count("-->")
    assert len(open_document("x.srt", done).texts) == 4  # digits are no text


def test_a_negative_number_is_no_speaker() -> None:
    data = b"1\n00:00:01,000 --> 00:00:02,500\n-5 degrees\n"
    assert open_document("x.srt", data).texts == ["-5 degrees"]


def test_what_is_no_subtitle_is_refused_in_one_line() -> None:
    with pytest.raises(DocumentError) as caught:
        open_document("x.srt", b"Just a text.\n")
    assert str(caught.value) == (
        "the .srt file has no line of times; expected lines such as "
        "00:00:01,000 --> 00:00:02,500; check what kind of file it is"
    )
    with pytest.raises(DocumentError) as caught:
        open_document("x.vtt", SRT.encode())
    assert str(caught.value) == (
        "the .vtt file does not begin with WEBVTT; expected WebVTT; name it .srt if it is SubRip"
    )


@pytest.mark.parametrize(
    ("text", "lines", "result"),
    [
        ("", 2, [""]),
        ("one", 2, ["one"]),
        ("one two three four", 1, ["one two three four"]),
        ("one two three four", 2, ["one two", "three four"]),
        (
            "<font color='red'>one two</font> three",
            2,
            ["<font color='red'>one two</font>", "three"],
        ),
        ("우리는 어제 영화관에 갔다", 2, ["우리는 어제", "영화관에 갔다"]),
        ("昨天晚上下雨了，我们去看电影。", 2, ["昨天晚上下雨了，", "我们去看电影。"]),
    ],
)
def test_lines_are_about_as_long(text: str, lines: int, result: list[str]) -> None:
    assert wrap(text, lines) == result


@settings(max_examples=100)
@given(st.lists(st.text("abc한", min_size=1, max_size=12), max_size=40), st.integers(1, 3))
def test_wrapping_loses_no_word_and_keeps_lines_short(words: list[str], lines: int) -> None:
    found = wrap(" ".join(words), lines)
    assert " ".join(found).split() == words
    wide = [sum(2 if char == "한" else 1 for char in line) for line in found]
    assert len(found) <= max(lines, -(-sum(wide) // WIDEST) + len(found) // 2 + 1)
    assert max(wide) <= WIDEST + 24


@settings(max_examples=60)
@given(st.lists(st.sampled_from([*SRT.splitlines(), "", "- x", "<i>", "</i> y", "7"]), max_size=30))
def test_any_order_of_lines_is_read_or_refused_and_nothing_is_lost(lines: list[str]) -> None:
    data = "\n".join(lines).encode()
    try:
        document = open_document("x.srt", data)
    except DocumentError:
        return
    assert document.rebuild(document.texts) == data
    done = document.rebuild([f"{text} x" for text in document.texts]).decode()
    assert done.count("-->") == data.decode().count("-->")
