"""What the card of a translation model says."""

from __future__ import annotations

from heedful.tasks.contract import Words
from heedful.tasks.translation.settings import Settings

LIMITS = """\
It knows only what its training pairs showed it: text of another kind, names and numbers it has not
seen, and sentences longer than those it was trained on come out worse than the scores say. It
translates sentence by sentence and sees nothing of the sentences around. Fluent output can be
wrong, and biases of the data are biases of the model. Have a person check what matters. The folder
holds the training pairs (`simple.tsv.gz`), for the nearest one: share it as you may them."""
LABELS = {
    "pairs": "sentence pairs",
    "dropped_pairs": "pairs left out by the data check",
    "dev_pairs": "development pairs",
}


def words(settings: Settings) -> Words:
    """Say what the model is, and how far to trust it."""
    source, target = (
        "a language not named" if code == "und" else f"`{code}`"
        for code in (settings.source, settings.target)
    )
    s = settings.model
    return Words(
        sentence=f"A Transformer for translation, from {source} into {target}",
        python='print(model.translate(["..."]))',
        limits=LIMITS,
        sizes={
            "layers": f"{s.encoder_layers} + {s.decoder_layers}, {s.norm}-norm",
            "d_model, d_ff, heads": f"{s.d_model}, {s.d_ff}, {s.n_heads}",
        },
        labels=LABELS,
    )
