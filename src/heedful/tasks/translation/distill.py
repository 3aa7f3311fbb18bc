"""`heedful distill`: a smaller model that learns what a larger one says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from heedful import config
from heedful.machine import decoding_workers
from heedful.models.folder import Folder
from heedful.settings import ModelSettings
from heedful.tasks.comparison import Compared, compare
from heedful.tasks.contract import Request, Train
from heedful.tasks.translation import planning
from heedful.tasks.translation.corpus import development_pairs
from heedful.tasks.translation.model import open_folder
from heedful.tasks.translation.pairs import (
    rewrite_pairs,
    text_folder,
    translate_to_pairs,
    write_pairs,
)
from heedful.tasks.translation.settings import Settings
from heedful.tasks.translation.using import Translator
from heedful.train.report import Report
from heedful.train.world import in_one_process

STUDENT = 1 / 3
"""A student has at most this share of its teacher's parameters."""


def distill(
    teacher: Path,
    text: Path,
    request: Request,
    train: Train,
    report: Report,
    started: float,
) -> Compared:
    """Teach a smaller model what a larger one says: sequence-level knowledge distillation.

    The teacher translates text of its source language, and the student learns from that: it is
    more regular than what people write, so a third of the parameters is enough. `train` is
    the command of that name.
    """
    in_one_process("distill")
    folder = open_folder(teacher)
    made = text_folder(request.output)
    said = made / "teacher.tsv"
    translator = Translator.load(teacher, workers=decoding_workers(request.threads), engine="torch")
    count = translate_to_pairs(translator, text, said, encoding=request.encoding, report=report)
    report.note(f"the teacher has translated {count:,} lines: {said}")
    dev = rewrite_pairs(request.dev, request, made / "dev.tsv")
    if not dev and (known := development_pairs(teacher)):
        dev = (write_pairs(made / "dev.tsv", known),)
    settings = config.merge(_student(folder), request.settings or {})
    request = request.but(
        files=(Path(f"{said}:1,2"),),
        dev=dev,
        test=rewrite_pairs(request.test, request, made / "test.tsv"),
        columns=None,
        encoding="utf-8",
        parent=teacher,
        inherit="pieces",
        settings=settings,
    )
    result = train(request, report, started)
    if not result.finished:
        return Compared(result)
    sets = {"development set": development_pairs(request.output)}
    return compare(teacher, request.output, sets, result, report, request.threads)


def _student(folder: Folder[Settings]) -> dict[str, Any]:
    """Give a student's settings: half as wide, then narrower, until it is a third."""
    teacher, m = folder.settings, folder.settings.model
    facts = planning.Facts(1, 1, 1, 1, folder.ids.size)
    most = STUDENT * planning.estimate(m, facts).parameters
    model = m.model_dump(exclude_none=True, exclude={"d_head", "d_value"}) | {"dropout": 0.1}
    step = 2 * m.n_heads  # every head has as much, and a sinusoid needs an even width
    for width in range(max(step, m.d_model // 2 // step * step), 0, -step):
        model |= {"d_model": width, "d_ff": max(1, m.d_ff * width // m.d_model)}
        small = config.part(ModelSettings, model, "model.")
        if planning.estimate(small, facts).parameters <= most:
            break
    return {
        "source": teacher.source,
        "target": teacher.target,
        "model": model,
        "tokenizer": teacher.tokenizer.model_dump() | {"regularisation": 0.0},
        "decode": teacher.decode.model_dump(exclude_none=True),
    }
