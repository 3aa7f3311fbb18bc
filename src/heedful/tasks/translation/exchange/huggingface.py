"""Hugging Face, both ways: `MarianMTModel` (post-norm) and `PegasusForConditionalGeneration`.

Both have the positions in halves, sines then cosines. A model of ours that has them in turn is
exported by permuting its residual stream, exactly; config.json says so under "heedful", and the
import undoes it. Nothing here needs transformers: these are files.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from heedful import config as settings_file
from heedful import files
from heedful.data.tokenizer import FILES, JOINT, SOURCE, TARGET, VOCABULARY, Tokenizer
from heedful.errors import HeedfulError, InterchangeError
from heedful.interchange.weights import from_theirs, permutation, to_theirs
from heedful.models.folder import Folder, state
from heedful.models.transformer import Transformer
from heedful.nn.positions import sinusoid
from heedful.settings import TokenIds
from heedful.tasks.translation.exchange.names import table
from heedful.tasks.translation.model import open_folder
from heedful.tasks.translation.settings import Settings

CONFIG, WEIGHTS, OLD_WEIGHTS = "config.json", "model.safetensors", "pytorch_model.bin"
KINDS = {"post": ("marian", "MarianMTModel"), "pre": ("pegasus", "PegasusForConditionalGeneration")}
NEVER = -1e9
"""Bias of the padding, which must never be predicted."""
ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "swish": "swish", "silu": "swish"}
POSITIONS = 1024
"""Rows of the table of positions that Hugging Face makes; the sinusoid itself has no end."""


def write_huggingface(folder: Folder[Settings], output: Path) -> None:
    """Write a model for transformers: weights, configuration, tokeniser, generation settings."""
    s, ids = folder.settings.model, folder.ids
    reasons = {
        "it knows only scaled dot-product attention": s.attention != "scaled",
        "its heads must have d_model / n_heads queries, keys and values each": (
            s.head_width * s.n_heads != s.d_model or s.d_value not in (None, s.head_width)
        ),
        "its positions are not learned": s.positions == "learned",
        "Pegasus has one matrix for both languages and for the output": (
            s.norm == "pre" and not (s.share_embeddings and s.share_output)
        ),
    }
    for reason, holds in reasons.items():
        if holds:
            raise InterchangeError(f"{folder.path} cannot become a Hugging Face model: {reason}")
    order = permutation(s.d_model) if s.positions == "interleaved" else None
    weights = to_theirs(folder.weights(), table(s), order)
    bias = weights.get("final_logits_bias", torch.zeros(ids.size)).clone()
    pad_bias = float(bias[ids.pad])  # unused by us; kept so that an import gives it back unchanged
    bias[ids.pad] = NEVER
    weights["final_logits_bias"] = bias[None]
    if s.norm == "pre":  # Pegasus complains of a file without them
        positions = sinusoid(POSITIONS, s.d_model, concatenated=True)
        for side in ("encoder", "decoder"):
            weights[f"model.{side}.embed_positions.weight"] = positions.clone()
    with files.making(output) as made:
        files.save_tensors(made / WEIGHTS, weights, {"format": "pt"})
        _write_json(made / CONFIG, _config(folder, pad_bias))
        _write_json(made / "generation_config.json", _generation(folder))
        for name, data in _tokenizer_files(folder).items():
            (made / name).write_bytes(data)


def _config(folder: Folder[Settings], pad_bias: float) -> dict[str, Any]:
    s, ids = folder.settings.model, folder.ids
    kind, architecture = KINDS[s.norm]
    notes = {
        "positions": s.positions,
        "source": folder.settings.source,
        "target": folder.settings.target,
        "output_bias": s.output_bias,
        "pad_bias": pad_bias,
        "decode": folder.settings.decode.model_dump(exclude_none=True),
        "joint": JOINT in folder.tokenizer,
    }
    return {
        "architectures": [architecture],
        "model_type": kind,
        "vocab_size": ids.size,
        "decoder_vocab_size": ids.size,
        "d_model": s.d_model,
        "encoder_layers": s.encoder_layers,
        "decoder_layers": s.decoder_layers,
        "encoder_attention_heads": s.n_heads,
        "decoder_attention_heads": s.n_heads,
        "encoder_ffn_dim": s.d_ff,
        "decoder_ffn_dim": s.d_ff,
        "activation_function": s.activation,
        "dropout": s.dropout,
        "attention_dropout": s.attention_dropout,
        "activation_dropout": s.ff_dropout,
        "max_position_embeddings": POSITIONS,
        "static_position_embeddings": True,
        "scale_embedding": True,
        "normalize_before": s.norm == "pre",
        "normalize_embedding": False,
        "share_encoder_decoder_embeddings": s.share_embeddings,
        "tie_word_embeddings": s.share_output,
        "is_encoder_decoder": True,
        "pad_token_id": ids.pad,
        "eos_token_id": ids.eos,
        "bos_token_id": None,
        "decoder_start_token_id": ids.start,
        "forced_eos_token_id": None,
        "tokenizer_class": "MarianTokenizer",
        "torch_dtype": "float32",
        "heedful": notes,
    }


def _generation(folder: Folder[Settings]) -> dict[str, Any]:
    decode, ids = folder.settings.decode, folder.ids
    found: dict[str, Any] = {
        "pad_token_id": ids.pad,
        "eos_token_id": ids.eos,
        "decoder_start_token_id": ids.start,
        "bad_words_ids": [[ids.pad]],
        "num_beams": decode.beam,
        "max_length": decode.max_length or 512,
    }
    if decode.beam > 1:
        # Hugging Face divides by length ** p, without an offset. The two prefer longer translations
        # equally at one length only; at 20 pieces an offset of 5 makes the power four fifths.
        found["length_penalty"] = decode.length_penalty * (20 / (decode.length_offset + 20))
        found["early_stopping"] = False
    return found


def _tokenizer_files(folder: Folder[Settings]) -> dict[str, bytes]:
    """Give the files of a MarianTokenizer: an imported model's own, or ours on both sides."""
    ids = folder.ids
    tokenizer_config = {
        "tokenizer_class": "MarianTokenizer",
        "source_lang": folder.settings.source,
        "target_lang": folder.settings.target,
        "eos_token": "</s>",
        "unk_token": "<unk>",
        "pad_token": "<pad>",
        "model_max_length": POSITIONS,
        "separate_vocabs": FILES[-1] in folder.tokenizer,
        "clean_up_tokenization_spaces": False,
    }
    found = {"tokenizer_config.json": json.dumps(tokenizer_config, indent=2).encode()}
    if JOINT not in folder.tokenizer:
        return {**found, **folder.tokenizer}
    tokenizer = Tokenizer(folder.tokenizer, ids)
    pieces = {piece: index for index, piece in enumerate(tokenizer.vocabulary())}
    pieces["<pad>"] = ids.pad
    if len(pieces) != ids.size:
        raise InterchangeError(
            f"{folder.path} has pieces that are spelled alike; no table names both"
        )
    table = json.dumps(pieces, ensure_ascii=False, indent=1).encode()
    model = folder.tokenizer[JOINT]
    return {**found, SOURCE: model, TARGET: model, VOCABULARY: table}


