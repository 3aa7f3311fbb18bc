import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from heedful.errors import ConfigError, DataError
from heedful.explain.capture import capture
from heedful.models.transformer import Transformer
from heedful.nn.attention import Attention
from heedful.nn.layers import Layer
from heedful.settings import ModelSettings, TokenIds
from heedful.tasks.translation.showing import align, attended
from heedful.tasks.translation.using import Translator
from model_case import make as make_folder

IDS = TokenIds(size=19, pad=18, start=18)
VARIANTS: list[dict[str, object]] = [
    {},
    {"norm": "pre"},
    {"attention": "additive"},
    {"attention": "dot"},
    {"positions": "concatenated", "d_head": 5, "d_value": 2},
    {"positions": "learned", "activation": "gelu"},
]


def make(**changes: object) -> Transformer:
    sizes: dict[str, object] = {
        "d_model": 12,
        "d_ff": 14,
        "n_heads": 3,
        "encoder_layers": 2,
        "decoder_layers": 1,
    }
    return Transformer(ModelSettings.model_validate(sizes | changes), IDS).eval()


def run(model: Transformer) -> torch.Tensor:
    return model(torch.tensor([[3, 4, 5, 0]]), torch.tensor([4]), torch.tensor([[18, 6, 7]]))


@pytest.fixture(scope="module")
def translator(tmp_path_factory: pytest.TempPathFactory) -> Translator:
    folder = make_folder(tmp_path_factory.mktemp("traced") / "model")
    return Translator.load(folder.path, engine="torch", workers=1)


@pytest.fixture(scope="module")
def traced(translator: Translator) -> dict[str, Any]:
    return translator.trace("The dog sees the cat.", decimals=8)


@pytest.mark.parametrize("changes", VARIANTS)
def test_capturing_changes_no_bit_of_the_result(changes: dict[str, object]) -> None:
    model = make(**changes)
    before = run(model)
    with capture(model) as found:
        during = run(model)
    assert torch.equal(before, during)
    assert torch.equal(before, run(model))
    assert set(found.attentions) == {
        "encoder.layers.0.attention",
        "encoder.layers.1.attention",
        "decoder.layers.0.attention",
        "decoder.layers.0.cross",
    }


def test_nothing_stays_behind_even_where_the_pass_fails() -> None:
    model = make()
    with pytest.raises(KeyError), capture(model):
        raise KeyError
    for module in model.modules():
        assert not module._forward_hooks
        if isinstance(module, Attention | Layer):
            assert "heads" not in vars(module)
            assert "after" not in vars(module)


@pytest.mark.parametrize("changes", VARIANTS)
def test_weights_are_shares_and_the_future_has_none(changes: dict[str, object]) -> None:
    seen = attended(make(**changes), [3, 4, 5], [6, 7], [["a", "b", "c"], ["d", "e"]])
    assert seen.encoder.shape == (2, 3, 4, 4)
    assert seen.decoder.shape == (1, 3, 3, 3)
    assert seen.cross.shape == (1, 3, 3, 4)
    assert seen.source == ["a", "b", "c", "</s>"]
    assert seen.target == ["<s>", "d", "e"]
    for weights in (seen.encoder, seen.decoder, seen.cross):
        torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:-1]))
    assert (seen.decoder.triu(1) == 0).all()


@pytest.mark.parametrize("changes", VARIANTS)
def test_what_was_captured_gives_what_the_layers_passed_on(changes: dict[str, object]) -> None:
    model = make(**changes)
    with capture(model) as found, torch.inference_mode():
        run(model)
        for name, seen in found.attentions.items():
            layer, sublayer = name.rsplit(".", 1)
            step = found.sublayers[layer][sublayer]
            change = seen.module.output(seen.module.join(seen.output))
            torch.testing.assert_close(change, step.change)
        for name, steps in found.sublayers.items():
            last = steps["feed_forward"]
            left = last.sum if model.settings.norm == "pre" else last.norm(last.sum)
            torch.testing.assert_close(left, found.outputs[name])


