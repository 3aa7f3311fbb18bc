"""Hugging Face both ways: the same logits, the same text, the same weights again."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from heedful.data.padding import pad
from heedful.data.text import normalise
from heedful.data.tokenizer import JOINT, Tokenizer
from heedful.errors import InterchangeError
from heedful.models.transformer import Transformer
from heedful.settings import DecodeSettings
from heedful.tasks.translation.exchange.huggingface import read_huggingface, write_huggingface
from heedful.tasks.translation.model import open_folder
from heedful.tasks.translation.using import Translator
from model_case import SENTENCES, loaded, logits, make, pieces

transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.filterwarnings("ignore")  # theirs, such as what they recommend to install

SOURCES = [[5, 300, 21, 8, 90], [44], [7, 7, 301, 12, 13, 14, 15, 16]]
TARGETS = [[9, 60], [211, 30, 31, 32, 33, 80], [5, 5, 5]]


def theirs(model: Any, ours: Transformer) -> Tensor:
    """Their logits of the same batch."""
    ids = ours.ids
    source, lengths = pad([[*s, ids.eos] for s in SOURCES], ids.pad)
    target, _ = pad([[ids.start, *t] for t in TARGETS], ids.pad)
    keep = (torch.arange(source.size(1)) < lengths[:, None]).long()
    with torch.inference_mode():
        found: Tensor = model(
            input_ids=source, attention_mask=keep, decoder_input_ids=target
        ).logits
    return found


def furthest(a: Tensor, b: Tensor, pad_id: int) -> float:
    """The largest difference, over what is real: no position of padding, no padding predicted."""
    words = [i for i in range(a.size(-1)) if i != pad_id]
    return max(
        float((a[row, : len(t) + 1][:, words] - b[row, : len(t) + 1][:, words]).abs().max())
        for row, t in enumerate(TARGETS)
    )


def same(ours: list[str], made: Tensor, tokenizer: Any, beam: int) -> None:
    """Compare texts; with a beam, those that ended: at the limit theirs prefers what it cut."""
    texts = tokenizer.batch_decode(made, skip_special_tokens=True)
    ended = (made[:, 1:] == tokenizer.eos_token_id).any(1).tolist()
    for one, other, whole in zip(ours, texts, ended, strict=True):
        assert one == normalise(other) or (beam > 1 and not whole)


def load(path: Path) -> Any:
    return transformers.AutoModelForSeq2SeqLM.from_pretrained(path).eval()


def tiny(path: Path, kind: str, **changes: Any) -> Any:
    """Write a random model of theirs, with a tokeniser made as theirs are."""
    torch.manual_seed(2)
    tokenizer = Tokenizer(pieces())
    size = tokenizer.ids.size
    names = {"marian": ("MarianConfig", "MarianMTModel")} | {
        "pegasus": ("PegasusConfig", "PegasusForConditionalGeneration")
    }
    config, model = (getattr(transformers, name) for name in names[kind])
    given = {
        "vocab_size": size,
        "d_model": 24,
        "encoder_layers": 2,
        "decoder_layers": 3,
        "encoder_attention_heads": 3,
        "decoder_attention_heads": 3,
        "encoder_ffn_dim": 37,
        "decoder_ffn_dim": 37,
        "activation_function": "swish",
        "scale_embedding": True,
        "pad_token_id": size - 1,
        "decoder_start_token_id": size - 1,
        "eos_token_id": 0,
        "forced_eos_token_id": None,
        "init_std": 0.3,
        "max_position_embeddings": 128,
    }
    made = model(config(**(given | changes))).eval()
    made.generation_config.bad_words_ids = [[size - 1]]
    made.final_logits_bias.normal_()
    made.final_logits_bias[0, 0] = 8.0  # so that some translations end, soon or late
    made.final_logits_bias[0, -1] = -1e9  # theirs gives the padding a share of the softmax
    made.save_pretrained(path)
    # A published vocabulary has its own ids: here every piece has moved, and one is left out.
    names_of = tokenizer.vocabulary()
    order = [0, 1, *range(len(names_of) - 1, 1, -1)]
    table = {names_of[piece]: index for index, piece in enumerate(order)}
    table["<pad>"] = size - 1
    del table[names_of[40]]
    path.joinpath("vocab.json").write_text(json.dumps(table), encoding="utf-8")
    for name in ("source.spm", "target.spm"):
        path.joinpath(name).write_bytes(pieces()[JOINT])
    told = {"tokenizer_class": "MarianTokenizer", "source_lang": "en", "target_lang": "ko"}
    path.joinpath("tokenizer_config.json").write_text(json.dumps(told))
    return load(path)


KINDS = [
    ("marian", {}),
    ("marian", {"activation_function": "relu"}),
    ("marian", {"share_encoder_decoder_embeddings": False}),
    ("marian", {"tie_word_embeddings": False}),
    ("pegasus", {}),
]


@pytest.mark.parametrize(("kind", "changes"), KINDS)
def test_an_imported_model_gives_their_logits(
    tmp_path: Path, kind: str, changes: dict[str, Any]
) -> None:
    model = tiny(tmp_path / "theirs", kind, **changes)
    ours = loaded(read_huggingface(tmp_path / "theirs", tmp_path / "ours"))
    assert furthest(theirs(model, ours), logits(ours, SOURCES, TARGETS), ours.ids.pad) < 1e-5


@pytest.mark.parametrize(("kind", "changes"), KINDS)
@pytest.mark.parametrize(("beam", "penalty"), [(1, None), (4, None), (4, 0.0), (4, 1.5)])
def test_an_imported_model_writes_their_text(
    tmp_path: Path, kind: str, changes: dict[str, Any], beam: int, penalty: float | None
) -> None:
    model = tiny(tmp_path / "theirs", kind, **changes)
    model.generation_config.num_beams = beam
    if penalty is not None:
        model.generation_config.length_penalty = penalty
    model.generation_config.save_pretrained(tmp_path / "theirs")
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "theirs")
    texts = SENTENCES[:40:4]
    read_huggingface(tmp_path / "theirs", tmp_path / "ours")
    translator = Translator.load(tmp_path / "ours", engine="torch")
    how: dict[str, Any] = {"max_length": 20, "guards": False, "split_above": 512}
    found = translator.translate(texts, **how)
    if penalty == 1.5 and not changes:  # it decides there
        assert found != translator.translate(texts, length_penalty=0.0, **how)
    given = tokenizer(texts, return_tensors="pt", padding=True)
    assert given["input_ids"][0].tolist()[: len(translator.tokenizer.encode(texts[0]))] == (
        translator.tokenizer.encode(texts[0])
    )
    with torch.inference_mode():
        made = model.generate(**given, max_new_tokens=20, do_sample=False)
    same(found, made, tokenizer, beam)


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("positions", ["interleaved", "concatenated"])
@pytest.mark.parametrize("bias", [False, True])
def test_an_exported_model_gives_our_logits_and_comes_back_to_the_bit(
    tmp_path: Path, norm: str, positions: str, bias: bool
) -> None:
    folder = make(tmp_path / "ours", norm=norm, positions=positions, output_bias=bias)
    write_huggingface(folder, tmp_path / "theirs")
    ours = loaded(folder)
    far = furthest(
        theirs(load(tmp_path / "theirs"), ours), logits(ours, SOURCES, TARGETS), ours.ids.pad
    )
    assert far < 2e-5
    again = read_huggingface(tmp_path / "theirs", tmp_path / "again")
    assert again.tokenizer == folder.tokenizer
    assert again.ids == folder.ids
    assert again.settings.model == folder.settings.model
    assert again.settings.decode == folder.settings.decode
    before, after = folder.weights(), again.weights()
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("beam", [1, 4])
def test_an_exported_model_writes_our_text(tmp_path: Path, norm: str, beam: int) -> None:
    folder = make(tmp_path / "ours", norm=norm, output_bias=True)
    weights = folder.weights()
    weights["output_bias"][folder.ids.eos] = 5.0  # so that some end, soon or late
    folder.write_weights(weights)
    decode = DecodeSettings(beam=beam, length_penalty=1.25, length_offset=0)
    folder = folder.write_settings(folder.settings.model_copy(update={"decode": decode}))
    write_huggingface(folder, tmp_path / "theirs")
    texts = SENTENCES[1:100:8]
    translator = Translator.load(folder.path, engine="torch")
    how: dict[str, Any] = {"max_length": 20, "guards": False, "split_above": 512}
    ours = translator.translate(texts, **how)
    assert (ours != translator.translate(texts, length_penalty=0.0, **how)) == (beam > 1)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "theirs")
    given = tokenizer(texts, return_tensors="pt", padding=True)
    with torch.inference_mode():
        made = load(tmp_path / "theirs").generate(**given, max_new_tokens=20)
    same(ours, made, tokenizer, beam)


def test_an_imported_model_goes_out_and_comes_back_to_the_bit(tmp_path: Path) -> None:
    tiny(tmp_path / "theirs", "marian", share_encoder_decoder_embeddings=False)
    first = read_huggingface(tmp_path / "theirs", tmp_path / "first")
    write_huggingface(first, tmp_path / "out")
    second = read_huggingface(tmp_path / "out", tmp_path / "second")
    assert first.tokenizer == second.tokenizer
    one, other = first.weights(), second.weights()
    assert one.keys() == other.keys()
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_a_tensor_too_many_or_too_few_is_named(tmp_path: Path) -> None:
    from heedful import files

    tiny(tmp_path / "theirs", "marian")
    path = tmp_path / "theirs" / "model.safetensors"
    whole = files.load_tensors(path)
    name = "model.decoder.layers.2.encoder_attn.q_proj.bias"
    files.save_tensors(path, {k: v for k, v in whole.items() if k != name})
    with pytest.raises(InterchangeError, match=f"lacks {name}"):
        read_huggingface(tmp_path / "theirs", tmp_path / "ours")
    files.save_tensors(path, whole | {"model.extra.weight": torch.ones(3)})
    with pytest.raises(InterchangeError, match=r"nothing uses, model\.extra\.weight"):
        read_huggingface(tmp_path / "theirs", tmp_path / "ours")
    assert not (tmp_path / "ours").exists()


def test_old_weights_are_read_without_running_anything(tmp_path: Path) -> None:
    from heedful import files

    model = tiny(tmp_path / "theirs", "marian")
    path = tmp_path / "theirs" / "model.safetensors"
    whole = files.load_tensors(path)
    path.unlink()
    old = tmp_path / "theirs" / "pytorch_model.bin"
    torch.save(whole, old)
    ours = loaded(read_huggingface(tmp_path / "theirs", tmp_path / "ours"))
    assert furthest(theirs(model, ours), logits(ours, SOURCES, TARGETS), ours.ids.pad) < 1e-5
    torch.save({"hook": Path("x")}, old)  # anything but tensors
    with pytest.raises(InterchangeError, match="it was not loaded"):
        read_huggingface(tmp_path / "theirs", tmp_path / "other")


def test_what_cannot_be_read_is_refused_in_a_line(tmp_path: Path) -> None:
    tiny(tmp_path / "theirs", "marian")
    config = tmp_path / "theirs" / "config.json"
    told = json.loads(config.read_text())

    def refusal(**changes: Any) -> str:
        config.write_text(json.dumps(told | changes))
        with pytest.raises(InterchangeError) as caught:
            read_huggingface(tmp_path / "theirs", tmp_path / "ours")
        assert "\n" not in str(caught.value)
        return str(caught.value)

    assert "expected marian or pegasus" in refusal(model_type="bart")
    assert "scale_embedding is false" in refusal(scale_embedding=False)
    assert "activation_function = tanh" in refusal(activation_function="tanh")
    assert "decoder_ffn_dim = 38" in refusal(decoder_ffn_dim=38)
    config.write_text(json.dumps(told))
    shutil.move(tmp_path / "theirs" / "target.spm", tmp_path / "x.spm")
    with pytest.raises(InterchangeError, match=r"target\.spm is missing"):
        read_huggingface(tmp_path / "theirs", tmp_path / "ours")
    with pytest.raises(InterchangeError, match=r"config\.json is missing"):
        read_huggingface(tmp_path, tmp_path / "ours")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"attention": "additive"}, "scaled dot-product"),
        ({"positions": "learned"}, "not learned"),
        ({"d_head": 5}, "d_model / n_heads"),
        ({"norm": "pre", "share_embeddings": False}, "one matrix for both"),
    ],
)
def test_what_they_cannot_run_is_not_exported(
    tmp_path: Path, changes: dict[str, Any], reason: str
) -> None:
    folder = make(tmp_path / "ours", **changes)
    with pytest.raises(InterchangeError, match=reason):
        write_huggingface(folder, tmp_path / "theirs")
    assert not (tmp_path / "theirs").exists()


def test_a_folder_that_is_there_is_left_alone(tmp_path: Path) -> None:
    folder = make(tmp_path / "ours")
    with pytest.raises(InterchangeError, match="is there already"):
        write_huggingface(folder, folder.path)
    assert open_folder(folder.path).weights()