def read_huggingface(path: Path, output: Path) -> Folder[Settings]:
    """Make a model folder of a MarianMT or Pegasus folder, as published or as we exported it."""
    if not path.is_dir():
        raise InterchangeError(f"{path} is not a folder; give one with a {CONFIG}")
    theirs = _read_json(path / CONFIG)
    norms = {kind: norm for norm, (kind, _) in KINDS.items()}
    if theirs.get("model_type") not in norms:
        raise InterchangeError(
            f"{path / CONFIG} is of a {theirs.get('model_type')} model; "
            f"expected {' or '.join(norms)}"
        )
    norm = norms[theirs["model_type"]]
    notes = theirs.get("heedful") or {}
    weights = _read_weights(path)
    tokenizer = _read_tokenizer(path, joint=bool(notes.get("joint")))
    size = max(theirs["vocab_size"], theirs.get("decoder_vocab_size") or 0)
    ids = TokenIds(
        size=size,
        eos=theirs.get("eos_token_id", 0),
        unk=Tokenizer(tokenizer).ids.unk,
        pad=theirs["pad_token_id"],
        start=theirs.get("decoder_start_token_id", theirs["pad_token_id"]),
    )
    weights, shared, biased = _tidied(weights, theirs, ids)
    model = _model_settings(theirs, path, norm) | {
        "positions": notes.get("positions", "concatenated"),
        "share_embeddings": shared,
        "output_bias": bool(notes.get("output_bias", biased)),
    }
    languages = _languages(path, notes)
    raw = {**languages, "model": model, "decode": notes.get("decode") or _decode(path, theirs)}
    try:
        settings = settings_file.resolve(raw, Settings)
    except HeedfulError as error:
        raise InterchangeError(f"{path / CONFIG}: {error}") from error
    if not settings.model.output_bias:
        del weights["final_logits_bias"]
    elif "pad_bias" in notes:
        weights["final_logits_bias"][ids.pad] = notes["pad_bias"]
    order = permutation(settings.model.d_model) if model["positions"] == "interleaved" else None
    ours = from_theirs(weights, table(settings.model), order)
    _check_shapes(ours, settings, ids)
    folder = Folder.create(output, settings, {"ids": ids.model_dump()}, tokenizer)
    try:
        folder.write_weights(ours)
        folder.write_card(_card(path, settings, theirs))
    except BaseException:
        shutil.rmtree(output, ignore_errors=True)
        raise
    return open_folder(output)


