from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heedful.errors import DataError
from heedful.tasks.translation.terms import LONGEST_TERM, MOST_TERMS, FoundTerms, Terms


def put(
    terms: object, text: str, translation: str, renderings: dict[str, str], keep: object = None
) -> tuple[str, list[str]]:
    """Go the whole way, with a translator that knows the terms alone."""
    glossary = Terms.parse(terms, keep)
    found = glossary.find(text)
    return glossary.restore(translation, found, [renderings.get(one, "") for one in found.probes])


def test_no_terms_cost_nothing() -> None:
    empty = Terms.parse(None)
    assert not empty
    found = empty.find("The dog sleeps.")
    assert (found, found.probes) == (FoundTerms(), [])
    assert empty.restore("Der Hund schläft.", found) == ("Der Hund schläft.", [])
    assert not Terms.parse({}, [])
    assert Terms.parse([], ["Heedful"])


def test_a_text_without_the_terms_asks_for_nothing() -> None:
    found = Terms.parse({"cat": "Mieze"}, ["Seoul"]).find("The dog sleeps in a category.")
    assert found.probes == []
    assert found == FoundTerms()


def test_what_the_model_says_itself_is_left_alone() -> None:
    done = put({"dog": "hund"}, "A dog.", "Ein Hund.", {})
    assert done == ("Ein Hund.", [])


def test_the_models_own_word_gives_way_to_the_wanted_one() -> None:
    assert put({"dog": "Köter"}, "A dog sleeps.", "Ein Hund schläft.", {"dog": "Hund"}) == (
        "Ein Köter schläft.",
        [],
    )


@pytest.mark.parametrize(
    ("probe", "translation", "done"),
    [
        ("Ein Hund.", "Der Hund bellt.", "Der Köter bellt."),
        ("der hund", "Hund und Hund", "Köter und Köter"),
        ("HUND!", "Ein Hund.", "Ein Köter."),
        ("„Hund“", "Ein Hund.", "Ein Köter."),
        ("Hund", "Zwei Hunde schlafen.", "Zwei Köter schlafen."),
    ],
)
def test_a_rendering_is_found_in_spite_of_marks_articles_and_endings(
    probe: str, translation: str, done: str
) -> None:
    assert put({"dog": "Köter"}, "The dog.", translation, {"dog": probe}) == (done, [])


@pytest.mark.parametrize(
    ("probe", "translation"),
    [
        ("Hund", "Hundert Hundehütten und Schäferhund."),  # in no place a word of its own
        ("Katze", "Der Hund bellt."),
        ("", "Der Hund bellt."),
        ("a", "a b c"),
    ],
)
def test_what_cannot_be_found_is_named(probe: str, translation: str) -> None:
    assert put({"dog": "Köter"}, "The dog.", translation, {"dog": probe}) == (translation, ["dog"])


def test_without_probes_only_what_is_there_is_met() -> None:
    glossary = Terms.parse({"dog": "Hund", "cat": "Mieze"})
    found = glossary.find("A dog and a cat.")
    assert glossary.restore("Ein Hund und eine Katze.", found) == (
        "Ein Hund und eine Katze.",
        ["cat"],
    )


def test_the_longest_term_comes_first() -> None:
    done = put(
        {"ice": "Frost", "ice cream": "Gelato"},
        "Ice cream on ice.",
        "Eiscreme auf Eis.",
        {"Ice cream": "Eiscreme", "ice": "Eis"},
    )
    assert done == ("Gelato auf Frost.", [])
    found = Terms.parse({"ice": "Frost", "ice cream": "Gelato"}).find("Ice cream!")
    assert found.probes == ["Ice cream"]


def test_a_word_put_in_is_not_replaced_again() -> None:
    done = put(
        {"dog": "cat", "cat": "dog"},
        "dog cat",
        "hund katze",
        {"dog": "hund", "cat": "katze"},
    )
    assert done == ("cat dog", [])


