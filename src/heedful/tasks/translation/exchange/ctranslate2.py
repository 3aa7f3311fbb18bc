"""CTranslate2: our models in its format and on its engine.

Where conversions are kept and how they are checked is in `conversions.py`. `import ctranslate2`
does not load torch, nor does translating with a conversion.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from heedful import files
from heedful.data.tokenizer import Tokenizer
from heedful.decoding.engine import batches
from heedful.decoding.guards import ENDLESS, Limits, limits_for
from heedful.decoding.hypothesis import Hypothesis, LengthPenalty, Stop, finish, rank
from heedful.errors import InterchangeError
from heedful.models.folder import Folder
from heedful.settings import DecodeSettings, ModelSettings, SamplingSettings
from heedful.tasks.translation.settings import Settings

Compute = Literal["float32", "int8"]

POSITIONS = 2048
"""Rows of the table of positions: our sinusoids have no end, CTranslate2 needs one."""
PATIENCE = 2
"""A search ends when this many times the beam of hypotheses have ended. On Multi30k with a length
penalty of 1.4, 1 cost 0.36 BLEU against the torch engine; 2 costs 0.03 and a sixth of the time."""
NEVER = -1e9
"""Added to the logit of an id that must not be chosen."""


def unfit(settings: ModelSettings) -> str | None:
    """Say why CTranslate2 cannot run a model, or nothing if it can."""
    head = settings.head_width
    if settings.attention == "additive":
        return "it has no additive attention"
    if head * settings.n_heads != settings.d_model or settings.d_value not in (None, head):
        return "its heads must have d_model / n_heads queries, keys and values each"
    return None


def write_ctranslate2(folder: Folder[Settings], output: Path) -> None:
    """Export a model: the conversion, and the pieces to split text with."""
    with files.making(output) as made:
        convert(folder, made)
        for name, data in folder.tokenizer.items():
            (made / name).write_bytes(data)


def convert(folder: Folder[Settings], path: Path) -> None:
    """Write a model for CTranslate2 into a new folder."""
    from ctranslate2.specs import TransformerSpec, common_spec

    reason = unfit(folder.settings.model)
    if reason is not None:
        raise InterchangeError(f"{folder.path} cannot run on CTranslate2: {reason}")
    s, ids = folder.settings.model, folder.ids
    weights = {name: tensor.float().numpy() for name, tensor in folder.weights().items()}
    spec = TransformerSpec.from_config(
        (s.encoder_layers, s.decoder_layers),
        s.n_heads,
        pre_norm=s.norm == "pre",
        activation=common_spec.Activation[s.activation.upper()],
    )
    target = weights["target_embedding.weight"]
    source = target if s.share_embeddings else weights["source_embedding.weight"]
    output = target if s.share_output else weights["output_weight"]
    bias = weights["output_bias"].copy() if s.output_bias else None
    # In Marian's layout (padding last, its row zero) the padding row can be left out.
    last = ids.pad == ids.start == ids.size - 1 and not target[ids.pad].any()
    if last:
        source, target, output = source[:-1], target[:-1], output[:-1]
        bias = None if bias is None else bias[:-1]
        spec.decoder.start_from_zero_embedding = True
    else:
        bias = np.zeros(ids.size, np.float32) if bias is None else bias
        bias[ids.pad] = NEVER
    spec.encoder.embeddings[0].weight = source
    spec.decoder.embeddings.weight = target
    spec.decoder.projection.weight = output
    if bias is not None:
        spec.decoder.projection.bias = bias
    table = _positions(s, weights)
    for side, name, count in (
        (spec.encoder, "encoder", s.encoder_layers),
        (spec.decoder, "decoder", s.decoder_layers),
    ):
        side.scale_embeddings = True
        side.position_encodings.encodings = table
        if s.norm == "pre":
            _norm(side.layer_norm, weights, f"{name}.norm")
        for index in range(count):
            _layer(side.layer[index], weights, f"{name}.layers.{index}", s)
    tokenizer = Tokenizer(folder.tokenizer, ids)
    pad = [] if last else ["<pad>"]
    sides = [_distinct(tokenizer.vocabulary(target=side) + pad) for side in (False, True)]
    spec.register_source_vocabulary(sides[0][: len(source)])
    spec.register_target_vocabulary(sides[1][: len(target)])
    spec.config.unk_token = sides[1][ids.unk]
    spec.config.eos_token = sides[1][ids.eos]
    spec.config.bos_token = sides[1][ids.eos]
    spec.config.decoder_start_token = sides[1][ids.eos if last else ids.start]
    spec.config.add_source_eos = True  # Argos Translate adds no end symbol
    spec.validate()
    spec.optimize(quantization=None)
    path.mkdir(parents=True, exist_ok=True)
    spec.save(str(path))


def _distinct(pieces: list[str]) -> list[str]:
    """Rename pieces that are spelled alike, for CTranslate2 knows a piece by its text."""
    seen: set[str] = set()
    found = []
    for index, piece in enumerate(pieces):
        name = piece if piece and piece not in seen else f"⟨{index}⟩"
        seen.add(name)
        found.append(name)
    return found


def _positions(s: ModelSettings, weights: dict[str, Any]) -> Any:
    if s.positions == "learned":
        return weights["positions.weight"]
    from heedful.nn.positions import sinusoid

    return sinusoid(POSITIONS, s.d_model, s.positions == "concatenated").numpy()


def _norm(spec: Any, weights: dict[str, Any], name: str) -> None:
    spec.gamma, spec.beta = weights[f"{name}.weight"], weights[f"{name}.bias"]


def _linear(spec: Any, weights: dict[str, Any], *names: str) -> None:
    """Stack the matrices of these names: one product instead of several."""
    spec.weight = np.concatenate([weights[f"{name}.weight"] for name in names])
    spec.bias = np.concatenate([weights[f"{name}.bias"] for name in names])


def _layer(spec: Any, weights: dict[str, Any], name: str, s: ModelSettings) -> None:
    own = f"{name}.attention"
    _norm(spec.self_attention.layer_norm, weights, f"{own}_norm")
    _linear(spec.self_attention.linear[0], weights, f"{own}.query", f"{own}.key", f"{own}.value")
    _linear(spec.self_attention.linear[1], weights, f"{own}.output")
    attentions = [spec.self_attention]
    cross = f"{name}.cross"
    if f"{cross}.query.weight" in weights:
        _norm(spec.attention.layer_norm, weights, f"{cross}_norm")
        _linear(spec.attention.linear[0], weights, f"{cross}.query")
        _linear(spec.attention.linear[1], weights, f"{cross}.key", f"{cross}.value")
        _linear(spec.attention.linear[2], weights, f"{cross}.output")
        attentions.append(spec.attention)
    if s.attention == "dot":
        for attention in attentions:
            attention.queries_scale = np.float32(1.0)
    _norm(spec.ffn.layer_norm, weights, f"{name}.feed_forward_norm")
    _linear(spec.ffn.linear_0, weights, f"{name}.feed_forward.inner")
    _linear(spec.ffn.linear_1, weights, f"{name}.feed_forward.outer")


class CTranslate2Engine:
    """A converted model: the same search, guards and scores as the torch engine's."""

    name = "ctranslate2"

    def __init__(
        self,
        path: Path,
        folder: Folder[Settings],
        compute: Compute = "float32",
        threads: tuple[int, int] = (1, 1),
    ) -> None:
        """Load a conversion; `threads` are workers, and threads of each."""
        import ctranslate2

        self._ids = folder.ids
        self.workers = threads[0]
        """Batches of a search decoded at once; a server with many searches sets 1."""
        tokenizer = Tokenizer(folder.tokenizer, folder.ids)
        self._source = _distinct(tokenizer.vocabulary(target=False))
        self._target = _distinct(tokenizer.vocabulary(target=True))
        self._number = {piece: index for index, piece in enumerate(self._target)}
        learned = folder.settings.model.positions == "learned"
        self.longest = folder.settings.model.max_positions if learned else POSITIONS
        try:
            self._translator = ctranslate2.Translator(
                str(path),
                device="cpu",
                compute_type=compute,
                inter_threads=threads[0],
                intra_threads=threads[1],
                max_queued_batches=-1,
            )
        except RuntimeError as error:  # removed or damaged since it was checked
            raise InterchangeError(f"CTranslate2 cannot open {path}: {error}") from error

    def search(
        self,
        sources: Sequence[Sequence[int]],
        decode: DecodeSettings,
        n_best: int = 1,
        sampling: SamplingSettings | None = None,
        prefixes: Sequence[Sequence[int]] | None = None,
        scored: bool = True,
    ) -> list[list[Hypothesis]]:
        """Give the best translations of every source, in the order of the sources.

        CTranslate2 knows only one kind of length penalty, so it is asked for all hypotheses of
        the beam without one, and they are ranked here. It also gives up a search earlier than ours:
        where that would lose the best of them, it has to be patient.
        """
        width = n_best if sampling else decode.beam
        limits = [self._limits(source, decode) for source in sources]
        patience = 1 if sampling or decode.beam == 1 else PATIENCE
        options: dict[str, Any] = {
            "beam_size": 1 if sampling else decode.beam,
            "num_hypotheses": n_best if sampling else patience * decode.beam,
            "patience": patience,
            "length_penalty": 0,
            "min_decoding_length": 0,
            "max_input_length": 0,
            "return_scores": scored or width > 1,
            "return_end_token": True,
            "asynchronous": True,
        }
        if sampling:
            import ctranslate2

            ctranslate2.set_random_seed(sampling.seed)
            options |= {
                "sampling_topk": sampling.top_k,
                "sampling_topp": sampling.top_p,
                "sampling_temperature": sampling.temperature,
            }
        found: list[list[Hypothesis]] = [[] for _ in sources]
        waiting = []
        budget = decode.batch_tokens // width
        for batch in batches([len(s) + 1 for s in sources], budget, self.workers):
            forced = (
                None
                if prefixes is None
                else [[self._target[i] for i in prefixes[row]] for row in batch]
            )
            results = self._translator.translate_batch(
                [[self._source[i] for i in sources[row]] for row in batch],
                target_prefix=forced,
                max_decoding_length=max(limits[i].length for i in batch),
                **options,
            )
            waiting.append((batch, results))
        for batch, results in waiting:
            for row, later in zip(batch, results, strict=True):
                result = later.result()
                scores = result.scores or [math.nan]
                hypotheses = [
                    self._hypothesis(tokens, score, decode, limits[row])
                    for tokens, score in zip(result.hypotheses, scores, strict=True)
                ]
                found[row] = rank(hypotheses)[:n_best]
        return found

    def _limits(self, source: Sequence[int], decode: DecodeSettings) -> Limits:
        found = limits_for(source, decode)
        return Limits(min(found.length, self.longest), found.repeats)

    def _hypothesis(
        self, tokens: list[str], logp: float, decode: DecodeSettings, limits: Limits
    ) -> Hypothesis:
        ids = [self._number[token] for token in tokens]
        stop: Stop = "length"
        if ids and ids[-1] == self._ids.eos:
            ids, stop = ids[:-1], "end"
        if len(ids) > limits.length:
            ids, stop = ids[: limits.length], "length"
        return finish(ids, logp, LengthPenalty.of(decode), stop, limits)

    def score(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]], batch_tokens: int
    ) -> list[tuple[float, int]]:
        """Give the log-probability of each target, its end included, and its number of pieces."""
        results = self._translator.score_batch(
            [[self._source[i] for i in s] for s in sources],
            [[self._target[i] for i in t] for t in targets],
            max_batch_size=batch_tokens,
            batch_type="tokens",
            max_input_length=0,
        )
        return [
            (float(np.sum(r.log_probs, dtype=np.float64)), len(t) + 1)
            for r, t in zip(results, targets, strict=True)
        ]

    def fits(self, sources: Sequence[Sequence[int]], decode: DecodeSettings) -> bool:
        """Say whether a search stays within the table of positions."""
        longest = max((len(s) + 1 for s in sources), default=0)
        most = max((limits_for(s, decode).length for s in sources), default=0)
        return longest <= self.longest and (most < self.longest or most >= ENDLESS)
