"""From the texts of a request to their translations: detection, terms, markup, one model or two.

Of HTTP it knows nothing; the queue before each model is in `batcher.py`.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from heedful.serve.batcher import Queues
from heedful.serve.metrics import Rounds, ServerMetrics
from heedful.serve.options import ServeOptions
from heedful.serve.translation.aligning import Aligner
from heedful.serve.translation.detect import Detector, Guess
from heedful.serve.translation.directions import Directions, Line, Served, translate_lines
from heedful.tasks.translation.documents.markup import Markup
from heedful.tasks.translation.documents.passages import Passage
from heedful.tasks.translation.documents.projection import Align
from heedful.tasks.translation.terms import FoundTerms, Terms

if TYPE_CHECKING:
    from heedful.tasks.translation.using import Translation

Given = TypeVar("Given")
Made = TypeVar("Made", covariant=True)

AT_ONCE = 16_384
"""Characters that are processed on the event loop; more are in a thread."""
DETECTING = 4_096
"""Detecting one language takes about as long as processing so many characters."""


@dataclass(frozen=True)
class Answer:
    """The translation of one text, and what is to be said about it."""

    text: str
    alternatives: tuple[str, ...] = ()
    guards: tuple[str, ...] = ()
    """The guards that stopped output that would not end."""
    unmet: tuple[str, ...] = ()
    """Terms that could not be honoured."""
    via: tuple[str, ...] = ()
    """The language between source and target, where there is one."""
    between: str | None = None
    """The text in that language."""


@dataclass(frozen=True)
class TranslateOptions:
    """What a request wants for each of its texts."""

    html: bool = False
    alternatives: int = 0
    terms: Terms = field(default_factory=Terms)


class Rebuilds(Protocol[Made]):
    """A page or a file of which the texts were taken out."""

    texts: list[str]

    def rebuild(self, translations: Sequence[str], align: Align | None = None) -> Made:
        """Put it together again around translations."""
        ...


class Service:
    """The models of a server, and the queue before each."""

    def __init__(
        self, directions: Directions, options: ServeOptions, metrics: ServerMetrics
    ) -> None:
        self.directions, self._options = directions, options
        self._detector = Detector(directions.languages)
        beam = options.own.get("beam")
        self.queues: Queues[Line, Translation] = Queues(
            {
                (one.source, one.target): translate_lines(one.translator, beam)
                for one in directions.models
            },
            lambda line: line[0],
            options,
            Rounds(metrics.registry, ("source", "target"), "lines"),
            "translate",
            "texts",
        )
        self._torch = threading.Lock()

    async def detect(self, texts: Sequence[str]) -> list[list[Guess]]:
        """Guess the language of each text, best first; the first served language if it has none."""
        unknown = [Guess(self.directions.languages[0], 0.0)]

        def guess() -> list[list[Guess]]:
            return [self._detector.detect(text) or unknown for text in texts]

        size = DETECTING * len(texts) if self._detector.loaded else AT_ONCE + 1
        return await aside(size, guess)

    async def translate(
        self, texts: Sequence[str], sources: Sequence[str], target: str, how: TranslateOptions
    ) -> list[Answer]:
        """Translate texts, each from its own language, together with those of other requests."""
        ways = [self.directions.way(source, target) for source in sources]
        groups: dict[tuple[Served, ...], list[int]] = {}
        for index, way in enumerate(ways):
            groups.setdefault(way, []).append(index)
        each = self._translate_html if how.html else self._translate_texts
        found: dict[int, Answer] = {}
        jobs = [each(way, [texts[i] for i in rows], how) for way, rows in groups.items()]
        tasks = [asyncio.ensure_future(job) for job in jobs]
        try:
            answers = await asyncio.gather(*tasks)
        finally:
            for task in tasks:  # where one was refused, the others are not needed
                task.cancel()
        for rows, own in zip(groups.values(), answers, strict=True):
            found.update(zip(rows, own, strict=True))
        return [found[index] for index in range(len(texts))]

    async def translate_document(
        self, document: Rebuilds[bytes], source: str, target: str, how: TranslateOptions
    ) -> bytes:
        """Translate a file a few texts at a time, so that it never fills the queue."""
        way = self.directions.way(source, target)
        answers: list[Answer] = []
        texts = document.texts
        while len(answers) < len(texts):
            end, size = len(answers), 0
            while end < len(texts) and size < 8 * self._options.round_pieces:
                size += len(texts[end]) + 8
                end += 1
            some = texts[len(answers) : end]
            answers += await self._translate_texts(way, some, how, admitted=bool(answers))
        return await self.rebuild(document, answers, way)

    async def rebuild(
        self, page: Rebuilds[Given], answers: Sequence[Answer], way: Sequence[Served]
    ) -> Given:
        """Put translations back into what they were taken out of, in a thread."""
        between = {
            text: answer.between
            for text, answer in zip(page.texts, answers, strict=True)
            if answer.between is not None
        }
        align = Aligner(way, between, self._options.explain_limit, self._torch)
        try:
            return await asyncio.to_thread(
                page.rebuild, [answer.text for answer in answers], align if way else None
            )
        finally:
            align.stop()

    async def _translate_html(
        self, way: Sequence[Served], texts: Sequence[str], how: TranslateOptions
    ) -> list[Answer]:
        if not way:
            return [Answer(text) for text in texts]
        size = sum(map(len, texts))
        pages = await aside(size, lambda: [Markup(text) for text in texts])
        flat = [text for page in pages for text in page.texts]
        plain = replace(how, html=False, alternatives=0)
        answers = await self._translate_texts(way, flat, plain)
        found, first = [], 0
        for page in pages:
            own = answers[first : first + len(page.texts)]
            first += len(page.texts)
            rebuilt = await self.rebuild(page, own, way)
            found.append(
                Answer(
                    rebuilt,
                    (),
                    _once(guard for a in own for guard in a.guards),
                    _once(term for a in own for term in a.unmet),
                    _between(way),
                )
            )
        return found

    async def _translate_texts(
        self,
        way: Sequence[Served],
        texts: Sequence[str],
        how: TranslateOptions,
        admitted: bool = False,
    ) -> list[Answer]:
        if not way:
            return [Answer(text) for text in texts]
        # Finding terms takes long: always in a thread.
        size = sum(map(len, texts)) + AT_ONCE * bool(how.terms)
        terms = await aside(size, lambda: [how.terms.find(text) for text in texts])
        source = way[0].source
        passages = await aside(size, lambda: [Passage(text, source) for text in texts])
        lines = [line for passage in passages for line in passage.lines]
        # Each term is translated by itself too: its translation is what the wanted word replaces.
        probes = list(dict.fromkeys(probe for one in terms for probe in one.probes))
        lines += probes
        wanted = [1] * (len(way) - 1) + [1 + how.alternatives]
        hops: list[list[Translation]] = []
        for one, n_best in zip(way, wanted, strict=True):
            asked = [(line, n_best) for line in lines]
            queue = self.queues[one.source, one.target]
            hops.append(await queue.answer(asked, admitted or bool(hops)))
            lines = [translation.text for translation in hops[-1]]

        def answers() -> list[Answer]:
            said = dict(zip(probes, lines[len(lines) - len(probes) :], strict=True))
            found, first = [], 0
            for passage, its_terms in zip(passages, terms, strict=True):
                last = first + len(passage.lines)
                own = [hop[first:last] for hop in hops]
                found.append(_answer(passage, own, how, its_terms, said, _between(way)))
                first = last
            return found

        return await aside(size, answers)

    def explain(self, served: Served, text: str, options: dict[str, Any]) -> dict[str, Any]:
        """Trace a translation on torch, where tags may be aligned meanwhile."""
        with self._torch:
            return served.translator.trace(text, **options)


async def aside(size: int, work: Callable[..., Given], *arguments: object) -> Given:
    """Process so many characters: at once if they are few, else in a thread."""
    if size <= AT_ONCE:
        return work(*arguments)
    return await asyncio.to_thread(work, *arguments)


def _answer(
    passage: Passage,
    hops: list[list[Translation]],
    how: TranslateOptions,
    terms: FoundTerms,
    said: Mapping[str, str],
    via: tuple[str, ...],
) -> Answer:
    """Join a text's lines and put its terms in; the n-th alternative is made of n-th candidates."""
    last = hops[-1]
    texts, unmet = [], []
    for rank in range(max((len(line.candidates) for line in last), default=1)):
        chosen = [line.candidates[min(rank, len(line.candidates) - 1)].text for line in last]
        probes = [said[probe] for probe in terms.probes]
        text, missed = how.terms.restore(passage.join(chosen), terms, probes)
        texts.append(text)
        unmet.append(missed)
    others = [text for text in dict.fromkeys(texts) if text != texts[0]]
    return Answer(
        texts[0],
        tuple(others[: how.alternatives]),
        _once(guard for hop in hops for line in hop for guard in line.guards),
        _once(unmet[0]),
        via,
        passage.join([line.text for line in hops[0]]) if via else None,
    )


def _between(way: Sequence[Served]) -> tuple[str, ...]:
    return tuple(one.target for one in way[:-1])


def _once(names: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