def by_hand(model: Transformer, ids: list[int]) -> dict[str, np.ndarray]:
    """The first encoder layer's attention, one number after the other, in double precision."""
    s, layer = model.settings, model.encoder.layers[0]
    attention, norm = layer.attention, layer.attention_norm
    d, heads, width = s.d_model, s.n_heads, s.d_model // s.n_heads

    def table(parameter: torch.Tensor) -> list[Any]:
        return parameter.detach().double().tolist()

    words = table(model.source_embedding.weight)
    x = np.zeros((len(ids), d))
    for place, word in enumerate(ids):
        for j in range(d):
            angle = place / 10_000 ** ((j - j % 2) / d)
            wave = math.sin(angle) if j % 2 == 0 else math.cos(angle)
            x[place, j] = words[word][j] * math.sqrt(d) + wave

    def normal(row: np.ndarray, by: Any) -> np.ndarray:
        mean = sum(row) / d
        variance = sum((value - mean) ** 2 for value in row) / d
        weight, bias = table(by.weight), table(by.bias)
        return np.array(
            [(row[j] - mean) / math.sqrt(variance + by.eps) * weight[j] + bias[j] for j in range(d)]
        )

    def linear(row: np.ndarray, by: Any) -> np.ndarray:
        weight, bias = table(by.weight), table(by.bias)
        return np.array(
            [sum(w * v for w, v in zip(weight[i], row, strict=True)) + bias[i] for i in range(d)]
        )

    read = np.array([normal(row, norm) for row in x]) if s.norm == "pre" else x
    q = np.array([linear(row, attention.query) for row in read])
    k = np.array([linear(row, attention.key) for row in read])
    v = np.array([linear(row, attention.value) for row in read])
    joined = np.zeros_like(x)
    scores = np.zeros((heads, len(ids), len(ids)))
    weights = np.zeros_like(scores)
    for head in range(heads):
        part = slice(head * width, (head + 1) * width)
        for i in range(len(ids)):
            for j in range(len(ids)):
                dot = sum(a * b for a, b in zip(q[i, part], k[j, part], strict=True))
                scores[head, i, j] = dot / math.sqrt(width)
            shares = [math.exp(score) for score in scores[head, i]]
            weights[head, i] = [share / sum(shares) for share in shares]
            joined[i, part] = sum(weights[head, i, j] * v[j, part] for j in range(len(ids)))
    projected = np.array([linear(row, attention.output) for row in joined])
    total = x + projected
    after = layer.feed_forward_norm if s.norm == "pre" else norm
    normed = np.array([normal(row, after) for row in total])
    return {
        "q": q, "k": k, "v": v, "scores": scores, "weights": weights, "input": read,
        "concatenated": joined, "projected": projected, "residual_in": x,
        "residual_out": total, "normed": normed,
    }  # fmt: skip


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_every_number_of_a_head_is_what_one_gets_by_hand(norm: str, tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "model", norm=norm)
    translator = Translator.load(folder.path, engine="torch", workers=1)
    text = "The dog sees 개."
    found = translator.trace(text, decimals=8)["attentions"][0]
    ids = [*translator.tokenizer.encode(text), translator.tokenizer.ids.eos]
    hand = by_hand(translator.model, ids)
    assert (found["kind"], found["layer"]) == ("encoder", 0)
    width = 8
    for head, one in enumerate(found["heads"]):
        part = slice(head * width, (head + 1) * width)
        for name in ("q", "k", "v"):
            np.testing.assert_allclose(one[name], hand[name][:, part], atol=2e-5)
        np.testing.assert_allclose(one["scores"], hand["scores"][head], atol=5e-5)
        np.testing.assert_allclose(one["weights"], hand["weights"][head], atol=2e-5)
        np.testing.assert_allclose(one["output"], hand["concatenated"][:, part], atol=2e-5)
    for name in ("input", "concatenated", "projected", "residual_in", "residual_out", "normed"):
        np.testing.assert_allclose(found[name], hand[name], atol=5e-5)


def stream(trace: dict[str, Any], name: str) -> dict[str, Any]:
    return next(one for one in trace["streams"] if one["name"] == name)


def pieces(trace: dict[str, Any], name: str) -> list[str]:
    items = stream(trace, name)["items"]
    assert {item["kind"] for item in items} == {"piece"}
    return [item["text"] for item in items]


