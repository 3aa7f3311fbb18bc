from __future__ import annotations

import io
import re
import struct
import warnings
import zipfile
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heedful.tasks.translation.documents import archive
from heedful.tasks.translation.documents.formats import DocumentError, open_document

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
T = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"
HEAD = (
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\r\n'
    f'<w:document xmlns:w="{W}" xmlns:mc="urn:mc" xmlns:w14="urn:w14" mc:Ignorable="w14"><w:body>'
)
TAIL = "<w:sectPr/></w:body></w:document>"
BOLD = "<w:rPr><w:b/></w:rPr>"


def run(text: str, look: str = "", preserve: bool = True) -> str:
    space = ' xml:space="preserve"' if preserve else ""
    return f"<w:r>{look}<w:t{space}>{text}</w:t></w:r>"


def paragraph(*runs: str) -> str:
    return f"<w:p><w:pPr>{BOLD}</w:pPr>{''.join(runs)}</w:p>"


def packed(parts: dict[str, str | bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as written:
        for name, content in parts.items():
            written.writestr(name, content)
    return data.getvalue()


def docx(*paragraphs: str, **parts: str | bytes) -> bytes:
    return packed(
        {
            "[Content_Types].xml": "<Types/>",
            "word/document.xml": HEAD + "".join(paragraphs) + TAIL,
            "word/media/image1.png": bytes(range(256)),
            **{name.replace("__", "/"): content for name, content in parts.items()},
        }
    )


def unpacked(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as opened:
        assert opened.testzip() is None
        return {name: opened.read(name) for name in opened.namelist()}


def body(data: bytes, name: str = "word/document.xml") -> str:
    content = unpacked(data)[name]
    ElementTree.fromstring(content)  # well-formed
    return content.decode()


def written(*paragraphs: str) -> str:
    return HEAD + "".join(paragraphs) + TAIL


def refused(data: bytes, name: str = "x.docx") -> str:
    with pytest.raises(DocumentError) as caught:
        open_document(name, data)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# -- .docx ---------------------------------------------------------------------------------------


def test_texts_are_paragraphs_cut_at_tabs_and_breaks_in_all_parts() -> None:
    part = f'<x xmlns:w="{W}">{{}}</x>'
    data = docx(
        paragraph(run("The "), run("dog", BOLD), run(" &amp; <!-- c -->me")),
        paragraph("<w:r><w:t>Name</w:t><w:tab/><w:t>Address</w:t><w:br/><w:t>서울</w:t></w:r>"),
        paragraph(run("42"), "<w:r><w:instrText>PAGE</w:instrText></w:r>"),
        paragraph("<w:del><w:r><w:delText>gone</w:delText></w:r></w:del>"),
        paragraph(f"<w:hyperlink>{run('a link')}</w:hyperlink>"),
        paragraph(
            run("outside "),
            f"<w:r><w:txbxContent>{paragraph(run('in a box'))}</w:txbxContent></w:r>",
            run("again"),
        ),
        word__header1__xml="",
        **{
            "word__header2.xml": part.format(paragraph(run("Page head"))),
            "word__footnotes.xml": part.format(paragraph(run("A note"))),
            "word__styles.xml": part.format(paragraph(run("not text"))),
        },
    )
    assert open_document("x.docx", data).texts == [
        *("The dog & me", "Name", "Address", "서울", "a link", "in a box", "outside again"),
        *("Page head", "A note"),
    ]


def test_a_file_untranslated_has_the_same_parts() -> None:
    data = docx(paragraph(run("The "), run("dog", BOLD), run(" sleeps.")), paragraph(run("안녕")))
    document = open_document("x.docx", data)
    assert list(unpacked(document.rebuild(document.texts)).items()) == list(unpacked(data).items())


def test_only_the_text_changes() -> None:
    data = docx(paragraph(run("Hello &amp; bye")), paragraph(run("Stay")))
    done = open_document("x.docx", data).rebuild(["1 < 2 & <script>\x00\x0b\ud800", "Stay"])
    before, after = unpacked(data), unpacked(done)
    assert list(before) == list(after)
    changed = [name for name in before if before[name] != after[name]]
    assert changed == ["word/document.xml"]
    assert body(done) == written(
        paragraph(run("1 &lt; 2 &amp; &lt;script&gt;")), paragraph(run("Stay"))
    )


def test_formatting_follows_its_words_through_the_alignment() -> None:
    data = docx(paragraph(run("The "), run("red", BOLD), run(" car is fast.")))
    done = open_document("x.docx", data).rebuild(
        ["La voiture rouge est rapide."], lambda _, __: list(enumerate((0, 2, 1, 3, 4)))
    )
    assert body(done) == written(
        paragraph(run("La voiture "), run("rouge", BOLD), run(" est rapide."))
    )


def test_without_an_alignment_formatting_stands_where_it_stood() -> None:
    data = docx(paragraph(run("Be "), run("very", BOLD), run(" quiet"), run("!", BOLD)))
    done = open_document("x.docx", data).rebuild(["Sei sehr leise!"])
    assert body(done) == written(
        paragraph(run("Sei "), run("sehr", BOLD), run(" leise"), run("!", BOLD))
    )


def test_runs_that_look_the_same_are_one() -> None:
    data = docx(paragraph(run("Hel"), "<w:proofErr/>", run("lo wor"), run("ld")))
    done = open_document("x.docx", data).rebuild(["Bonjour le monde"])
    assert body(done) == written(
        paragraph(run("Bonjour le monde"), "<w:proofErr/>", run(""), run(""))
    )


def test_spaces_are_protected_where_they_were_not() -> None:
    data = docx(paragraph(run("Stop", preserve=False), run(" now", BOLD)))
    done = open_document("x.docx", data).rebuild(
        ["Halt an jetzt"], lambda _, __: [(0, 0), (0, 1), (1, 2)]
    )
    assert body(done) == written(paragraph(run("Halt an", preserve=False), run(" jetzt", BOLD)))
    data = docx(paragraph(run("Stop", preserve=False), run("now", BOLD)))
    done = open_document("x.docx", data).rebuild(["Halt jetzt"])
    assert body(done) == written(paragraph(run("Halt "), run("jetzt", BOLD)))


def test_a_footnote_mark_stays_between_its_words() -> None:
    mark = "<w:r><w:footnoteReference w:id='2'/></w:r>"
    data = docx(paragraph(run("A claim"), mark, run(" and more.")))
    done = open_document("x.docx", data).rebuild(
        ["Eine Behauptung und mehr."], lambda _, __: list(enumerate((0, 1, 2, 3)))
    )
    assert body(done) == written(paragraph(run("Eine Behauptung"), mark, run(" und mehr.")))


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.text("ab ,.한", max_size=6), st.booleans()), min_size=1, max_size=6),
    st.text("xyz !,漢é&<\u00a0", max_size=30).map(str.strip),
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=9),
)
def test_no_character_of_a_translation_is_lost(
    runs: list[tuple[str, bool]], translation: str, pairs: list[tuple[int, int]]
) -> None:
    data = docx(paragraph(*(run(text, BOLD if bold else "") for text, bold in runs)))
    document = open_document("x.docx", data)
    done = document.rebuild([translation for _ in document.texts], lambda _, __: pairs)
    source = "".join(text for text, _ in runs)
    texts = ElementTree.fromstring(body(done)).iter(f"{{{W}}}t")
    found = "".join(text.text or "" for text in texts)
    if document.texts:
        assert found == source.replace(source.strip(), translation, 1)
    else:
        assert found == source


