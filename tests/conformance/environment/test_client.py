"""The environment's clients match its OpenAPI document: every call once, and no unknown calls or fields."""

from collections import Counter
from collections.abc import Iterator
from functools import cache
from types import NoneType
from typing import Any

import pytest

from concord_environment.app import create_app
from concord_environment.environment import Environment
from concord_environment.settings import EnvironmentSettings
from concord_environment_client import AsyncUESClient, UESClient, resources, responses
from concord_environment_client.endpoints import Endpoint
from concord_environment_client.modalities import MODALITIES

OPEN = {("GET", "/"), ("GET", "/health")}


@cache
def openapi() -> dict[str, Any]:
    """The service's OpenAPI document."""
    document: dict[str, Any] = create_app(Environment(0), EnvironmentSettings()).openapi()
    return document


def all_resources() -> Iterator[type]:
    yield from MODALITIES
    yield from (kind for kind in vars(resources).values() if getattr(kind, "__module__", None) == resources.__name__)


def endpoints() -> Iterator[tuple[str, Endpoint[Any]]]:
    for resource in all_resources():
        for name, endpoint in vars(resource).items():
            if isinstance(endpoint, Endpoint):
                yield f"{resource.__name__}.{name}", endpoint


def served() -> set[tuple[str, str]]:
    return {
        (method.upper(), path)
        for path, operations in openapi()["paths"].items()
        for method in operations
        if method in ("get", "post", "patch", "delete", "put")
    }


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in schema:
        return resolved(openapi()["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]])
    return schema


def properties(schema: dict[str, Any]) -> set[str]:
    """The properties of an object's schema, or those that all its alternatives have."""
    schema = resolved(schema)
    if "anyOf" in schema:
        return set.intersection(*(properties(one) for one in schema["anyOf"] if resolved(one).get("type") != "null"))
    return set(schema.get("properties", ()))


def answer_schema(endpoint: Endpoint[Any]) -> dict[str, Any]:
    responses = openapi()["paths"][endpoint.path][endpoint.method.lower()]["responses"]
    (success,) = [responses[status] for status in ("200", "201") if status in responses][:1]
    schema: dict[str, Any] = success["content"]["application/json"]["schema"]
    return schema


def test_every_call_of_the_service_has_exactly_one_method() -> None:
    declared = Counter((endpoint.method, endpoint.path) for _, endpoint in endpoints())
    assert set(declared) == served() - OPEN
    assert set(declared.values()) == {1}


@pytest.mark.parametrize("client", [UESClient, AsyncUESClient])
def test_a_client_has_every_resource(client: type[UESClient] | type[AsyncUESClient]) -> None:
    available = {kind for one in vars(client()).values() for kind in type(one).__mro__}
    assert set(all_resources()) <= available


TYPED = [
    (name, one) for name, one in endpoints() if one.response is not NoneType and hasattr(one.response, "model_fields")
]


@pytest.mark.parametrize("endpoint", [one for _, one in TYPED], ids=[name for name, _ in TYPED])
def test_an_answer_has_no_field_that_the_service_does_not_send(endpoint: Endpoint[Any]) -> None:
    schema = answer_schema(endpoint)
    views = resolved(schema).get("anyOf", [schema])
    whole = max((properties(view) for view in views), key=len)
    assert set(endpoint.response.model_fields) <= whole


def test_the_items_of_an_answer_have_no_field_that_the_service_does_not_send() -> None:
    schemas = openapi()["components"]["schemas"]

    pairs: list[tuple[str, type[responses.ResponseBody]]] = [
        ("Email", responses.Email),
        ("SMSMessage", responses.SMSMessage),
        ("CalendarEventView", responses.CalendarEvent),
        ("ChatMessageView", responses.ChatMessage),
        ("EventView", responses.Event),
    ]
    for name, model in pairs:
        assert set(model.model_fields) <= set(schemas[name]["properties"]), name


def test_methods_without_an_answer_are_those_answered_with_204() -> None:
    without_answer = {(one.method, one.path) for _, one in endpoints() if one.response is NoneType}
    answered = {
        (method.upper(), path)
        for path, operations in openapi()["paths"].items()
        for method, operation in operations.items()
        if "204" in operation["responses"]
    }
    assert without_answer == answered
