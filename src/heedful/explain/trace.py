"""What happened in a pass, as data.

Capturing changes no bit of the result: the fused kernel runs as ever, and the weights are computed
beside it, from the same queries, keys and mask. Nothing is threaded through any call, and where
nothing is captured nothing is different.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor

from heedful.models.transformer import Transformer
from heedful.nn.attention import Attention

__all__ = ["Attended", "attended", "capture"]


@contextmanager
def capture(model: Transformer) -> Iterator[dict[str, Tensor]]:
    """Record the attention weights of every attention by its name, while the block runs."""
    found: dict[str, Tensor] = {}
    modules = {name: m for name, m in model.named_modules() if isinstance(m, Attention)}

    def watch(name: str, module: Attention) -> None:
        original = module.heads

        def heads(q: Tensor, k: Tensor, v: Tensor, keep: Tensor | None) -> Tensor:
            found[name] = module.weights(q, k, keep).detach()
            return original(q, k, v, keep)

        module.heads = heads  # type: ignore[method-assign]

    for name, module in modules.items():
        watch(name, module)
    try:
        yield found
    finally:
        for module in modules.values():
            del module.heads  # the method of the class is there again


@dataclass(frozen=True)
class Attended:
    """The weights of all heads for one sentence and its translation; layer, head, query, key."""

    source: list[str]
    """Source pieces, the end symbol included."""
    target: list[str]
    """Target pieces as the decoder read them: the start symbol first."""
    encoder: Tensor
    decoder: Tensor
    cross: Tensor


@torch.inference_mode()
def attended(
    model: Transformer, source: list[int], target: list[int], pieces: list[list[str]]
) -> Attended:
    """Run one pass over a source and its target, and give all attention weights of it.

    `source` is without the end symbol, `target` without start and end; `pieces` are the names of
    both, in the same way.
    """
    ids = model.ids
    with capture(model) as found:
        memory = model.encode(torch.tensor([[*source, ids.eos]]), torch.tensor([len(source) + 1]))
        model.decode(torch.tensor([[ids.start, *target]]), memory)

    def stack(kind: str, layers: int) -> Tensor:
        part, name = kind.split(".")
        return torch.stack([found[f"{part}.layers.{i}.{name}"][0] for i in range(layers)])

    s = model.settings
    return Attended(
        [*pieces[0], "</s>"],
        ["<s>", *pieces[1]],
        stack("encoder.attention", s.encoder_layers),
        stack("decoder.attention", s.decoder_layers),
        stack("decoder.cross", s.decoder_layers),
    )
