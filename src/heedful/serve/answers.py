"""What each endpoint answers, for the OpenAPI document; models only so that they are described."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

__all__ = ["ANSWERS"]


class Guess(BaseModel):
    """A language a text may be in."""

    confidence: Annotated[float, Field(ge=0, le=100)]
    language: str


class Error(BaseModel):
    """What every refusal says."""

    error: str


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


class Health(BaseModel):
    """The server works."""

    status: Literal["ok"]


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


ANSWERS: list[type[BaseModel]] = [
    *(Guess, Error, Translation, Language, File, Health, FrontendSettings),
]