def test_capitals_of_a_term_matter_and_small_letters_do_not() -> None:
    glossary = Terms.parse({"Apple": "애플", "dog": "개"})
    assert glossary.find("An apple for the Dog.").probes == ["Dog"]
    assert glossary.find("Apple and dog.").probes == ["Apple", "dog"]


def test_a_pair_of_one_word_is_a_wish_like_others_and_not_kept_letter_for_letter() -> None:
    word = "taxi"
    assert Terms.parse({word: word}).find("Taxi!").probes == ["Taxi"]
    assert Terms.parse(None, [word]).find("Taxi!").probes == []


def test_a_sentence_still_begins_with_a_capital() -> None:
    done = put({"students": "élèves"}, "Students.", "Étudiants.", {"Students": "Les étudiants."})
    assert done == ("Élèves.", [])
    done = put({"dog": "iDog"}, "The dog.", "Hund hier. Hund da.", {"dog": "Hund"})
    assert done == ("iDog hier. iDog da.", [])


# -- what is not to be translated ------------------------------------------------------------------


def test_what_is_kept_stands_letter_for_letter() -> None:
    assert put(None, "I use Heedful.", "Ich nutze Heedful.", {}, ["Heedful"]) == (
        "Ich nutze Heedful.",
        [],
    )
    assert put(None, "I use Heedful.", "나는 주의를 쓴다.", {"Heedful": "주의"}, ["Heedful"]) == (
        "나는 Heedful을 쓴다.",
        [],
    )
    assert put(None, "I use Heedful.", "Ich nutze heedful.", {}, ["Heedful"]) == (
        "Ich nutze heedful.",
        ["Heedful"],
    )
    assert put(
        None, "I use Heedful.", "ich nutze heedful", {"Heedful": "heedful"}, ["Heedful"]
    ) == (
        "ich nutze Heedful",
        [],
    )


# -- Korean ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "done"),
    [
        ("의사", "의사는 의사가 의사를 의사와 의사로 의사로서 의사와의 의사의 의사도 의사이다."),
        ("제자님", "제자님은 제자님이 제자님을 제자님과 제자님으로 제자님으로서 제자님과의 "
         "제자님의 제자님도 제자님이다."),
        ("서울", "서울은 서울이 서울을 서울과 서울로 서울로서 서울과의 서울의 서울도 서울이다."),
        ("Heedful", "Heedful은 Heedful이 Heedful을 Heedful과 Heedful로 Heedful로서 Heedful과의 "
         "Heedful의 Heedful도 Heedful이다."),
        ("Galaxy 3", "Galaxy 3은 Galaxy 3이 Galaxy 3을 Galaxy 3과 Galaxy 3으로 Galaxy 3으로서 "
         "Galaxy 3과의 Galaxy 3의 Galaxy 3도 Galaxy 3이다."),
    ],
)  # fmt: skip
def test_particles_take_the_form_the_new_word_demands(wanted: str, done: str) -> None:
    translation = "학생은 학생이 학생을 학생과 학생으로 학생으로서 학생과의 학생의 학생도 학생이다."
    assert put({"student": wanted}, "The student", translation, {"student": "학생"}) == (done, [])


def test_particles_after_a_vowel_change_too() -> None:
    done = put(
        {"tree": "소나무숲"}, "a tree", "나무는 나무가 나무를 나무와 나무로", {"tree": "나무"}
    )
    assert done == ("소나무숲은 소나무숲이 소나무숲을 소나무숲과 소나무숲으로", [])


def test_a_korean_word_is_whole_with_its_particles_only() -> None:
    done = put({"bank": "강둑"}, "a bank", "은행원이 대은행에서 은행을 본다.", {"bank": "은행"})
    assert done == ("은행원이 대은행에서 강둑을 본다.", [])
    assert put({"bank": "강둑"}, "a bank", "은행원", {"bank": "은행"}) == ("은행원", ["bank"])


def test_a_probe_that_came_as_a_sentence_is_still_understood() -> None:
    for probe in ("학생입니다.", "학생이다.", "학생을"):
        assert put({"student": "제자"}, "A student", "그 학생은 온다.", {"student": probe}) == (
            "그 제자는 온다.",
            [],
        )


