"""ONNX: the two graphs in onnxruntime give our logits, step by step."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from heedful.data.padding import pad
from heedful.errors import InterchangeError
from heedful.tasks.translation.exchange.onnx import write_onnx
from model_case import loaded, make

onnxruntime = pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")


@pytest.mark.filterwarnings("ignore")  # the exporter's own
@pytest.mark.parametrize(
    "model",
    [
        {"norm": "pre", "positions": "concatenated"},
        pytest.param({"share_output": False, "output_bias": True}, marks=pytest.mark.long),
    ],
)
def test_the_graphs_give_our_logits(tmp_path: Path, model: dict[str, Any]) -> None:
    folder = make(tmp_path / "model", **model)
    write_onnx(folder, tmp_path / "onnx")
    ours = loaded(folder)
    told = json.loads((tmp_path / "onnx" / "heedful.json").read_text())
    encoder, decoder = (
        onnxruntime.InferenceSession(tmp_path / "onnx" / f"{name}.onnx")
        for name in ("encoder", "decoder")
    )
    ids = folder.ids
    for sources in ([[5, 300, 21, 8, 90], [44], [7, 7, 301, 12, 13, 14, 15]], [[9, 10]]):
        source, lengths = pad([[*s, ids.eos] for s in sources], ids.pad)
        seen = encoder.run(None, {"source": source.numpy(), "lengths": lengths.numpy()})
        rows = len(sources)
        widths = [told["d_head"], told["d_value"]] * told["layers"]
        past = [np.zeros((rows, told["heads"], 0, w), np.float32) for w in widths]
        words = np.full((rows,), ids.start)
        with torch.inference_mode():
            memory, cache = ours.encode(source, lengths), ours.cache()
        for position in range(6):
            inputs = {"words": words, "position": np.array(position), "lengths": lengths.numpy()}
            inputs |= dict(zip(told["past"], past, strict=True))
            inputs |= dict(zip(told["seen"], seen, strict=True))
            logits, *past = decoder.run(None, inputs)
            with torch.inference_mode():
                wanted = ours.step(torch.from_numpy(words), memory, cache)
            real = [i for i in range(ids.size) if i != ids.pad]
            assert np.abs(logits[:, real] - wanted.numpy()[:, real]).max() < 2e-5
            words = logits[:, : ids.pad].argmax(-1)


def test_a_folder_that_is_there_is_left_alone(tmp_path: Path) -> None:
    folder = make(tmp_path / "model")
    with pytest.raises(InterchangeError, match="is there already"):
        write_onnx(folder, folder.path)