def test_the_shapes_are_what_the_document_says(traced: dict[str, Any]) -> None:
    source, target = pieces(traced, "source"), pieces(traced, "target")
    s, t = len(source), len(target)
    d = traced["model"]["d_model"]
    assert traced["schema"] == "heedful.trace/2"
    assert (source[-1], target[0]) == ("</s>", "<s>")
    (output,) = traced["outputs"]
    assert (output["kind"], output["stream"], output["stack"]) == (
        "next-piece",
        "target",
        "decoder",
    )
    assert [step["taken"] for step in output["steps"]] == [*target[1:], "</s>"]
    assert [step["at"] for step in output["steps"]] == list(range(t))
    ways = {(one["kind"], one["stack"], one["from"], one["to"]) for one in traced["attentions"]}
    assert ways == {
        ("encoder", "encoder", "source", "source"),
        ("decoder", "decoder", "target", "target"),
        ("cross", "decoder", "target", "source"),
    }
    sizes = {"encoder": (s, s), "decoder": (t, t), "cross": (t, s)}
    assert len(traced["attentions"]) == 2 + 3 + 3
    for one in traced["attentions"]:
        queries, keys = sizes[one["kind"]]
        assert np.shape(one["normed"]) == (queries, d)
        assert np.shape(one["norm"]["weight"]) == (d,)
        for head in one["heads"]:
            assert np.shape(head["weights"]) == np.shape(head["scores"]) == (queries, keys)
            assert np.shape(head["q"])[0] == queries
            assert np.shape(head["k"])[0] == np.shape(head["v"])[0] == keys
        if one["kind"] == "decoder":
            assert one["causal"]
            assert one["keep"] == np.tri(t, dtype=bool).tolist()
            assert all(np.triu(head["weights"], 1).max() == 0 for head in one["heads"])
        else:
            assert one["keep"] is None
            assert not one["causal"]
    assert [one["name"] for one in traced["sublayers"] if one["stack"] == "decoder"] == [
        "attention", "cross", "feed_forward",
    ] * 3  # fmt: skip
    (positions,) = traced["positions"]
    assert (positions["streams"], positions["kind"]) == (["source", "target"], "interleaved")
    assert np.shape(positions["rows"]) == (50, d)
    assert np.shape(traced["embeddings"]["source"]["values"]) == (s, d)
    assert np.shape(output["lens"]) == (3, t, 3)
    json.dumps(traced, allow_nan=False)


def test_the_steps_give_the_softmax_at_any_of_their_temperatures(
    translator: Translator, traced: dict[str, Any]
) -> None:
    encode = translator.tokenizer.encode
    ids, model = translator.tokenizer.ids, translator.model
    source = [*encode("The dog sees the cat."), ids.eos]
    (output,) = traced["outputs"]
    tree = output["beam"]
    words = [step[place] for step, place in zip(tree["steps"], tree["best"], strict=False)]
    written = [step["taken"] for step in output["steps"]]
    assert [word["piece"] for word in words] == written[: len(words)]
    text = stream(traced, "target")["text"]
    target = translator.tokenizer.encode(text, target=True)
    again = translator.trace("The dog sees the cat.", text, decimals=8)["outputs"][0]
    with torch.inference_mode():
        logits = model(
            torch.tensor([source]),
            torch.tensor([len(source)]),
            torch.tensor([[ids.start, *target]]),
        )[0].double()
    for step, row in zip(again["steps"], logits, strict=True):
        for temperature, rest in step["rest"].items():
            heat = float(temperature)
            total = sum(math.exp(one["logit"] / heat) for one in step["top"]) + math.exp(rest)
            wanted = (row / heat).softmax(-1).sort(descending=True).values[:10].tolist()
            got = [math.exp(one["logit"] / heat) / total for one in step["top"]]
            np.testing.assert_allclose(got, wanted, rtol=1e-4)
    # The last decoder layer through the lens is the model itself.
    for seen, step in zip(again["lens"][-1], again["steps"], strict=True):
        assert seen[0]["name"] == step["top"][0]["name"]
        assert seen[0]["p"] == pytest.approx(math.exp(step["top"][0]["logp"]), abs=1e-5)


def test_the_beam_is_the_one_the_translator_searched(
    translator: Translator, traced: dict[str, Any]
) -> None:
    best = next(iter(translator.lines(["The dog sees the cat."])))
    assert best.text == stream(traced, "target")["text"]
    tree = traced["outputs"][0]["beam"]
    assert tree["width"] == 3
    for number, (before, step) in enumerate(
        zip([[{"fate": "kept"}], *tree["steps"]], tree["steps"], strict=False)
    ):
        assert sum(one["fate"] == "kept" for one in step) <= tree["width"]
        for one in step:
            if number:  # only what was kept can grow
                assert before[one["parent"]]["fate"] == "kept"
                assert one["logp"] <= before[one["parent"]]["logp"]
            else:
                assert one["parent"] is None


