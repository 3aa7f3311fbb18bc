"""What is asked, taken as what it has to be, however it was spelled."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from heedful.serve.errors import RequestError
from heedful.serve.options import ServeOptions
from heedful.serve.requests import Keyed, check
from heedful.serve.translation.schemas import ExplainTranslation as Explain
from heedful.serve.translation.schemas import Translate, limited

BASE = {"q": "a", "source": "en", "target": "ko"}


@pytest.mark.parametrize(
    ("name", "given", "taken"),
    [
        *(("decimals", spelled, 2) for spelled in (2, 2.0, "2", " 2 ")),
        *(("decimals", none, 4) for none in (None, "")),
        *(("values", spelled, True) for spelled in (True, "true", "True", None, "")),
        *(("values", spelled, False) for spelled in (False, "false", "FALSE")),
        *(("layers", spelled, [0, 2]) for spelled in ([0, 2], ["0", 2.0], "0,2", "0, 2")),
        *(("layers", none, None) for none in (None, "")),
        ("layers", [], []),
        ("translation", "", None),
    ],
)
def test_numbers_flags_and_lists_may_come_as_text(name: str, given: object, taken: object) -> None:
    assert getattr(check(Explain, BASE | {name: given}), name) == taken


def test_terms_may_come_as_json_in_a_text() -> None:
    for given in ('{"a": "b"}', {"a": "b"}):
        assert check(Translate, BASE | {"terms": given}).terms == {"a": "b"}
    for none in ("", " ", None, "null"):
        assert check(Translate, BASE | {"terms": none}).terms is None


def test_what_nobody_asked_for_is_passed_over() -> None:
    assert check(Keyed, {"api_key": "12345678", "other": object()}).api_key == "12345678"


def test_limits_are_those_of_the_server() -> None:
    tight, wide = (
        limited(Translate, ServeOptions(char_limit=limit, batch_limit=limit)) for limit in (3, 5)
    )
    for q in ("abcd", ["a", "b", "c", "d"]):
        assert check(wide, BASE | {"q": q}).q == q
        with pytest.raises(RequestError, match=r"^Invalid request: request \(4\) exceeds text "):
            check(tight, BASE | {"q": q})


def test_a_list_is_read_no_further_than_its_first_mistake() -> None:
    """A mistake for each of a million would take seconds to tell."""
    model = limited(Translate, ServeOptions())
    with pytest.raises(ValidationError) as refused:
        model.model_validate(BASE | {"q": [[]] * 10_000})
    assert refused.value.error_count() == 2  # no text, and no list of texts
