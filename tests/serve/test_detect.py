from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import py3langid
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from py3langid.langid import LanguageIdentifier

from heedful.serve.translation import detect
from heedful.serve.translation.detect import Detector, Guess

SENTENCES = [
    ("en", "The boats come back to the harbour before the storm reaches the coast."),
    ("en", "Could you tell me where the nearest chemist is?"),
    ("de", "Die Nachbarn haben gestern Abend noch lange im Garten gesessen."),
    ("de", "Ich weiß nicht, ob der Zug heute pünktlich ankommt."),
    ("fr", "Nous avons oublié nos parapluies dans le train de huit heures."),
    ("fr", "Est-ce que tu veux encore un peu de soupe ?"),
    ("es", "Mi abuela siempre cuenta las mismas historias cuando llueve."),
    ("es", "¿A qué hora cierran las tiendas los domingos?"),
    ("it", "Il gatto dorme sul tetto perché la sera fa ancora caldo."),
    ("it", "Non so dove ho messo le chiavi della macchina."),
    ("pt", "As crianças não querem sair da praia antes do pôr do sol."),
    ("pt", "Você pode me emprestar o seu guarda-chuva?"),
    ("nl", "De kinderen fietsen elke ochtend langs het water naar school."),
    ("nl", "Ik heb geen idee waarom hij zo laat thuis kwam."),
    ("sv", "Vi åkte till stugan vid sjön för att plocka svamp."),
    ("da", "Hun købte et gammelt hus på landet og malede det hvidt."),
    ("no", "Jeg har ikke sett noen av dem siden forrige uke."),
    ("fi", "Kävelimme metsässä koko päivän, mutta emme löytäneet yhtään sientä."),
    ("pl", "Wczoraj wieczorem poszliśmy do kina, bo padał deszcz."),
    ("cs", "Včera večer jsme šli do kina, protože pršelo a byla zima."),
    ("sk", "Včera večer sme išli do kina, pretože pršalo a bola zima."),
    ("hu", "Tegnap este moziba mentünk, mert esett az eső és hideg volt."),
    ("ro", "Aseară am mers la cinema, fiindcă ploua și era foarte frig."),
    ("tr", "Dün akşam yağmur yağdığı için sinemaya gittik."),
    ("id", "Kami pergi ke bioskop tadi malam karena hujan turun sangat deras."),
    ("vi", "Tối qua chúng tôi đi xem phim vì trời mưa và rất lạnh."),
    ("ru", "Вчера вечером мы пошли в кино, потому что шёл дождь."),
    ("uk", "Учора ввечері ми пішли в кіно, бо йшов дощ і було холодно."),
    ("bg", "Снощи отидохме на кино, защото валеше дъжд и беше студено."),
    ("ar", "ذهبنا إلى السينما مساء أمس لأن المطر كان غزيرا."),
    ("fa", "دیشب به سینما رفتیم چون باران می‌بارید و هوا سرد بود."),
    ("ur", "کل شام ہم سینما گئے کیونکہ بارش ہو رہی تھی۔"),
    ("he", "אתמול בערב הלכנו לקולנוע כי ירד גשם."),
    ("hi", "कल शाम हम सिनेमा गए क्योंकि बारिश हो रही थी।"),
    ("el", "Χθες το βράδυ πήγαμε σινεμά γιατί έβρεχε."),
    ("th", "เมื่อคืนเราไปดูหนังเพราะฝนตก"),
    ("ko", "어제저녁에 비가 와서 우리는 영화관에 갔다."),
    ("ja", "昨日の夜は雨が降っていたので、映画館に行きました。"),
    ("zh", "昨天晚上下雨了，所以我们去看电影。"),
    ("ka", "გუშინ საღამოს კინოში წავედით."),
]
COMMON = sorted({code for code, _ in SENTENCES})


@pytest.mark.parametrize(("language", "sentence"), SENTENCES)
def test_a_sentence_is_told_from_all_other_languages(language: str, sentence: str) -> None:
    best = Detector(COMMON).detect(sentence)[0]
    assert best.language == language
    assert best.confidence > 50


@pytest.mark.parametrize(
    ("language", "sentence"), [each for each in SENTENCES if each[0] in ("en", "de")]
)
def test_two_served_languages_are_told_apart_with_confidence(language: str, sentence: str) -> None:
    best = Detector(["en", "de"]).detect(sentence)[0]
    assert best.language == language
    assert best.confidence > 90


def test_a_short_greeting_is_enough_among_few() -> None:
    detector = Detector(["en", "de", "fr", "ko"])
    greetings = {"en": "Good morning", "de": "Guten Morgen", "fr": "Bonjour", "ko": "안녕"}
    assert {code: detector.detect(text)[0].language for code, text in greetings.items()} == {
        code: code for code in greetings
    }


