"""Translation: pairs of sentences, label-smoothed loss, BLEU or chrF."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import nn

from heedful import metrics
from heedful.data.tokenizer import Tokenizer
from heedful.data.variants import Variants
from heedful.decoding.batch import score, search
from heedful.models.transformer import Transformer
from heedful.nn.loss import Loss
from heedful.tasks.contract import Prepared
from heedful.tasks.translation import nearest
from heedful.tasks.translation.batching import Batch, Batches
from heedful.tasks.translation.corpus import Corpus, Pair
from heedful.tasks.translation.judging import apart
from heedful.tasks.translation.settings import Settings
from heedful.train.learner import Evaluation, Learner, Sample

EVALUATED = 500
"""Development sentences translated at each evaluation: enough to rank weights, yet quick."""
ENOUGH = 200
"""A fresh evaluation needs at least so many sentences beyond those."""
SAMPLES = 3


class TranslationLearner(Learner[Batch]):
    """Learn to translate from a prepared corpus."""

    model: Transformer
    unit = "token"

    def __init__(self, model: Transformer, prepared: Prepared, workers: int, tests: int) -> None:
        """Without a test set, keep what the verdict is reached on out of every evaluation."""
        data: tuple[Corpus, Tokenizer] = prepared.data
        corpus, tokenizer = data
        settings: Settings = prepared.settings
        dev: Sequence[Pair] = prepared.dev
        self.model, self._tokenizer, self._settings = model, tokenizer, settings
        self._workers, self._corpus = workers, corpus
        chance = settings.tokenizer.regularisation
        self._batches = Batches(
            corpus,
            settings.data.batch_tokens,
            eos=model.ids.eos,
            padding=model.ids.pad,
            seed=settings.train.seed,
            variants=Variants(tokenizer, chance, settings.data.max_length) if chance else None,
        )
        if not tests:
            dev = [pair for pair, out in zip(dev, apart(dev), strict=True) if not out]
        self.dev = dev
        self.evaluation_seconds = 0.01 * min(EVALUATED, len(self.dev))
        self.peak = (settings.model.d_model * settings.train.warmup) ** -0.5  # the paper's

    def size(self, epoch: int) -> int:
        """How many batches an epoch has."""
        return len(self._batches.plan(epoch))

    def batches(self, epoch: int, start: int, part: int = 0, parts: int = 1) -> Iterator[Batch]:
        """Give the batches of an epoch from the `start`-th on, or one of `parts` parts of each."""
        return self._batches.epoch(epoch, start, part, parts)

    def where(self, batch: Batch) -> list[str]:
        """Name the lines of the text files that a batch is made of."""
        return self._corpus.places(batch.rows if batch.whole is None else batch.whole)

    def count(self, batch: Batch) -> int:
        """Target tokens, the ends of sentences included."""
        return batch.tokens

    def split(self, batch: Batch, parts: int) -> list[Batch]:
        """Divide the rows of a batch into as many parts, one a worker."""
        return batch.split(parts)

    def loss(self, model: nn.Module, batch: Batch, generator: torch.Generator) -> Loss:
        """Sum the smoothed loss over the real target tokens."""
        assert isinstance(model, Transformer)
        batch = batch.to(model.output_weight.device)
        found = model.loss(
            batch.source,
            batch.source_lengths,
            batch.target,
            batch.target_lengths,
            self._settings.train.label_smoothing,
        )
        return Loss(*(0 * value for value in found)) if batch.idle else found

    def evaluate(self, fresh: bool = False) -> Evaluation:
        """Translate a part of the development set greedily; measure the loss on all of it.

        `fresh` takes other sentences than usual, where there are enough of them.
        """
        self.model.eval()
        part = self.dev[:EVALUATED]
        if fresh and len(self.dev) >= EVALUATED + ENOUGH:
            part = self.dev[EVALUATED : 2 * EVALUATED]
        sources = [self._tokenizer.encode(s) for s, _ in part]
        greedy = self._settings.decode.model_copy(update={"beam": 1})
        texts = [
            self._tokenizer.decode(h[0].ids)
            for h in search(self.model, sources, greedy, workers=self._workers, scored=False)
        ]
        wanted = [t for _, t in part]
        scores = list(metrics.judged(texts, wanted, self._settings.target))
        loss = self._dev_loss()
        self.model.train()
        figures = {score.name: score.value for score in scores} | self.figures(loss)
        step = max(1, len(part) // SAMPLES)
        samples = tuple(Sample(*part[i], texts[i]) for i in range(0, len(part), step))
        return Evaluation(scores[0].value, loss, figures, samples[:SAMPLES])

    def figures(self, nll: float) -> dict[str, float]:
        """Give the perplexity."""
        return {"perplexity": metrics.perplexity(nll, 1)}

    def ending(self, evaluation_seconds: float, tests: int) -> float:
        """Give the seconds of choosing weights, converting them, and translating with a beam.

        A last evaluation, three candidates, and the conversion for CTranslate2, which takes as
        long as two more; then everything is translated with a beam, dev twice: a sentence of that
        takes two thirds of its share in an evaluation (docs/log.md). The simple thing comes last.
        """
        sentence = evaluation_seconds / min(EVALUATED, len(self.dev))
        simple = nearest.seconds(len(self._corpus), self._settings.train.minutes)
        translating = 0.8 * sentence * (2 * len(self._corpus.dev) + tests)
        return 6 * evaluation_seconds + translating + simple + 6

    def _dev_loss(self) -> float:
        """Give the mean loss a piece on the whole development set, without smoothing."""
        encode = self._tokenizer.encode
        sources = [encode(source) for source, _ in self.dev]
        targets = [encode(target, target=True) for _, target in self.dev]
        found = score(self.model, sources, targets, self._settings.data.batch_tokens)
        return -sum(logp for logp, _ in found) / sum(pieces for _, pieces in found)