def test_terms_are_found_in_korean_text() -> None:
    found = Terms.parse({"학교": "school", "서울": "Seoul"}).find("서울에서 학교까지 초등학교")
    assert found.probes == ["학교", "서울"] or found.probes == ["서울", "학교"]
    found = Terms.parse({"학교": "school"}).find("초등학교")
    assert found.probes == []


def test_text_without_spaces_has_words_anywhere() -> None:
    done = put({"school": "学园"}, "the school", "我去学校上课", {"school": "学校"})
    assert done == ("我去学园上课", [])


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("terms", "keep", "message"),
    [
        (
            "dog",
            None,
            "terms is of the type str; expected an object or a list of pairs; "
            'write {"source": "target"}',
        ),
        (
            [["a", "b"], ["c"]],
            None,
            "terms has an item that is not a pair; expected pairs of source and target; "
            'write [["source", "target"], ...] or {"source": "target"}',
        ),
        ({"a": 1}, None, "a term is of the type int; expected a string; put it in quotes"),
        ({"a": " "}, None, "a term is empty; expected at least one character; leave it out"),
        (
            [["a", "b"], ["a", "c"]],
            None,
            "the term 'a' is given twice; expected one translation of it; leave one out",
        ),
        (
            {"a": "b"},
            ["a"],
            "the term 'a' is given twice; expected one translation of it; leave one out",
        ),
        (
            {"a": "x" * 201},
            None,
            f"the term '{'x' * 37}...' has 201 characters; expected at most 200; shorten it",
        ),
        (
            {str(n): "x" for n in range(200)},
            [f"y{n}" for n in range(100)],
            "300 terms are given; expected at most 256; send only those the text has",
        ),
        (
            None,
            "Heedful",
            "the terms to keep are of the type str; expected a list of strings; "
            'write ["name", ...]',
        ),
    ],
)
def test_a_wrong_shape_is_told_in_one_line(terms: object, keep: object, message: str) -> None:
    with pytest.raises(DataError) as caught:
        Terms.parse(terms, keep)
    assert str(caught.value) == message


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)


@settings(max_examples=100)
@given(JSON, JSON, st.text(max_size=30), st.text(max_size=30), st.lists(st.text(max_size=9)))
def test_anything_is_parsed_or_refused(
    terms: object, keep: object, text: str, translation: str, probes: list[str]
) -> None:
    try:
        glossary = Terms.parse(terms, keep)
    except DataError:
        return
    found = glossary.find(text)
    _, unmet = glossary.restore(translation, found, probes)
    assert len(unmet) <= len(found.probes)


WORDS = st.sampled_from(["dog", "cat", "Hund", "나무", "학생이", "ice", "ice cream", "木"])


@settings(max_examples=150)
@given(
    st.dictionaries(WORDS, WORDS, max_size=4),
    st.lists(WORDS, max_size=5).map(" ".join),
    st.lists(WORDS, max_size=5).map(" ".join),
    st.lists(WORDS, max_size=4),
)
def test_a_term_is_met_or_named(
    terms: dict[str, str], text: str, translation: str, probes: list[str]
) -> None:
    glossary = Terms.parse(terms)
    found = glossary.find(text)
    done, unmet = glossary.restore(translation, found, probes)
    for term in found.terms:
        assert term.source in unmet or term.wanted.lower() in done.lower()
    assert glossary.restore(translation, found, probes) == (done, unmet)


def test_hostile_text_takes_time_in_proportion() -> None:
    """Endless particles, or a term everywhere, would meet the timeout of the test run otherwise."""
    glossary = Terms.parse(
        {"학교": "나무", **{f"word{n}": "x" * LONGEST_TERM for n in range(MOST_TERMS - 1)}}
    )
    for text in ("학교" + "이나" * 20_000 + "힣", "학교이나힣 " * 8_000, "word1 word2 " * 8_000):
        found = glossary.find(text)
        glossary.restore(text, found, ["학교", "word1", "word2"])