# -- .odt ----------------------------------------------------------------------------------------


def odt(content: str, manifest: str = "<m/>") -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as opened:
        kind = "application/vnd.oasis.opendocument.text"
        opened.writestr("mimetype", kind, compress_type=zipfile.ZIP_STORED)
        opened.writestr("content.xml", f'<o xmlns:text="{T}" xmlns:dc="urn:dc">{content}</o>')
        opened.writestr("META-INF/manifest.xml", manifest)
    return data.getvalue()


def test_open_documents_are_translated_in_place() -> None:
    data = odt(
        "<text:h>Title</text:h><text:p>The <text:span text:style-name='T1'>red</text:span> car"
        "<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>A note"
        "</text:p></text:note-body></text:note><dc:date>today</dc:date>.<text:line-break/>Next</text:p>"
    )
    document = open_document("x.odt", data)
    assert document.texts == ["Title", "A note", "The red car.", "Next"]
    assert unpacked(document.rebuild(document.texts)) == unpacked(data)
    done = document.rebuild(
        ["Titre", "Une note", "La voiture rouge.", "Suite"], lambda _, __: [(0, 0), (1, 2), (2, 1)]
    )
    assert body(done, "content.xml") == (
        f'<o xmlns:text="{T}" xmlns:dc="urn:dc"><text:h>Titre</text:h>'
        "<text:p>La voiture <text:span text:style-name='T1'>rouge</text:span>"
        "<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>Une note"
        "</text:p></text:note-body></text:note><dc:date>today</dc:date>.<text:line-break/>Suite"
        "</text:p></o>"
    )
    with zipfile.ZipFile(io.BytesIO(done)) as opened:
        first = opened.infolist()[0]
    assert (first.filename, first.compress_type) == ("mimetype", zipfile.ZIP_STORED)


