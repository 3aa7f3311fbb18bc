"""What each endpoint answers, for the OpenAPI document; models only so that they are described."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, create_model

__all__ = ["ANSWERS"]


def _model(name: str, /, **fields: Any) -> Any:
    kinds = {key: kind if isinstance(kind, tuple) else (kind, ...) for key, kind in fields.items()}
    make: Any = create_model
    return make(name, **kinds)


def _list(kind: Any) -> Any:
    return list[kind]


def _for_each(kind: Any) -> Any:
    """Say that a list of texts has a list of these."""
    return kind | _list(kind)


def _if_any(kind: Any, description: str) -> Any:
    """Say that something is left out where there is nothing to say."""
    return (_for_each(kind), Field(default_factory=list, description=description))


_texts = list[str]
_named = _model("Named", code=str, name=str)
_pair = _model("Pair", source=_named, target=_named)
_served = _model("Model", name=str, source=str, target=str)
_guess = _model("Guess", confidence=Annotated[float, Field(ge=0, le=100)], language=str)

ANSWERS: list[type[BaseModel]] = [
    _guess,
    _model("Error", error=str),
    _model(
        "Translation",
        translatedText=_for_each(str),
        alternatives=_if_any(_texts, "Other translations."),
        detectedLanguage=_if_any(_guess, "Where the source was auto."),
        via=_if_any(_texts, "The language between."),
        unmet_terms=_if_any(_texts, "Terms that could not be honoured."),
        guards=_if_any(_texts, "What stopped endless output."),
    ),
    _model("Language", code=str, name=str, targets=_texts),
    _model("File", translatedFileUrl=str),
    _model("Health", status=Literal["ok"]),
    _model(
        "FrontendSettings",
        charLimit=int,
        frontendTimeout=int,
        apiKeys=bool,
        keyRequired=bool,
        suggestions=bool,
        filesTranslation=bool,
        supportedFilesFormat=_texts,
        language=_pair,
        explainLimit=int,
        models=_list(_served),
    ),
]
