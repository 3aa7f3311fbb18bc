"""Answers as JSON, and the models of those that every server gives, for its description."""

from __future__ import annotations

import json
from typing import Literal

from pydantic import BaseModel
from starlette.responses import Response

__all__ = ["ANSWERS", "answer_json", "to_json"]


def to_json(value: object) -> bytes:
    """Write JSON as LibreTranslate does, without escaping what is not ASCII."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def answer_json(value: object, status: int = 200) -> Response:
    """Answer with JSON that no cache keeps."""
    body = value if isinstance(value, bytes) else to_json(value)
    return Response(body, status, {"Cache-Control": "no-store"}, media_type="application/json")


class Error(BaseModel):
    """What every refusal says."""

    error: str


class Health(BaseModel):
    """The server works."""

    status: Literal["ok"]


class ServedModel(BaseModel):
    """A served model: what it is called, its task, and what it is in a few words."""

    name: str
    task: str
    about: str


ANSWERS: list[type[BaseModel]] = [Error, Health, ServedModel]