def test_saliency_rows_are_shares_and_the_future_has_none(traced: dict[str, Any]) -> None:
    saliency = traced["outputs"][0]["saliency"]
    left, right = np.array(saliency["source"]), np.array(saliency["target"])
    np.testing.assert_allclose(left.sum(1) + right.sum(1), 1, atol=1e-5)
    assert np.triu(right, 1).max() == 0
    assert left.min() >= 0


def test_a_given_translation_has_no_beam_and_an_empty_text_has_no_words(
    translator: Translator,
) -> None:
    found = translator.trace("The dog.", "개.", values=False)
    assert found["outputs"][0]["beam"] is None
    assert found["outputs"][0]["given"]
    assert stream(found, "target")["text"] == "개."
    assert "q" not in found["attentions"][0]["heads"][0]
    empty = translator.trace("")
    assert stream(empty, "source")["words"] == empty["outputs"][0]["words"] == []
    assert empty["alignment"]["words"] == []


def test_layers_and_heads_can_be_chosen_and_others_are_refused(translator: Translator) -> None:
    found = translator.trace("The dog.", layers=[2], heads=[1], decimals=2)
    assert [(one["kind"], one["layer"]) for one in found["attentions"]] == [
        ("decoder", 2), ("cross", 2),
    ]  # fmt: skip
    assert [head["head"] for one in found["attentions"] for head in one["heads"]] == [1, 1]
    weight = found["attentions"][0]["heads"][0]["weights"][1][0]
    assert weight == round(weight, 2)
    with pytest.raises(ConfigError, match="layer 3 is not in this model; choose from 0 to 2"):
        translator.trace("The dog.", layers=[3])
    with pytest.raises(ConfigError, match="head 3 is not in this model; choose from 0 to 2"):
        translator.trace("The dog.", heads=[3])
    with pytest.raises(ConfigError, match="decimals = 9; expected 0 to 8"):
        translator.trace("The dog.", decimals=9)


def test_positions_go_on_past_a_short_sentence_and_further_on_request(
    translator: Translator, tmp_path: Path
) -> None:
    rows = translator.trace("The dog.", values=False, positions=120)["positions"][0]["rows"]
    assert len(rows) == 120
    assert rows[119][1] == round(math.cos(119), 4) == round(rows[119][1], 4)
    long = translator.trace("dog " * 60 + ".", "개 " * 70, values=False)
    longest = max(len(pieces(long, side)) for side in ("source", "target"))
    assert len(long["positions"][0]["rows"]) == longest > 50
    for wrong in (0, 1001):
        with pytest.raises(ConfigError, match=f"positions = {wrong}; expected 1 to 1000"):
            translator.trace("The dog.", positions=wrong)
    learned = make_folder(tmp_path / "learned", positions="learned", max_positions=37)
    short = Translator.load(learned.path, engine="torch", workers=1).trace("The dog.", "개.")
    assert len(short["positions"][0]["rows"]) == 37, "there are no more in the table"


def test_a_long_sentence_says_what_was_left_out(translator: Translator) -> None:
    found = translator.trace("dog " * 230 + ".", "개 " * 210)
    assert len(pieces(found, "source")) == len(pieces(found, "target")) == 200
    assert not found["chosen"]["values"]
    assert [line.split(":")[0] for line in found["chosen"]["left_out"]][2:] == [
        "the vectors (queries, keys, values and what became of them)",
        "the saliency",
    ]
    assert np.shape(found["attentions"][0]["heads"][0]["weights"]) == (200, 200)
    spans = stream(found, "source")["words"], found["outputs"][0]["words"]
    assert [words[-1][1] for words in spans] == [200, 200]
    assert np.shape(found["alignment"]["matrix"]) == (len(spans[1]), len(spans[0]))
    own = translator.trace("dog " * 230 + ".")
    assert own["chosen"]["left_out"][-1].startswith("the text has 8 parts that are translated")
    assert own["chosen"]["left_out_kinds"][-1] == ["parts", 8]
    assert [kind for kind, *_ in found["chosen"]["left_out_kinds"]] == [
        "items", "items", "vectors", "saliency",
    ]  # fmt: skip
    with pytest.raises(DataError, match="too many to explain at once; give at most 1000 of each"):
        translator.trace("dog", "개 " * 1000)


def test_the_last_layers_heads_together_align_the_words() -> None:
    weights = torch.tensor([[0.5, 0.25, 0.25], [0.1, 0.2, 0.7]])
    cross = weights.expand(3, 2, 2, 3)
    aligned = align(cross, ["▁a", "▁b", "</s>"], ["▁x", "▁y"])
    torch.testing.assert_close(aligned, weights[:, :2])
