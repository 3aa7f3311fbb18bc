from __future__ import annotations

from heedful import __version__
from heedful.metrics import Score
from heedful.settings import ModelSettings, TrainSettings
from heedful.tasks.card import card
from heedful.tasks.translation import TASK
from heedful.tasks.translation.settings import Settings

SETTINGS = Settings(
    source="ko",
    model=ModelSettings(d_model=6, d_ff=11, n_heads=3, encoder_layers=2, decoder_layers=1),
    train=TrainSettings(seed=12345),
)


def test_the_card_says_what_was_done_and_how_to_use_it() -> None:
    dev = Score("chrF", 43.21, 42.04, 44.49, "nrefs:1|bs:1000|version:2.6.0")
    test = Score("BLEU", 17.0, None, None, "nrefs:1|tok:13a")
    facts = {
        "name": "my model",
        "parameters": 63_082_496,
        "verdict": "nearest training sentence: BLEU 12.3 ...",
        "pairs": 29_000,
        "dev_pairs": 1_014,
        "dropped_pairs": 0,
        "steps": 4_700,
        "minutes": 28.04,
        "early_stop": None,
        "weights": "mean of 5",
        "scores": {"dev": [vars(dev)], "test": [vars(test)]},
    }
    before = dict(facts)
    lines = card(TASK, SETTINGS, facts).splitlines()
    for line in (
        "# my model",
        "A Transformer for translation, from `ko` into a language not named, trained with "
        f"Heedful {__version__}.",
        "heedful translate 'my model' \"...\"",
        'model = heedful.load("my model")',
        'print(model.translate(["..."]))',
        "## Is something simpler as good?",
        "nearest training sentence: BLEU 12.3 ...",
        "| seed | 12345 |",
        "| sentence pairs | 29,000 |",
        "| pairs left out by the data check | 0 |",
        "| development pairs | 1,014 |",
        "| steps | 4,700 |",
        "| minutes | 28.0 |",
        "| weights | mean of 5 |",
        "| parameters | 63,082,496 |",
        "| layers | 2 + 1, post-norm |",
        "| d_model, d_ff, heads | 6, 11, 3 |",
        "On the development set:",
        r"| chrF | 43.2 | 42.0 to 44.5 | nrefs:1\|bs:1000\|version:2.6.0 |",
        "On the test set:",
        r"| BLEU | 17.0 | not computed | nrefs:1\|tok:13a |",
        "## Limits",
    ):
        assert line in lines, line
    assert not any("early" in line for line in lines)
    assert facts == before


def test_a_card_without_facts_still_says_how_to_use_the_folder() -> None:
    lines = card(TASK, SETTINGS, {}).splitlines()
    assert lines[0] == "# A translation model"
    assert 'heedful translate FOLDER "..."' in lines
    assert "None yet." in lines
