"""Small models with random weights and real tokenisers, for the tests of interchange."""

from __future__ import annotations

import functools
import itertools
from pathlib import Path

import torch

from heedful.data import grammar
from heedful.data.tokenizer import Tokenizer, learn
from heedful.models.folder import Folder, state
from heedful.models.transformer import Transformer
from heedful.settings import DecodeSettings, ModelSettings, TokenizerSettings
from heedful.tasks.translation.model import load_model, open_folder
from heedful.tasks.translation.settings import Settings

SENTENCES = [
    text for s in itertools.islice(grammar.generate(1), 200) for text in (s.en, s.text("ko"))
]
SMALL = {"d_model": 24, "d_ff": 37, "n_heads": 3, "encoder_layers": 2, "decoder_layers": 3}


@functools.cache
def pieces() -> dict[str, bytes]:
    return learn(SENTENCES, TokenizerSettings(vocab_size=500))


def make(path: Path, seed: int = 1, sharp: float = 3.0, **model: object) -> Folder:
    """A folder whose model says something definite: its weights are larger than at the start."""
    tokenizer = Tokenizer(pieces())
    sizes = ModelSettings.model_validate({**SMALL, **model})
    settings = Settings(source="en", target="ko", model=sizes, decode=DecodeSettings(beam=3))
    folder = Folder.create(path, settings, {"ids": tokenizer.ids.model_dump()}, tokenizer.files)
    torch.manual_seed(seed)
    network = Transformer(sizes, tokenizer.ids)
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if name.startswith(("encoder", "decoder")) and parameter.dim() == 2:
                parameter.mul_(sharp)
            if name.endswith("bias"):
                parameter.normal_(std=0.3)
    folder.write_weights(state(network))
    folder.write_card("# card\n")
    return open_folder(path)


def logits(model: Transformer, sources: list[list[int]], targets: list[list[int]]) -> torch.Tensor:
    """Logits of a padded batch; positions past a target's end are the caller's to leave out."""
    from heedful.data.padding import pad

    ids = model.ids
    source, lengths = pad([[*s, ids.eos] for s in sources], ids.pad)
    target, target_lengths = pad([[ids.start, *t] for t in targets], ids.pad)
    with torch.inference_mode():
        return model(source, lengths, target, target_lengths)


def loaded(folder: Folder) -> Transformer:
    return load_model(folder)
