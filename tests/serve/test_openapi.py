"""The OpenAPI document says what is there, no more and no less."""

from __future__ import annotations

import re
from typing import Any

from serve_case import app_of, ask, model
from starlette.routing import Route

from heedful.serve.keys import Keys

ENDPOINTS = {
    *("/translate", "/detect", "/languages", "/translate_file", "/download_file/{name}"),
    *("/frontend/settings", "/suggest", "/health", "/explain", "/metrics", "/openapi.json"),
    *("/models", "/page/{name}", "/favicon.ico", "/"),
}
HIDDEN = {"/page/{name}", "/favicon.ico"}


def document(*models: Any, **options: Any) -> dict[str, Any]:
    answer = ask(app_of(*models, **options), "GET", "/openapi.json")
    assert answer.headers["content-type"] == "application/json"
    found: dict[str, Any] = answer.json()
    return found


def test_every_endpoint_is_described_with_its_methods() -> None:
    routes = {
        route.path: {method.lower() for method in route.methods or ()} - {"head"}
        for route in app_of().routes
        if isinstance(route, Route)
    }
    assert set(routes) == ENDPOINTS
    described = {path: set(methods) for path, methods in document()["paths"].items()}
    assert described == {path: found for path, found in routes.items() if path not in HIDDEN}


def test_every_reference_leads_somewhere() -> None:
    found = document()
    waiting: list[Any] = [found]
    references = 0
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            if "$ref" in one:
                references += 1
                assert one["$ref"].rsplit("/", 1)[1] in found["components"]["schemas"]
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
    assert references > 10
    assert found["openapi"] == "3.1.0"


def body(found: dict[str, Any], path: str = "/translate") -> dict[str, Any]:
    schema: dict[str, Any] = found["paths"][path]["post"]["requestBody"]["content"][
        "application/json"
    ]["schema"]
    return schema


def test_the_ways_that_are_described_are_those_there_are() -> None:
    one_way = document(model("en", "ko"))
    pairs = [entry["properties"] for entry in body(one_way)["anyOf"]]
    assert [(pair["source"]["const"], pair["target"]["enum"]) for pair in pairs] == [
        ("en", ["en", "ko"]),
        ("ko", ["ko"]),
        ("auto", ["ko"]),
    ]
    explained = [entry["properties"] for entry in body(one_way, "/explain")["anyOf"]]
    assert [(pair["source"]["const"], pair["target"]["enum"]) for pair in explained] == [
        ("en", ["ko"])
    ]


def test_the_limits_that_are_described_are_those_there_are() -> None:
    found = document(char_limit=77, batch_limit=5, alternatives_limit=3, explain_limit=55)
    text, several = body(found)["properties"]["q"]["anyOf"]
    assert (text["maxLength"], several["maxItems"]) == (77, 5)
    assert body(found)["properties"]["alternatives"]["anyOf"][0]["maximum"] == 3
    assert body(found, "/explain")["properties"]["q"]["maxLength"] == 55


def test_keys_are_described_where_they_are_needed() -> None:
    assert "security" not in document()["paths"]["/metrics"]["get"]
    keyed = app_of(keys=Keys(["12345678"]))
    found = ask(keyed, "GET", "/openapi.json").json()
    assert found["paths"]["/metrics"]["get"]["security"] == [{"key": []}]


def test_a_form_has_no_null_and_nothing_it_holds_as_json() -> None:
    content = document()["paths"]["/translate"]["post"]["requestBody"]["content"]
    json_body = content.pop("application/json")["schema"]["properties"]
    assert {"type": "null"} in json_body["api_key"]["anyOf"]
    assert len(content) == 2
    for form in content.values():
        assert json_body.keys() - form["schema"]["properties"].keys() == {"terms", "keep"}
        assert not {"null", "None"} & set(re.findall(r"\w+", str(form)))