@pytest.mark.parametrize("text", ["", "   \n", "12 345,67 €", "?!… — 😀", "https://a.example/the"])
def test_text_that_says_nothing_is_the_first_language_with_no_confidence(text: str) -> None:
    assert Detector(["fr", "en"]).detect(text) == [Guess("fr", 0.0)]


def test_a_language_that_is_not_served_gives_little_confidence() -> None:
    detector = Detector(["en", "de"])
    for code, sentence in SENTENCES:
        if code not in ("en", "de"):
            assert detector.detect(sentence)[0].confidence < 50, code


def test_text_in_a_script_nobody_serves_gives_none() -> None:
    assert Detector(["en", "de"]).detect("어제저녁에 비가 왔다.") == [Guess("en", 0.0)]


def test_keyboard_noise_gives_little_confidence() -> None:
    assert Detector(["en", "de"]).detect("xqzt vbnrk wpdfg")[0].confidence < 30


def test_a_word_of_several_languages_is_not_called_certain() -> None:
    found = Detector(["da", "no", "sv"]).detect("hund")
    assert {guess.language for guess in found} == {"da", "no", "sv"}
    assert found[0].confidence < 80


def test_names_in_latin_letters_do_not_hide_the_language_around_them() -> None:
    detector = Detector(["en", "ko", "ja"])
    assert detector.detect("Windows 11을 다시 설치했다.")[0].language == "ko"
    assert detector.detect("YouTubeで動画を見る")[0].language == "ja"


def test_hanja_amid_hangul_is_korean_and_kanji_amid_kana_japanese() -> None:
    detector = Detector(["zh", "ja", "ko"])
    assert detector.detect("大韓民國의 主權은 國民에게 있다.")[0].language == "ko"
    assert detector.detect("東京大学に行く")[0].language == "ja"


def test_simplified_and_traditional_are_told_apart_where_both_are_served() -> None:
    detector = Detector(["zh-Hans", "zh-Hant", "ja"])
    assert detector.detect("我们现在去学校买书。")[0].language == "zh-Hans"
    assert detector.detect("我們現在去學校買書。")[0].language == "zh-Hant"
    assert Detector(["ja", "zh"]).detect("我們現在去學校買書。")[0].language == "zh"


def test_codes_with_regions_and_relatives_are_served_by_the_words_of_their_language() -> None:
    sentence = "As crianças não querem sair da praia antes do pôr do sol."
    assert Detector(["en", "pt-BR"]).detect(sentence)[0].language == "pt-BR"
    twins = Detector(["pt", "pt-BR"]).detect(sentence)
    assert [guess.language for guess in twins] == ["pt", "pt-BR"]
    assert twins[0].confidence == twins[1].confidence
    assert Detector(["en", "nb"]).detect("Jeg har ikke sett noen av dem.")[0].language == "nb"


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ("nb", "Jeg har ikke sett noen av dem siden forrige uke."),
        ("pb", "As crianças não querem sair da praia antes do pôr do sol."),
        ("zt", "昨天晚上下雨了，所以我們去看電影。"),
        ("fil", "Pumunta kami sa sinehan kagabi dahil malakas ang ulan."),
        ("prs", "دیشب به سینما رفتیم چون باران می‌بارید و هوا سرد بود."),
        ("ckb", "من خەڵکی کوردستانم و زمانی کوردی قسە دەکەم."),
        ("gn", "Mba'éichapa reiko? Che aikuaa avañe'ẽme."),
    ],
)
def test_a_language_the_model_names_otherwise_is_known(code: str, sentence: str) -> None:
    best = Detector(["en", code, "ko"]).detect(sentence)[0]
    assert best.language == code
    assert best.confidence > 90


def test_a_name_that_stands_for_a_relative_shares_with_it() -> None:
    found = Detector(["no", "nb", "en"]).detect("Jeg har ikke sett noen av dem siden forrige uke.")
    assert [guess.language for guess in found[:2]] == ["no", "nb"]
    assert found[0].confidence == found[1].confidence


def test_simplified_and_traditional_share_what_could_be_either() -> None:
    detector = Detector(["zh", "zt"])
    assert detector.detect("昨天晚上下雨了，所以我们去看电影。")[0].language == "zh"
    assert detector.detect("昨天晚上下雨了，所以我們去看電影。")[0].language == "zt"
    assert Detector(["en-HK", "zh"]).detect("昨天晚上下雨了")[0].language == "zh"
    either = detector.detect("今天天下")
    assert [guess.language for guess in either] == ["zh", "zt"]
    assert either[0].confidence == either[1].confidence


