"""The settings of translation, each with its only default, and the options of its commands."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from heedful.settings import (
    DecodeSettings,
    ModelSettings,
    Table,
    TaskSettings,
    TokenizerSettings,
    TrainSettings,
)
from heedful.tasks.options import Decoding, Making, Option, Running


class DataSettings(Table):
    """What of the text is used, and how it is put into batches."""

    max_length: int = Field(default=256, ge=4)
    """Pairs with more pieces than this on a side are left out of training."""
    max_characters: int = Field(default=20_000, ge=1)
    """Lines with more characters than this are left out unread."""
    max_ratio: float = Field(default=9.0, gt=1)
    """Pairs whose sides differ in length by more than this factor are left out."""
    dev_size: int | None = Field(default=None, ge=1)
    """Pairs held out for development where none are given; chosen from the data by default."""
    batch_tokens: int = Field(default=8192, ge=8)
    """Positions of a batch, source and target together, padding included."""
    drop_equal: bool = True
    """Leave out pairs whose two sides are the same text."""
    drop_wrong_script: bool = True
    """Leave out pairs with a side in another script than the rest of its side."""


class Settings(TaskSettings):
    """A whole recipe of a translation model."""

    tables: ClassVar[tuple[str, ...]] = ("ids",)

    task: Literal["translation"] = "translation"
    """What is learned."""
    source: str = "und"
    """Language code of the source; `und` where it is not known."""
    target: str = "und"
    """Language code of the target."""
    model: ModelSettings = ModelSettings()
    tokenizer: TokenizerSettings = TokenizerSettings()
    data: DataSettings = DataSettings()
    train: TrainSettings = TrainSettings()
    decode: DecodeSettings = DecodeSettings()


class TrainOptions(Table):
    """Of `heedful train` and `heedful plan`."""

    source: str | None = Option(None, "--from")
    """Source language code, such as ko."""
    target: str | None = Option(None, "--to")
    """Target language code."""


class AnswerOptions(Table):
    """How translations are searched for where they are scored or served."""

    beam: int | None = Option(None, ge=1, le=512)
    """Hypotheses kept; 1 is greedy."""


class EvaluateOptions(AnswerOptions):
    """Of `heedful evaluate`."""

    tokenize: str | None = None
    """sacreBLEU's tokeniser, such as none for tokenised text."""


class FinetuneOptions(Table):
    """Of `heedful finetune`."""

    mix: tuple[Path, ...] = ()
    """Text of the kind it knows, some of which is mixed in: it forgets less."""
    share: float = Option(0.5, "--mix-share")
    """Share of old pairs in what it learns from."""


class ExplainOptions(Table):
    """Of `heedful explain`."""

    translation: str | None = None
    """Explain this translation instead of the model's own."""


class Translate(Decoding):
    """Translate lines: line n out is line n in."""

    model: Path = Option(..., argument=True)
    """The model folder."""
    text: tuple[str, ...] = Option((), argument=True)
    """What to translate; standard input if not given."""
    beam: int | None = None
    """Hypotheses kept; 1 is greedy."""
    n_best: int = Option(1, ge=1)
    """Translations to print for each line, with their scores."""
    sample: bool = False
    """Draw words instead of searching."""
    temperature: float = 1.0
    """With --sample: below 1 the likely words gain, above 1 the unlikely ones."""
    top_k: int = 0
    """With --sample: draw from so many of the likeliest words; 0 is all."""
    top_p: float = 1.0
    """With --sample: draw from the fewest words that together have this probability."""
    seed: int = 1
    """With --sample: the same seed and sentence give the same draw."""
    prefix: str = ""
    """What every translation has to begin with."""
    max_length: int | None = None
    """Pieces a translation may have."""
    no_guards: bool = False
    """Let output grow without end."""
    scores: bool = False
    """Print the score before each line."""


class Distill(Making):
    """Teach a smaller, faster model what a larger one says."""

    teacher: Path = Option(..., argument=True)
    """The model folder."""
    text: Path = Option(..., argument=True)
    """Text in its source language, a sentence a line."""
    preset: str | None = None
    """The student's size; half as wide as the teacher if not given."""


class Backtranslate(Running):
    """Make training pairs from text in the target language alone."""

    model: Path = Option(..., argument=True)
    """A model that translates the other way."""
    text: Path = Option(..., argument=True)
    """Text in the target language, a sentence a line."""
    output: Path = Option(..., "--output", "-o")
    """The TSV of pairs to write."""
    beam: int | None = None
    """Hypotheses kept; 1 is greedy."""
    sample: bool = False
    """Draw words: more varied text, often better to learn from."""
    seed: int = 1
    """With --sample: the same seed gives the same pairs."""
    encoding: str = "utf-8"
    """How the files are written."""


class Demo(Running):
    """Train on the built-in corpus, translate what everybody knows, show the attention."""

    to: str = "fr"
    """fr or ko."""
    output: Path = Option(Path("demo"), "--output", "-o")
    """The model folder to make."""
    minutes: float = Option(4.8, gt=0)
    """Time for the whole demo."""
    seed: int = Option(1, ge=0)
    """Everything random follows from it."""
