"""LibreTranslate's API, as its clients use it: texts, languages, files.

What is ours beside it: `terms` and `keep` in a request; in an answer `via` (the third language),
`unmet_terms` and `guards`, each only where there is something to say.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from heedful.data.languages import language_name
from heedful.errors import DataError
from heedful.explain.document import page_files
from heedful.serve.api import Api, Shared
from heedful.serve.downloads import Downloads
from heedful.serve.errors import RequestError, busy, invalid, too_long
from heedful.serve.openapi import FORMS, Endpoint, answer_json, content, get, post, ref
from heedful.serve.translation.detect import Guess
from heedful.serve.translation.directions import Directions, Served
from heedful.serve.translation.schemas import (
    ANSWERS,
    Detect,
    ExplainTranslation,
    Translate,
    TranslateFile,
    limited,
)
from heedful.serve.translation.service import Answer, Service, TranslateOptions
from heedful.tasks.contract import How, Task
from heedful.tasks.translation.documents.formats import SUPPORTED, DocumentError, open_document
from heedful.tasks.translation.terms import Terms

AUTO = "auto"
NAME = {
    "name": "name",
    "in": "path",
    "description": "The last part of translatedFileUrl.",
    "required": True,
    "schema": {"type": "string", "minLength": 1},
}
ENOUGH = 4_000
"""Characters of a file from which its language is guessed."""
_HOST = re.compile(r"[A-Za-z0-9.\-]{1,255}(:\d{1,5})?|\[[0-9A-Fa-f:.]{2,45}\](:\d{1,5})?")


class LibreTranslate(Api):
    """The endpoints of LibreTranslate."""

    sentence = "Translation with LibreTranslate's API, and a look inside."
    answers = ANSWERS

    def __init__(self, models: Sequence[Served], shared: Shared) -> None:
        super().__init__(models, shared)
        options, self.page = shared.options, page_files()
        directions = Directions(models, shared.note)
        self.models = directions.models
        self.service = Service(directions, options, shared.metrics)
        self.queues = self.service.queues
        self._downloads = Downloads(options.files_kept, options.files_bytes, options.files_age)
        self._files = 0
        targets = {code: directions.targets(code) for code in directions.languages}
        # A detected language may be any that is served: auto leads where every one of them does.
        always = [t for t in directions.languages if all(t in found for found in targets.values())]
        ways = targets | ({AUTO: always} if always else {})
        direct: dict[str, list[str]] = {}
        for one in self.models:
            direct.setdefault(one.source, []).append(one.target)
        self._translate_model = limited(Translate, options, ways)
        self._file_model = limited(TranslateFile, options, ways)
        self.explained = limited(ExplainTranslation, options, direct)

    @staticmethod
    def load(path: Path, task: Task, how: How) -> Served:
        """Open a model folder to be served."""
        translator = task.open(path, how)
        settings = translator.settings
        return Served(path.resolve().name, settings.source, settings.target, translator)

    def endpoints(self) -> list[Endpoint]:
        """Give the endpoints."""
        keyed = self.options.keys is not None
        languages = get(
            "The languages, and what each can be translated into.", ref("Language", many=True)
        )
        download = get("Fetch a translated file.", {}, "application/octet-stream")
        download["get"]["parameters"] = [NAME]
        gone = content("It is not here, or no longer.", ref("Error"))
        download["get"]["responses"]["404"] = gone
        refuse = "LibreTranslate's suggestions, which are not taken here."
        never = {"summary": refuse, "responses": {"403": content("Always.", ref("Error"))}}
        supported = f"Translate a file: {', '.join(SUPPORTED)}."
        file = post(supported, [self._file_model], ref("File"), keyed, FORMS[1:])
        settings = get("What a page has to know.", ref("FrontendSettings"))
        return [
            self.post(
                "/translate",
                self._translate,
                "Translate a text, or a list of texts.",
                self._translate_model,
                ref("Translation"),
                costly=True,
            ),
            self.post(
                "/detect",
                self._detect,
                "Guess which of the served languages a text is in.",
                limited(Detect, self.options),
                ref("Guess", many=True),
            ),
            Endpoint("/languages", self.languages, languages | {"post": languages["get"]}),
            Endpoint("/translate_file", self.translate_file, file, costly=True),
            Endpoint("/download_file/{name}", self.download_file, download),
            Endpoint("/frontend/settings", self.settings, settings),
            Endpoint("/suggest", self.suggest, {"post": never}),
        ]

    def explain(self, asked: ExplainTranslation) -> Callable[[], dict[str, Any]]:
        """Give what traces a translation that one model makes by itself."""
        directions = self.service.directions
        source, target = directions.language(asked.source), directions.language(asked.target)
        way = directions.way(source, target)
        if len(way) != 1:
            raise invalid(f"no model translates {source} to {target} by itself")
        options = {"translation": asked.translation, **asked.extent()}
        return lambda: self.service.explain(way[0], asked.q, options)

    async def _translate(self, asked: Translate) -> Response:
        how = TranslateOptions(
            alternatives=max(0, asked.alternatives or 0),  # a negative number is none
            terms=_terms(asked),
            html=asked.format == "html",
        )
        texts = [asked.q] if isinstance(asked.q, str) else asked.q
        size = sum(map(len, texts))
        if size > self.options.char_limit:
            raise too_long(size, self.options.char_limit)
        directions = self.service.directions
        target = directions.language(asked.target)
        guesses: list[Guess] = []
        if asked.source == AUTO:
            guesses = [found[0] for found in await self.service.detect(texts)]
            sources = [guess.language for guess in guesses]
        else:
            sources = [directions.language(asked.source)] * len(texts)
        answers = await self.service.translate(texts, sources, target, how)
        return answer_json(_say(answers, guesses, how, isinstance(asked.q, str)))

    async def _detect(self, asked: Detect) -> Response:
        text = asked.q if isinstance(asked.q, str) else "\n".join(asked.q)
        if len(text) > self.options.char_limit:
            raise too_long(len(text), self.options.char_limit)
        return answer_json([_guess(guess) for guess in (await self.service.detect([text]))[0]])

    async def languages(self, request: Request) -> Response:
        """GET or POST /languages: what can be translated into what."""
        return answer_json(self.service.directions.listed())

    async def settings(self, request: Request) -> Response:
        """GET /frontend/settings: what a page has to know at its start."""
        options, directions = self.options, self.service.directions
        first = directions.models[0]
        return answer_json(
            {
                "charLimit": options.char_limit,
                "frontendTimeout": 500,
                "apiKeys": options.keys is not None,
                "keyRequired": options.keys is not None,
                "suggestions": False,
                "filesTranslation": True,
                "supportedFilesFormat": list(SUPPORTED),
                "language": {
                    "source": {"code": first.source, "name": language_name(first.source)},
                    "target": {"code": first.target, "name": language_name(first.target)},
                },
                "explainLimit": options.explain_limit,
                "models": [
                    {"name": one.name, "source": one.source, "target": one.target}
                    for one in directions.models
                ],
            }
        )

    async def suggest(self, request: Request) -> Response:
        """POST /suggest: suggestions are not taken."""
        raise RequestError(403, "Suggestions are disabled on this server.")

    async def translate_file(self, request: Request) -> Response:
        """POST /translate_file: a file in, the address of its translation out."""
        options = self.options
        if self._files >= options.files_at_once:
            raise busy(5, "too many files are being translated")
        base = _base(request, options.prefix)
        self._files += 1
        try:
            name = await self.guard.admit(
                request,
                self._file_model,
                self._translate_file,
                options.file_limit,
                options.file_timeout,
            )
        finally:
            self._files -= 1
        return answer_json({"translatedFileUrl": f"{base}/download_file/{name}"})

    async def _translate_file(self, asked: TranslateFile) -> str:
        upload, source = asked.file, asked.source
        if not upload.name or not upload.data:
            raise invalid("empty file")
        ending = PurePosixPath(upload.name.replace("\\", "/")).suffix.lower()
        if ending not in SUPPORTED:
            raise invalid("file format not supported")
        how = TranslateOptions(terms=_terms(asked))
        directions = self.service.directions
        target = directions.language(asked.target)
        if source != AUTO:
            source = directions.language(source)
        try:
            document = await asyncio.to_thread(open_document, f"file{ending}", upload.data)
            characters = sum(map(len, document.texts))
            if characters > self.options.file_char_limit:
                raise too_long(characters, self.options.file_char_limit)
            if source == AUTO:
                source = (await self.service.detect(["\n".join(document.texts)[:ENOUGH]]))[0][
                    0
                ].language
            data = await self.service.translate_document(document, source, target, how)
        except DocumentError as error:
            raise invalid(str(error)) from error
        return self._downloads.put(data, ending)

    async def download_file(self, request: Request) -> Response:
        """GET /download_file/NAME: a translated file, for whoever knows its name."""
        name = request.path_params["name"]
        data = self._downloads.get(name)
        ending = PurePosixPath(name).suffix
        return Response(
            data,
            headers={
                "Content-Disposition": f'attachment; filename="translated{ending}"',
                "Cache-Control": "no-store",
            },
            media_type="application/octet-stream",
        )


def _terms(asked: Translate | TranslateFile) -> Terms:
    try:
        return Terms.parse(asked.terms, asked.keep)
    except DataError as error:
        raise invalid(str(error)) from error


def _guess(guess: Guess) -> dict[str, Any]:
    return {"confidence": round(guess.confidence, 1), "language": guess.language}


def _say(
    answers: list[Answer], guesses: list[Guess], how: TranslateOptions, single: bool
) -> dict[str, Any]:
    """Make the answer for one text, or with a list for each field."""
    said: dict[str, list[Any]] = {"translatedText": [answer.text for answer in answers]}
    if how.alternatives:
        said["alternatives"] = [list(answer.alternatives) for answer in answers]
    if guesses:
        said["detectedLanguage"] = [_guess(guess) for guess in guesses]
    for name, values in (
        ("via", [list(answer.via) for answer in answers]),
        ("unmet_terms", [list(answer.unmet) for answer in answers]),
        ("guards", [list(answer.guards) for answer in answers]),
    ):
        if any(values):
            said[name] = values
    return {name: values[0] for name, values in said.items()} if single else said


def _base(request: Request, prefix: str) -> str:
    """Give the address the client used; a Host header that is no host name is not repeated."""
    host = request.headers.get("host", "")
    if not _HOST.fullmatch(host):
        name, port = request.scope.get("server") or ("localhost", None)
        host = name if port is None else f"{name}:{port}"
    return f"{request.scope['scheme']}://{host}{prefix}"
