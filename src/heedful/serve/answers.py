"""What each endpoint answers, for the OpenAPI document."""

from __future__ import annotations

from typing import Literal, TypeVar, Union

from pydantic import BaseModel, Field

__all__ = [
    "Error",
    "File",
    "FrontendSettings",
    "Guess",
    "Health",
    "Language",
    "Trace",
    "Translation",
]

One = TypeVar("One")
OneOrList = Union[One, list[One]]  # noqa: UP007  # mypy knows no alias that begins with One |
"""Of one text, or of each of a list."""


class Error(BaseModel):
    """Every answer that is no success."""

    error: str


class Guess(BaseModel):
    """A language a text may be in."""

    confidence: float = Field(ge=0, le=100)
    language: str


class Translation(BaseModel):
    """Of /translate; what there is nothing to say about is left out."""

    translatedText: OneOrList[str]
    alternatives: OneOrList[list[str]] = Field(default_factory=list)
    detectedLanguage: OneOrList[Guess] = Field(default_factory=list)
    via: OneOrList[list[str]] = Field(default_factory=list, description="The language between.")
    unmet_terms: OneOrList[list[str]] = Field(
        default_factory=list, description="Terms that could not be honoured."
    )
    guards: OneOrList[list[str]] = Field(
        default_factory=list, description="What stopped endless output."
    )


class _Named(BaseModel):
    code: str
    name: str


class Language(_Named):
    """Of /languages."""

    targets: list[str]


class File(BaseModel):
    """Of /translate_file."""

    translatedFileUrl: str


class Health(BaseModel):
    """Of /health."""

    status: Literal["ok"]


class Trace(BaseModel):
    """Of /explain; docs/trace.md has the rest."""

    format: str = Field(alias="schema")


class _Pair(BaseModel):
    source: _Named
    target: _Named


class _Model(BaseModel):
    name: str
    source: str
    target: str


class FrontendSettings(BaseModel):
    """Of /frontend/settings."""

    charLimit: int
    frontendTimeout: int
    apiKeys: bool
    keyRequired: bool
    suggestions: bool
    filesTranslation: bool
    supportedFilesFormat: list[str]
    language: _Pair
    explainLimit: int
    models: list[_Model]