def _model_settings(theirs: Mapping[str, Any], path: Path, norm: str) -> dict[str, Any]:
    for one, other in (
        ("encoder_ffn_dim", "decoder_ffn_dim"),
        ("encoder_attention_heads", "decoder_attention_heads"),
    ):
        if theirs[one] != theirs[other]:
            raise InterchangeError(
                f"{path / CONFIG}: {one} = {theirs[one]} and {other} = {theirs[other]}; "
                f"a model of ours has one for both"
            )
    if not theirs.get("scale_embedding", False):
        raise InterchangeError(
            f"{path / CONFIG}: scale_embedding is false; our embeddings are times sqrt(d_model)"
        )
    if theirs.get("normalize_embedding"):
        raise InterchangeError(f"{path / CONFIG}: normalize_embedding is true; ours are not")
    activation = theirs.get("activation_function", "gelu")
    if activation not in ACTIVATIONS:
        raise InterchangeError(
            f"{path / CONFIG}: activation_function = {activation}; "
            f"expected one of {', '.join(ACTIVATIONS)}"
        )
    return {
        "d_model": theirs["d_model"],
        "d_ff": theirs["encoder_ffn_dim"],
        "n_heads": theirs["encoder_attention_heads"],
        "encoder_layers": theirs["encoder_layers"],
        "decoder_layers": theirs["decoder_layers"],
        "dropout": theirs.get("dropout", 0.1),
        "attention_dropout": theirs.get("attention_dropout", 0.0),
        "ff_dropout": theirs.get("activation_dropout", 0.0),
        "norm": norm,
        "activation": ACTIVATIONS[activation],
        "share_output": theirs.get("tie_word_embeddings", True),
    }


def _tidied(
    weights: dict[str, Tensor], theirs: Mapping[str, Any], ids: TokenIds
) -> tuple[dict[str, Tensor], bool, bool]:
    """Drop copies of tied weights and sinusoids, after checking that they are what they should be.

    Also say whether both languages share their embeddings, and whether there is an output bias.
    """
    weights = {name: tensor.float() for name, tensor in weights.items()}
    sides = [f"model.{side}.embed_tokens.weight" for side in ("encoder", "decoder")]
    shared = bool(theirs.get("share_encoder_decoder_embeddings", True))
    tied = bool(theirs.get("tie_word_embeddings", True))
    if not tied and all(name in weights for name in sides):
        shared = False  # newer versions untie the source embedding with the output
        weights.pop("model.shared.weight", None)
    main = "model.shared.weight" if shared else sides[1]
    copies = [*(sides if shared else []), *(["lm_head.weight"] if tied else [])]
    if main not in weights:  # a file may hold any one of several tied weights
        kept = next((name for name in copies if name in weights), None)
        if kept is not None:
            weights[main] = weights.pop(kept)
    for name in copies:
        copy = weights.pop(name, None)
        if copy is not None and main in weights and not torch.equal(copy, weights[main]):
            raise InterchangeError(f"{name} is not {main}, though config.json says they are tied")
    for side in ("encoder", "decoder"):
        name = f"model.{side}.embed_positions.weight"
        positions = weights.pop(name, None)
        if positions is not None:
            wanted = sinusoid(len(positions), positions.size(1), concatenated=True)
            if not torch.allclose(positions, wanted, atol=1e-3):
                raise InterchangeError(f"{name} is not the sinusoid; such positions cannot be read")
    for name in {*sides, main, "lm_head.weight"}:
        if name in weights:  # the two vocabularies may differ in size
            weights[name] = _longer(weights[name], ids.size, 0.0)
    bias = weights.get("final_logits_bias", torch.zeros(1, ids.size)).flatten()
    bias = _longer(bias, ids.size, NEVER)
    weights["final_logits_bias"] = bias
    others = torch.arange(ids.size) != ids.pad
    return weights, shared, bool(bias[others].any())