def test_an_encrypted_open_document_is_refused() -> None:
    assert refused(odt("\x01", "<m><encryption-data/></m>"), "x.odt") == (
        "the .odt file is encrypted; expected a plain .odt; save it without a password"
    )


# -- dangers -------------------------------------------------------------------------------------

DAMAGED = (
    "the .docx file cannot be unpacked: it is damaged, cut off or of another kind; "
    "expected a whole .docx; send it again"
)


def test_what_is_no_whole_zip_is_refused() -> None:
    data = docx(paragraph(run("Hello")))
    assert refused(b"") == refused(b"Hello") == refused(data[: len(data) // 2]) == DAMAGED
    assert refused(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 500) == (
        "the .docx file is protected by a password, or is of an older format; "
        "expected a plain .docx; save it as one without a password"
    )
    assert refused(packed({"a.txt": "x"})) == (
        "the .docx file has no document inside; expected a .docx; check what kind of file it is"
    )


def patched(data: bytes, central: int, local: int, shape: str, value: int) -> bytes:
    """Change a field of the last member in both of its headers."""
    changed = bytearray(data)
    struct.pack_into(shape, changed, data.rindex(b"PK\x01\x02") + central, value)
    struct.pack_into(shape, changed, data.rindex(b"PK\x03\x04") + local, value)
    return bytes(changed)


def test_encrypted_members_are_refused() -> None:
    data = patched(docx(paragraph(run("Hello"))), 8, 6, "<H", 1)
    assert refused(data) == (
        "the .docx file is encrypted; expected a plain .docx; save it without a password"
    )


def test_sizes_that_lie_are_refused() -> None:
    data = docx(paragraph(run("Hello")))
    size = len(unpacked(data)["word/media/image1.png"])
    for lie in (0, size - 1, size + 1, size + 10_000):
        assert refused(patched(data, 24, 22, "<I", lie)) == DAMAGED
    assert "entries that overlap" in refused(patched(data, 20, 18, "<I", len(data)))


DANGER = "it is refused as a danger to the server"


def test_bombs_are_refused_before_they_go_off(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = docx(paragraph(run("Hello")), word__bomb=b"\0" * (4 << 20))
    assert re.fullmatch(
        rf"the \.docx file has an entry that unpacks to 1,0\d\d times its size; "
        rf"expected at most 250 times; {DANGER}",
        refused(bomb),
    )
    data = docx(paragraph(run("Hello")))
    for name, value, found in (
        ("MOST_MEMBERS", 2, "has 3 entries; expected at most 2;"),
        ("LARGEST_UNPACKED", 500, "bytes unpacked; expected at most 500;"),
        ("LARGEST_PART", 50, "a text of "),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(archive, name, value)
            assert found in refused(data)
            assert refused(data).endswith(DANGER)
    assert "more than 8,000 entries" in refused(b"PK\x01\x02" * 8_001)


@pytest.mark.parametrize(
    "name", ["../evil", "/etc/passwd", "a/../../b", "..\\evil", "C:\\evil", "\\\\host\\x", "a\nb"]
)
def test_names_that_lead_outside_are_refused(name: str) -> None:
    assert refused(docx(paragraph(run("Hello")), **{name: "x"})) == (
        "the .docx file has an entry with a forbidden name; expected names inside the file; "
        f"{DANGER}"
    )


def test_names_given_twice_and_odd_packing_are_refused() -> None:
    data = io.BytesIO(docx(paragraph(run("Hello"))))
    with warnings.catch_warnings(), zipfile.ZipFile(data, "a") as opened:
        warnings.simplefilter("ignore")
        opened.writestr("word/document.xml", "<x/>")
    assert "two entries with one name; expected each name once" in refused(data.getvalue())
    data = io.BytesIO(docx(paragraph(run("Hello"))))
    with zipfile.ZipFile(data, "a", zipfile.ZIP_BZIP2) as opened:
        opened.writestr("x", "y")
    assert "an entry packed by method 12; expected none but 0 and 8" in refused(data.getvalue())


@pytest.mark.parametrize(
    "prolog",
    [
        '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>',
        '<!DOCTYPE x SYSTEM "file:///etc/passwd">',
        "<!DOCTYPE x>",
    ],
)
def test_xml_with_a_document_type_is_refused(prolog: str) -> None:
    xml = f'{prolog}<x xmlns:w="{W}"><w:p><w:r><w:t>x</w:t></w:r></w:p></x>'
    assert refused(docx(word__document2__xml="", **{"word__footnotes.xml": xml})) == (
        f"the .docx file declares XML entities; expected none; {DANGER}"
    )


def test_xml_that_cannot_be_read_is_refused() -> None:
    for xml, found in (
        ("<a><b></a>", "XML that cannot be read (line 1: mismatched tag)"),
        ("", "XML that cannot be read (line 1: no element found)"),
        ("<a>".encode("utf-16"), "has XML in UTF-16; expected UTF-8"),
        ('<?xml version="1.0" encoding="ISO-8859-1"?><a/>', "has XML in ISO-8859-1;"),
        ("<a>&undefined;</a>", "undefined entity"),
    ):
        assert found in refused(docx(**{"word__endnotes.xml": xml}))


def test_depth_and_references_without_end_are_only_read() -> None:
    deep = 40_000
    nested = "<w:x>" * deep + "</w:x>" * deep
    data = docx(paragraph(run("Hello"), nested), paragraph(run("a &amp; " * deep)))
    document = open_document("x.docx", data)
    done = document.rebuild(["Hallo", document.texts[1].upper()])
    assert body(done) == written(paragraph(run("Hallo"), nested), paragraph(run("A &amp; " * deep)))


@settings(max_examples=150)
@given(st.data())
def test_a_damaged_file_is_read_or_refused(data: st.DataObject) -> None:
    whole = bytearray(docx(paragraph(run("Hello "), run("world", BOLD))))
    for _ in range(data.draw(st.integers(0, 3))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(whole)) | st.just(len(whole)))
    try:
        document = open_document("x.docx", bytes(whole[:cut]))
    except DocumentError:
        return
    document.rebuild([f"{text} x" for text in document.texts])
