"""What LibreTranslate's endpoints may be asked, and what they answer, as models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, Field, InstanceOf, TypeAdapter, WithJsonSchema, create_model

from heedful.serve.forms import Upload
from heedful.serve.options import ServeOptions
from heedful.serve.requests import NO_FLAG, Explain, Json, Keyed, Text
from heedful.tasks.translation.terms import LONGEST_TERM, MOST_TERMS

Asked = TypeVar("Asked", bound=Keyed)

VISIBLE = (
    r"^[^\u0000]*[^\u0000-\u0020\u007f-\u00a0\u00ad\u1680\u2000-\u200b\u2028\u2029\u202f\u205f"
    r"\u2060\u2581\u3000\ufeff][^\u0000]*$"
)
"""A text of which something is left when it has been normalised."""


def _described(kind: Any) -> WithJsonSchema:
    """Describe JSON as `kind`; its content is validated where it is used."""
    return WithJsonSchema(TypeAdapter(kind | None).json_schema())


Source = Annotated[Text, Field(description="A language code, or auto where allowed.")]
Target = Annotated[Text, Field(description="A language code.")]
Term = Annotated[str, Field(min_length=1, max_length=LONGEST_TERM, pattern=VISIBLE)]
AT_MOST = Field(max_length=MOST_TERMS // 2)
Glossary = Annotated[
    Any,
    Json,
    _described(Annotated[dict[Term, Term], AT_MOST] | Annotated[list[tuple[Term, Term]], AT_MOST]),
    Field(description="Words and what they have to become; in a form, as JSON."),
]
Kept = Annotated[
    Any,
    Json,
    _described(Annotated[list[Term], AT_MOST]),
    Field(description="Words to leave as they are; in a form, as JSON."),
]
FILE = {"type": "string", "contentMediaType": "application/octet-stream", "minLength": 1}


class Detect(Keyed):
    """POST /detect."""

    q: Text | list[Text]


class Translate(Keyed):
    """POST /translate."""

    q: Text | list[Text]
    source: Source
    target: Target
    format: Literal["text", "html"] | None = "text"
    alternatives: int | None = 0
    terms: Glossary = None
    keep: Kept = None


class TranslateFile(Keyed):
    """POST /translate_file."""

    file: Annotated[InstanceOf[Upload], WithJsonSchema(FILE)] = Field(
        description="Its name says what it is."
    )
    source: Source
    target: Target
    terms: Glossary = None
    keep: Kept = None


class ExplainTranslation(Explain):
    """POST /explain."""

    q: Text
    source: Source
    target: Target
    translation: Text | None = None


def limited(
    model: type[Asked], options: ServeOptions, ways: Mapping[str, Sequence[str]] | None = None
) -> type[Asked]:
    """Give a request with the limits of one server, and the targets of each of its sources."""
    most = options.explain_limit if model is ExplainTranslation else options.char_limit
    text = Annotated[Text, Field(min_length=1, max_length=most)]
    part = Annotated[Text, Field(max_length=most)]
    several = Field(min_length=1, max_length=options.batch_limit, fail_fast=True)
    others = Field(le=options.alternatives_limit)
    more = Field(0, description="Other translations wanted.")
    told = Field(description=f"At most {most} characters, all texts together.")
    limits: dict[str, Any] = {
        "q": (text if model is ExplainTranslation else text | Annotated[list[part], several], told),
        "alternatives": (Annotated[int, others, NO_FLAG] | None, more),
        "translation": (part | None, None),
    }
    own = {name: limit for name, limit in limits.items() if name in model.model_fields}
    pairs = [
        {"properties": {"source": {"const": source}, "target": {"enum": [*targets]}}}
        for source, targets in (ways or {}).items()
    ]
    described = {"json_schema_extra": {"anyOf": pairs}} if pairs else {}
    return create_model(model.__name__, __base__=model, __cls_kwargs__=described, **own)


class Guess(BaseModel):
    """A language a text may be in."""

    confidence: Annotated[float, Field(ge=0, le=100)]
    language: str


def _left_out(description: str) -> Any:
    """Describe a field that is not there where it would be empty."""
    return Field(default_factory=list, description=description)


class Translation(BaseModel):
    """For a list of texts each field has a list; an empty field is left out."""

    translatedText: str | list[str]
    alternatives: list[str] | list[list[str]] = _left_out("Other translations.")
    detectedLanguage: Guess | list[Guess] = _left_out("Where the source was auto.")
    via: list[str] | list[list[str]] = _left_out("The language between.")
    unmet_terms: list[str] | list[list[str]] = _left_out("Terms that could not be honoured.")
    guards: list[str] | list[list[str]] = _left_out("What stopped endless output.")


class Language(BaseModel):
    """A served language, and what it is translated into."""

    code: str
    name: str
    targets: list[str]


class File(BaseModel):
    """Where a translated file can be fetched."""

    translatedFileUrl: str


class Named(BaseModel):
    """A language by its code and its name."""

    code: str
    name: str


class Pair(BaseModel):
    """The languages a page begins with."""

    source: Named
    target: Named


class Model(BaseModel):
    """A served model."""

    name: str
    source: str
    target: str


class FrontendSettings(BaseModel):
    """What a page has to know of the server."""

    charLimit: int
    frontendTimeout: int
    apiKeys: bool
    keyRequired: bool
    suggestions: bool
    filesTranslation: bool
    supportedFilesFormat: list[str]
    language: Pair
    explainLimit: int
    models: list[Model]


ANSWERS: list[type[BaseModel]] = [Guess, Translation, Language, File, FrontendSettings]