def _longer(tensor: Tensor, size: int, value: float) -> Tensor:
    if len(tensor) >= size:
        return tensor
    more = tensor.new_full((size - len(tensor), *tensor.shape[1:]), value)
    return torch.cat([tensor, more])


def _check_shapes(weights: Mapping[str, Tensor], settings: Settings, ids: TokenIds) -> None:
    with torch.device("meta"):
        places = state(Transformer(settings.model, ids))
    for name, place in places.items():
        if weights[name].shape != place.shape:
            raise InterchangeError(
                f"{name} is {tuple(weights[name].shape)}, expected {tuple(place.shape)}, going by "
                f"config.json"
            )


def _read_json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise InterchangeError(f"{path} is missing; give a folder transformers wrote") from None
    except (ValueError, OSError) as error:
        raise InterchangeError(f"{path} cannot be read: {error}") from error
    if not isinstance(found, dict):
        raise InterchangeError(f"{path} is not a table of settings")
    return found


def _read_weights(path: Path) -> dict[str, Tensor]:
    if (path / WEIGHTS).is_file():
        return files.load_tensors(path / WEIGHTS)
    if (path / OLD_WEIGHTS).is_file():
        try:  # the only pickle that is opened, by a loader that accepts nothing but tensors
            found = torch.load(path / OLD_WEIGHTS, map_location="cpu", weights_only=True)
        except Exception as error:
            first = str(error).splitlines()[0]
            raise InterchangeError(
                f"{path / OLD_WEIGHTS} holds more than weights or is damaged: {first}; "
                f"it was not loaded"
            ) from error
        return {str(name): tensor for name, tensor in found.items()}
    raise InterchangeError(f"{path} has neither {WEIGHTS} nor {OLD_WEIGHTS}")


def _read_tokenizer(path: Path, joint: bool) -> dict[str, bytes]:
    wanted = [SOURCE] if joint else [SOURCE, TARGET, VOCABULARY]
    for name in wanted:
        if not (path / name).is_file():
            raise InterchangeError(
                f"{path / name} is missing; a Marian tokeniser has {SOURCE}, {TARGET}, {VOCABULARY}"
            )
    if joint:
        return {JOINT: (path / SOURCE).read_bytes()}
    return {name: (path / name).read_bytes() for name in FILES if (path / name).is_file()}


def _languages(path: Path, notes: Mapping[str, Any]) -> dict[str, str]:
    if notes:
        return {"source": notes.get("source", "und"), "target": notes.get("target", "und")}
    file = path / "tokenizer_config.json"
    theirs = _read_json(file) if file.is_file() else {}
    found = {}
    for side, key in (("source", "source_lang"), ("target", "target_lang")):
        code = theirs.get(key)
        found[side] = code if isinstance(code, str) and 2 <= len(code) <= 3 else "und"
    return found


def _decode(path: Path, theirs: Mapping[str, Any]) -> dict[str, Any]:
    file = path / "generation_config.json"
    generation = {**theirs, **(_read_json(file) if file.is_file() else {})}
    penalty = generation.get("length_penalty")
    return {
        "beam": generation.get("num_beams") or 1,
        "length_penalty": 1.0 if penalty is None else penalty,
        "length_offset": 0.0,
        "split_above": min(512, theirs.get("max_position_embeddings", 512)) // 2,
    }


def _card(path: Path, settings: Settings, theirs: Mapping[str, Any]) -> str:
    kind = theirs.get("architectures", ["a Hugging Face model"])[0]
    return (
        f"# {settings.source} to {settings.target}\n\n"
        f"Imported from {kind}, {path.resolve().name}; its licence and its limits are those of "
        f"the original.\n"
    )


def _write_json(path: Path, facts: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(facts, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
