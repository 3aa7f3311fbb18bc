from __future__ import annotations

import pytest

from heedful.data.mojibake import broken


@pytest.mark.parametrize(
    "text",
    [
        *("Café", "Spaß", "Ärger", "naïve", "señor", "très gênant", "l’œuvre", "Łódź", "Привет"),
        *(
            "안녕하세요",
            "日本語",
            "😀",
            "“quoted”",
            "100 €",
            "Ωμέγα",
            "İstanbul",
            "Việt Nam",
            "à la",
        ),
    ],
)
@pytest.mark.parametrize("encoding", ["cp1252", "latin-1"])
def test_utf_8_read_as_windows_1252_is_seen(text: str, encoding: str) -> None:
    assert not broken(text)
    wrong = "".join(bytes([byte]).decode(encoding, "ignore") or chr(byte) for byte in text.encode())
    assert broken(wrong)


@pytest.mark.parametrize(
    "text",
    [
        *("So ein Spaß” sagte er.", "»Spaß« und »Ü«", "Il va au café\u00a0» et «\u00a0là\u00a0»"),
        *("Così…” disse", "Kéž…", "příště… „ať“", "ÍŽŠÁ", "MAÇÃ”", "Âge d’or", "à… –", "É… oui"),
        *("25 °C, 3 m², 5 £, ½ l", "São Paulo – Île-de-France", "Það er gott", "Ähm… ß™", "ñ¿qué?"),
        *(
            "plain",
            "„Größe“",
            "l’été™",
            "Ó™ · Å°",
            "crème brûlée•",
            "één—twee",
            "“café”—and",
            "allé\u00a0«voir",
            "Nº 5",
        ),
    ],
)
def test_text_that_only_looks_a_little_like_it_is_not_broken(text: str) -> None:
    assert not broken(text)


def test_replacement_and_control_characters_are_broken() -> None:
    assert broken("caf\ufffd")
    assert broken("les \x9cufs")
    assert not broken("next\x85line")