@pytest.mark.parametrize(
    ("code", "text"),
    [("dv", "ދިވެހި ބަސް"), ("chr", "ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ"), ("bo", "བོད་སྐད་"), ("yi", "ייִדישע שפּראַך")],
)
def test_a_language_the_model_lacks_is_known_by_a_script_of_its_own(code: str, text: str) -> None:
    assert Detector(["en", code, "ko"]).detect(text) == [Guess(code, 100.0)]
    assert Detector(["en", "ko"]).detect(text) == [Guess("en", 0.0)]


@pytest.mark.parametrize("code", ["mi", "tlh", "ours", "yi"])
def test_a_language_the_model_lacks_is_never_guessed_beside_one_in_its_script(code: str) -> None:
    detector = Detector([code, "en", "he"])
    for text in (
        "Where is the station?",
        "Kei te pehea koe i tenei ahiahi",
        "אתמול בערב הלכנו לקולנוע",
    ):
        assert code not in {guess.language for guess in detector.detect(text)}


def test_only_languages_the_model_lacks_leave_the_first_with_no_confidence() -> None:
    assert Detector(["ours", "mi"]).detect("Where is the station?") == [Guess("ours", 0.0)]


def test_an_undetermined_language_is_never_guessed() -> None:
    assert Detector(["und"]).detect("The boats come back.") == [Guess("und", 0.0)]
    assert Detector([]).detect("The boats come back.") == []


def test_tags_and_addresses_are_not_read() -> None:
    text = "<span class='the and of'>Wir kommen morgen nicht.</span> info@the.example.com"
    assert Detector(["en", "de"]).detect(text)[0].language == "de"


@pytest.mark.parametrize(
    ("language", "word"),
    [
        ("en", "The"),
        ("en", "hello"),
        ("de", "ich"),
        ("de", "Hund"),
        ("fr", "Bonjour!"),
        ("fr", "je"),
    ],
)
def test_one_word_is_known_with_or_without_a_capital(language: str, word: str) -> None:
    assert Detector(["en", "de", "fr", "ko"]).detect(word)[0].language == language


def test_the_model_is_loaded_by_the_first_question_and_once_for_all_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    threads = 8
    lock, came, loads = threading.Lock(), threading.Semaphore(0), []
    load = LanguageIdentifier.from_model_file

    class CountingLock:
        def __enter__(self) -> None:
            came.release()
            lock.acquire()

        def __exit__(self, *_: object) -> None:
            lock.release()

    def when_all_are_there(path: str) -> LanguageIdentifier:
        assert all(came.acquire(timeout=60) for _ in range(threads))
        loads.append(path)
        return load(path)

    monkeypatch.setattr(detect, "_LOADING", CountingLock())
    monkeypatch.setattr(LanguageIdentifier, "from_model_file", when_all_are_there)
    detect._identifier.cache_clear()
    detectors = [Detector(["en", "de"]), Detector(["fr", "de"])]
    assert not detectors[0].loaded
    assert detectors[0].detect("어제저녁에 비가 왔다.") == [Guess("en", 0.0)]
    assert not detectors[0].loaded  # the script was enough
    sentence = "Ich weiß nicht, ob der Zug heute pünktlich ankommt."
    with ThreadPoolExecutor(threads) as pool:
        found = list(pool.map(lambda i: detectors[i % 2].detect(sentence)[0].language, range(16)))
    assert found == ["de"] * 16
    assert len(loads) == 1
    assert detectors[0].loaded


def test_the_library_itself_stays_unrestricted() -> None:
    Detector(["en", "de"]).detect("Where is the station?")
    assert py3langid.classify("Nous avons oublié nos parapluies dans le train.")[0] == "fr"


def test_half_a_character_is_no_trouble() -> None:
    assert Detector(["en", "de"]).detect("Where is the \ud800 station?")[0].language == "en"


@settings(max_examples=60)
@given(st.text(max_size=200), st.lists(st.sampled_from([*COMMON, "und", "mi", "x"]), max_size=6))
def test_any_text_gets_a_sorted_and_repeatable_answer(text: str, languages: list[str]) -> None:
    found = Detector(languages).detect(text)
    assert found == Detector(languages).detect(text)
    assert bool(found) == bool(languages)
    confidences = [guess.confidence for guess in found]
    assert confidences == sorted(confidences, reverse=True)
    assert all(0 <= confidence <= 100 for confidence in confidences)
    assert sum(confidences) <= 101
    assert {guess.language for guess in found} <= set(languages)


def test_a_book_is_judged_by_its_beginning() -> None:
    sentence = "Die Nachbarn haben gestern Abend noch lange im Garten gesessen. "
    detector = Detector(["en", "de"])
    assert detector.detect(sentence * 100) == detector.detect(sentence * 20_000)
