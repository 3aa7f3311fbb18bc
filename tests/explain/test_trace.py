import torch

from heedful.explain.trace import attended, capture
from heedful.models.transformer import Transformer
from heedful.nn.attention import Attention
from heedful.settings import ModelSettings, TokenIds

IDS = TokenIds(size=19, pad=18, start=18)


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


def test_capturing_changes_no_bit_of_the_result() -> None:
    model = make()
    before = run(model)
    with capture(model) as found:
        during = run(model)
    assert torch.equal(before, during)
    assert torch.equal(before, run(model))
    assert set(found) == {
        "encoder.layers.0.attention",
        "encoder.layers.1.attention",
        "decoder.layers.0.attention",
        "decoder.layers.0.cross",
    }
    assert all("heads" not in vars(m) for m in model.modules() if isinstance(m, Attention))


def test_weights_are_shares_and_the_future_has_none() -> None:
    for changes in ({}, {"attention": "additive"}, {"norm": "pre"}):
        model = make(**changes)
        seen = attended(model, [3, 4, 5], [6, 7], [["a", "b", "c"], ["d", "e"]])
        assert seen.encoder.shape == (2, 3, 4, 4)
        assert seen.decoder.shape == (1, 3, 3, 3)
        assert seen.cross.shape == (1, 3, 3, 4)
        assert seen.source == ["a", "b", "c", "</s>"]
        assert seen.target == ["<s>", "d", "e"]
        for weights in (seen.encoder, seen.decoder, seen.cross):
            torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:-1]))
        assert (seen.decoder.triu(1) == 0).all()


def test_captured_weights_give_the_heads_output() -> None:
    model = make()
    taken: dict[str, torch.Tensor] = {}
    attention = model.encoder.layers[0].attention
    attention.output.register_forward_hook(
        lambda module, arguments, output: taken.update(joined=arguments[0])
    )
    attention.register_forward_hook(
        lambda module, arguments, output: taken.update(read=arguments[0])
    )
    with capture(model) as found, torch.inference_mode():
        run(model)
        weights = found["encoder.layers.0.attention"]
        joined = attention.join(weights @ attention.split(attention.value(taken["read"])))
        torch.testing.assert_close(joined, taken["joined"])
