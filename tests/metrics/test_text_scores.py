from __future__ import annotations

import math
import random
import re
import subprocess
import sys

import pytest
from sacrebleu.metrics.base import Metric
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from heedful import metrics
from heedful.errors import ConfigError, DataError

WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]


def corpus(seed: int, size: int, share: float) -> tuple[list[str], list[str]]:
    """Give translations with this share of the words wrong, and their references."""
    draw = random.Random(seed)
    references = [draw.choices(WORDS, k=11) for _ in range(size)]
    translations = [
        [draw.choice(WORDS) if draw.random() < share else w for w in r] for r in references
    ]
    return [" ".join(t) for t in translations], [" ".join(r) for r in references]


def chrf(translations: list[str], references: list[str]) -> metrics.Judged:
    """Give chrF alone, which leads where the target is Korean."""
    return next(metrics.judged(translations, references, "ko"))


def compared(
    system: list[str],
    baseline: list[str],
    references: list[str],
    language: str = "en",
    samples: int = 1000,
) -> list[metrics.Comparison]:
    """Compare two systems by each of their scores."""
    both = (metrics.judged(texts, references, language) for texts in (system, baseline))
    return [metrics.compare(one, other, samples) for one, other in zip(*both, strict=True)]


def test_importing_the_metrics_loads_neither_sacrebleu_nor_numpy() -> None:
    code = (
        "import sys, heedful.metrics; print(*({'sacrebleu', 'numpy', 'torch'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == ""


def test_a_perfect_translation_has_100_in_both_scores() -> None:
    text = ["The animal did not cross the street.", "It was too tired."]
    assert [s.value for s in metrics.judged(text, text, "en")] == pytest.approx([100, 100])


def test_bleu_of_five_words_with_one_wrong_is_what_one_computes_by_hand() -> None:
    # 4 of 5 words, 3 of 4 pairs, 2 of 3 triples, 1 of 2 fours: the product is 1/5
    score = metrics.bleu(["a b c d x"], ["a b c d e"])
    assert score.value == pytest.approx(100 * (1 / 5) ** (1 / 4))


def test_bleu_of_a_translation_too_short_pays_the_brevity_penalty_and_nothing_else() -> None:
    assert metrics.bleu(["a b c d"], ["a b c d e"]).value == pytest.approx(
        100 * math.exp(1 - 5 / 4)
    )


def test_bleu_is_counted_over_the_corpus_not_averaged_over_sentences() -> None:
    # together 8 of 9 words, 6 of 7 pairs, 4 of 5 triples, 2 of 3 fours
    score = metrics.bleu(["a b c d x", "f g h i"], ["a b c d e", "f g h i"])
    assert score.value == pytest.approx(100 * (8 / 9 * 6 / 7 * 4 / 5 * 2 / 3) ** (1 / 4))


def test_chrf_of_three_letters_with_one_wrong_is_what_one_computes_by_hand() -> None:
    # 2 of 3 letters, 1 of 2 pairs, 0 of 1 triples; precision and recall are equal
    assert chrf(["abc"], ["abd"]).value == pytest.approx(100 * (2 / 3 + 1 / 2 + 0) / 3)


def test_chrf_takes_no_notice_of_spaces_and_prefers_recall() -> None:
    assert chrf(["나는학생이다"], ["나는 학생 이다"]).value == pytest.approx(100)
    short, long = chrf(["abcd"], ["abcdefgh"]), chrf(["abcdefgh"], ["abcd"])
    assert short.value < long.value


def test_texts_with_nothing_in_common_have_0() -> None:
    assert [s.value for s in metrics.judged(["abc def"], ["xyz uvw"], "en")] == [0, 0]


@pytest.mark.parametrize(
    ("language", "names", "tokenizer"),
    [
        ("en", ["BLEU", "chrF"], "13a"),
        ("und", ["BLEU", "chrF"], "13a"),
        ("ko", ["chrF", "BLEU"], "13a"),
        ("kor", ["chrF", "BLEU"], "13a"),
        ("zh", ["chrF", "BLEU"], "zh"),
        ("zh-Hant", ["chrF", "BLEU"], "zh"),
        ("zh_TW", ["chrF", "BLEU"], "zh"),
        ("ja", ["chrF", "BLEU"], "char"),
        ("th", ["chrF", "BLEU"], "char"),
        ("bur", ["chrF", "BLEU"], "char"),
        ("yue", ["chrF", "BLEU"], "zh"),
    ],
)
def test_the_target_language_chooses_the_leading_score_and_the_tokeniser(
    language: str, names: list[str], tokenizer: str
) -> None:
    scores = {s.name: s for s in metrics.judged(["我是学生。"], ["我是学生。"], language)}
    assert list(scores) == names
    assert f"|tok:{tokenizer}|" in scores["BLEU"].signature
    assert metrics.bleu_tokenizer(language) == tokenizer


def test_the_signature_tells_how_it_was_counted() -> None:
    plain = metrics.bleu(["a b c d"], ["a b c d"], tokenize="none").signature
    assert re.fullmatch(
        r"nrefs:1\|bs:1000\|seed:12345\|case:mixed\|eff:no\|tok:none\|smooth:exp\|version:[\d.]+",
        plain,
    )
    assert list(metrics.judged(["a"], ["a"], "ko", "none"))[1].signature == plain
    assert re.fullmatch(
        r"nrefs:1\|bs:1000\|seed:12345\|case:mixed\|eff:yes\|nc:6\|nw:0\|space:no\|version:[\d.]+",
        chrf(["a b c d"], ["a b c d"]).signature,
    )


@pytest.mark.parametrize(("name", "theirs"), [("BLEU", BLEU()), ("chrF", CHRF())])
def test_value_interval_and_signature_are_those_sacrebleu_prints(
    name: str, theirs: Metric, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SACREBLEU_SEED", raising=False)
    translations, references = corpus(seed=3, size=97, share=0.3)
    ours = next(
        metrics.scored(judged)
        for judged in metrics.judged(translations, references, "en")
        if judged.name == name
    )
    score = theirs.corpus_score(translations, [references], n_bootstrap=1000)
    assert ours.value == pytest.approx(score.score)
    assert ours.low is not None
    assert ours.high is not None
    assert ours.low < ours.value < ours.high
    assert (ours.high - ours.low) / 2 == pytest.approx(score._ci, rel=1e-5)
    assert ours.signature == str(theirs.get_signature())


def test_the_interval_does_not_depend_on_the_environment_or_on_numpys_own_seed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    translations, references = corpus(seed=5, size=23, share=0.3)
    before = metrics.scored(metrics.bleu(translations, references))
    monkeypatch.setenv("SACREBLEU_SEED", "none")
    assert metrics.scored(metrics.bleu(translations, references)) == before


def test_text_that_looks_tokenised_raises_no_warning(caplog: pytest.LogCaptureFixture) -> None:
    sentences = ["ein Hund läuft über die Straße ."] * 150
    list(metrics.judged(sentences, sentences, "de"))
    list(metrics.judged(sentences, sentences, "ko"))
    metrics.bleu(sentences, sentences, tokenize="none")
    assert caplog.records == []


def test_two_equal_systems_differ_by_nothing_and_surely_by_luck() -> None:
    translations, references = corpus(seed=7, size=31, share=0.3)
    for found in compared(translations, translations, references, samples=100):
        assert (found.difference, found.p_value) == (0, 1)


def test_one_sentence_alone_makes_no_significant_difference() -> None:
    translations, references = corpus(seed=7, size=101, share=0.3)
    other = ["", *translations[1:]]
    for found in compared(translations, other, references):
        assert found.difference > 0
        assert found.p_value > 0.1


def test_a_much_better_system_is_significantly_better_seen_from_either_side() -> None:
    good, references = corpus(seed=11, size=101, share=0.1)
    bad, same = corpus(seed=11, size=101, share=0.5)
    assert same == references
    forth = compared(good, bad, references, samples=200)
    back = compared(bad, good, references, samples=200)
    for one, other in zip(forth, back, strict=True):
        assert one.difference > 10
        assert one.p_value < 0.01
        assert one.difference == -other.difference == one.system - one.baseline
        assert one.p_value == other.p_value


def test_a_comparison_reports_the_scores_themselves_the_leading_one_first() -> None:
    first, references = corpus(seed=13, size=17, share=0.2)
    second = [text.replace("one", "two") for text in first]
    found = compared(first, second, references, "ko", samples=10)
    assert [f.name for f in found] == ["chrF", "BLEU"]
    assert [f.system for f in found] == [s.value for s in metrics.judged(first, references, "ko")]
    assert [f.baseline for f in found] == [
        s.value for s in metrics.judged(second, references, "ko")
    ]


def test_a_coin_has_perplexity_2_and_a_diverged_model_an_infinite_one() -> None:
    assert metrics.perplexity(7 * math.log(2), 7) == pytest.approx(2)
    assert metrics.perplexity(1e6, 1) == math.inf
    assert math.isnan(metrics.perplexity(math.nan, 3))


def test_exact_sentences_are_counted_by_what_a_reader_sees() -> None:
    decomposed = "\u1112\u1161\u11ab"  # the three jamo of the syllable 한
    assert metrics.exact(["한", " a b ", "a b", "A"], [decomposed, "a b", "a  b", "a"]) == 2 / 4


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: metrics.bleu(["a"], ["a", "b"]),
            "1 translations do not match 2 references; give one line for each",
        ),
        (
            lambda: list(metrics.judged(["a", "b", "c"], ["a"], "ko")),
            "3 translations do not match 1 references; give one line for each",
        ),
        (
            lambda: metrics.compare(metrics.bleu(["a"], ["a"]), metrics.bleu(["a"] * 2, ["a"] * 2)),
            "1 answers do not match 2 answers of the other; give one line for each",
        ),
        (
            lambda: chrf([], []),
            "there are no translations to score; give at least one line",
        ),
        (
            lambda: metrics.exact([], []),
            "there are no translations to score; give at least one line",
        ),
        (
            lambda: metrics.perplexity(0.0, 0),
            "perplexity over 0 tokens has no meaning; score at least one token",
        ),
    ],
)
def test_nothing_to_score_and_unequal_counts_are_refused(call, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        call()


def test_an_unknown_tokeniser_gets_the_list_of_those_there_are() -> None:
    with pytest.raises(ConfigError) as caught:
        metrics.bleu(["a"], ["a"], tokenize="14a")
    assert str(caught.value) == (
        f"BLEU tokeniser '14a' is not known; expected one of {', '.join(sorted(BLEU.TOKENIZERS))}"
    )


def test_a_tokeniser_whose_package_is_not_here_says_what_to_use(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "mecab_ko", None)  # absent, whatever is installed
    monkeypatch.delitem(sys.modules, "sacrebleu.tokenizers.tokenizer_ko_mecab", raising=False)
    with pytest.raises(ConfigError) as caught:
        metrics.bleu(["a"], ["a"], tokenize="ko-mecab")
    assert str(caught.value) == (
        "BLEU tokeniser 'ko-mecab' cannot be used: it needs a package or a download that is not "
        "here; use 13a, intl, zh, char or none, or install what it needs"
    )
