"""The schemas of all answers, for the OpenAPI document."""

from __future__ import annotations

from typing import Any

__all__ = ["Schema", "answers", "ref"]

Schema = dict[str, Any]


def ref(name: str) -> Schema:
    """Point to one of them."""
    return {"$ref": f"#/components/schemas/{name}"}


def _object(**properties: Schema) -> Schema:
    return {"type": "object", "required": list(properties), "properties": properties}


def _one_or_list(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "array", "items": schema}]}


def answers() -> Schema:
    """Give them all by name."""
    text: Schema = {"type": "string"}
    texts: Schema = {"type": "array", "items": text}
    language = _object(code=text, name=text)
    translation = _object(translatedText=_one_or_list(text))
    translation["properties"] |= {
        "alternatives": _one_or_list(texts),
        "detectedLanguage": _one_or_list(ref("Guess")),
        "via": _one_or_list(texts) | {"description": "The language between, if any."},
        "unmet_terms": _one_or_list(texts) | {"description": "Terms not honoured, if any."},
        "guards": _one_or_list(texts) | {"description": "What stopped endless output, if any."},
    }
    return {
        "Error": _object(error=text),
        "Translation": translation,
        "Guess": _object(
            confidence={"type": "number", "minimum": 0, "maximum": 100}, language=text
        ),
        "Language": _object(code=text, name=text, targets=texts),
        "File": _object(translatedFileUrl=text),
        "Health": _object(status={"const": "ok"}),
        "FrontendSettings": _object(
            charLimit={"type": "integer"},
            frontendTimeout={"type": "integer"},
            apiKeys={"type": "boolean"},
            keyRequired={"type": "boolean"},
            suggestions={"type": "boolean"},
            filesTranslation={"type": "boolean"},
            supportedFilesFormat=texts,
            language=_object(source=language, target=language),
            explainLimit={"type": "integer"},
            models={"type": "array", "items": _object(name=text, source=text, target=text)},
        ),
    }
