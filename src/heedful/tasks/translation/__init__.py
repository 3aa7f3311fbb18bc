"""Translation: pairs of sentences, the Transformer of the paper, BLEU and chrF."""

from __future__ import annotations

from heedful.tasks.contract import Command, Simple, Task, lazy
from heedful.tasks.translation.exchange.formats import FORMATS
from heedful.tasks.translation.settings import (
    AnswerOptions,
    Backtranslate,
    Demo,
    Distill,
    EvaluateOptions,
    ExplainOptions,
    FinetuneOptions,
    Settings,
    TrainOptions,
    Translate,
)

HERE = "heedful.tasks.translation"

TASK = Task(
    name="translation",
    sentence="pairs of texts make a model that translates",
    settings=Settings,
    roles=("source", "target"),
    recipes=HERE,
    options={
        "train": TrainOptions,
        "plan": TrainOptions,
        "evaluate": EvaluateOptions,
        "finetune": FinetuneOptions,
        "explain": ExplainOptions,
        "serve": AnswerOptions,
    },
    claims=lazy(f"{HERE}.preparing:claims"),
    examine=lazy(f"{HERE}.preparing:examine"),
    prepare=lazy(f"{HERE}.preparing:prepare"),
    reopen=lazy(f"{HERE}.preparing:reopen"),
    rows=lazy(f"{HERE}.preparing:rows"),
    evaluated=lazy(f"{HERE}.preparing:evaluated"),
    figures={"perplexity": "a piece of the reference"},
    plan=lazy(f"{HERE}.planning:plan"),
    build=lazy(f"{HERE}.model:build"),
    learner=lazy(f"{HERE}.learning:TranslationLearner"),
    inherit=lazy(f"{HERE}.finetuning:inherit"),
    mix=lazy(f"{HERE}.finetuning:mix"),
    open=lazy(f"{HERE}.using:open_model"),
    answer=lazy(f"{HERE}.judging:answer"),
    judge=lazy(f"{HERE}.judging:judge"),
    measure=lazy(f"{HERE}.judging:measure"),
    apart=lazy(f"{HERE}.judging:apart"),
    simple=Simple(lazy(f"{HERE}.nearest:fit"), "heedful translate {} --simple"),
    tune=lazy(f"{HERE}.judging:tune"),
    words=lazy(f"{HERE}.words:words"),
    told=lambda settings: f"{settings.source} to {settings.target}",
    show=lazy(f"{HERE}.showing:show"),
    formats=FORMATS,
    commands=(
        Command("translate", Translate, lazy(f"{HERE}.commands:translate")),
        Command("distill", Distill, lazy(f"{HERE}.commands:distill")),
        Command("backtranslate", Backtranslate, lazy(f"{HERE}.commands:backtranslate")),
        Command("demo", Demo, lazy(f"{HERE}.commands:demo")),
    ),
    try_it='heedful translate {} "..."',
)
