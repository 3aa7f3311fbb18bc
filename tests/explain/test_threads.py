"""One model, many threads: a trace records only the pass of its own thread."""

import itertools
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from heedful.explain.capture import capture
from heedful.nn.attention import Attention
from heedful.nn.observe import Observer, observer, observing
from heedful.tasks.translation.using import Translator
from model_case import make as make_folder

TEXTS = ["The dog sees the cat.", "It is tired.", "The cat did not see it.", "A dog.", "It sees."]


@pytest.fixture(scope="module", params=["scaled", "additive"])
def translator(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("threads") / "model"
    folder = make_folder(path, attention=request.param)
    return Translator.load(folder.path, engine="torch", workers=1)


def together(*works: tuple[int, Callable[[str], Any]]) -> list[list[Any]]:
    """Do each work so many times, on the texts in turn, all of them at the same time."""
    begin = threading.Barrier(len(works))

    def run(times: int, work: Callable[[str], Any]) -> list[Any]:
        begin.wait()
        return [work(text) for text in itertools.islice(itertools.cycle(TEXTS), times)]

    with ThreadPoolExecutor(len(works)) as pool:
        return [one.result() for one in [pool.submit(run, *work) for work in works]]


@pytest.mark.parametrize(
    ("traces", "translations"), [(8, 80), pytest.param(200, 2000, marks=pytest.mark.long)]
)
def test_traces_beside_translations_have_every_number_right(
    translator: Translator, traces: int, translations: int
) -> None:
    def trace(text: str) -> Any:
        return translator.trace(text, decimals=6)

    def translate(text: str) -> list[str]:
        return translator.translate([text])

    alone = {text: (trace(text), translate(text)) for text in TEXTS}
    *traced, first, second = together(
        (traces // 2, trace),
        (traces // 2, trace),
        (translations // 2, translate),
        (translations // 2, translate),
    )
    for found in traced:
        for text, one in zip(itertools.cycle(TEXTS), found, strict=False):
            assert one == alone[text][0]
    for found in (first, second):
        for text, one in zip(itertools.cycle(TEXTS), found, strict=False):
            assert one == alone[text][1]


def test_a_new_thread_has_no_observer(translator: Translator) -> None:
    found: list[object] = []
    with observing(Observer()):
        assert observer() is not None
        other = threading.Thread(target=lambda: found.append(observer()))
        other.start()
        other.join()
    assert found == [None]
    assert observer() is None


def test_what_an_observer_hands_back_is_what_the_layers_go_on_with(translator: Translator) -> None:
    class WithoutHeads(Observer):
        def heads(
            self, module: Attention, q: Tensor, k: Tensor, v: Tensor, keep: Tensor | None
        ) -> Tensor:
            return torch.zeros_like(super().heads(module, q, k, v, keep))

    class Doubled(Observer):
        def value(self, module: nn.Module, x: Tensor) -> Tensor:
            return 2 * x if isinstance(module, nn.Embedding) else x

    model = translator.model

    def run() -> Tensor:
        with torch.inference_mode():
            return model(torch.tensor([[3, 4, 0]]), torch.tensor([3]), torch.tensor([[5, 6]]))

    plain = run()
    with observing(Observer()):
        assert torch.equal(run(), plain)
    with observing(WithoutHeads()):
        changed = run()
    with observing(Doubled()), capture(model) as found:
        again = run()  # the inner of two observers is the one that is asked
    assert not torch.allclose(plain, changed)
    assert torch.equal(again, plain)
    assert found.attentions
