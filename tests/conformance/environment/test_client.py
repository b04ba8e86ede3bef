"""The clients against the service's OpenAPI document: every call is there, once, and neither knows more."""

from collections import Counter
from collections.abc import Iterator
from inspect import getmembers
from types import NoneType
from typing import Any

import pytest
from concord_environment_client import AsyncUESClient, UESClient, resources, responses
from concord_environment_client.endpoints import Endpoint

from concord_environment.app import create_app
from concord_environment.environment import Environment
from concord_environment.settings import EnvironmentSettings

OPENAPI: dict[str, Any] = create_app(Environment(0), EnvironmentSettings()).openapi()
OPEN = {("GET", "/"), ("GET", "/health")}


def endpoints() -> Iterator[tuple[str, Endpoint[Any]]]:
    for resource_name, resource in getmembers(resources, lambda member: isinstance(member, type)):
        if resource.__module__ == resources.__name__:
            for name, endpoint in vars(resource).items():
                if isinstance(endpoint, Endpoint):
                    yield f"{resource_name}.{name}", endpoint


def served() -> set[tuple[str, str]]:
    return {
        (method.upper(), path)
        for path, operations in OPENAPI["paths"].items()
        for method in operations
        if method in ("get", "post", "patch", "delete", "put")
    }


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in schema:
        return resolved(OPENAPI["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]])
    return schema


def properties(schema: dict[str, Any]) -> set[str]:
    """The properties of an object's schema, or those that all alternatives have."""
    schema = resolved(schema)
    if "anyOf" in schema:
        return set.intersection(*(properties(one) for one in schema["anyOf"] if resolved(one).get("type") != "null"))
    return set(schema.get("properties", ()))


def answer_schema(endpoint: Endpoint[Any]) -> dict[str, Any]:
    responses = OPENAPI["paths"][endpoint.path][endpoint.method.lower()]["responses"]
    (good,) = [responses[status] for status in ("200", "201") if status in responses][:1]
    found: dict[str, Any] = good["content"]["application/json"]["schema"]
    return found


def test_every_call_of_the_service_has_one_method_and_no_method_calls_what_is_not_there() -> None:
    declared = Counter((endpoint.method, endpoint.path) for _, endpoint in endpoints())
    assert set(declared) == served() - OPEN
    assert set(declared.values()) == {1}


@pytest.mark.parametrize("client", [UESClient, AsyncUESClient])
def test_a_client_has_every_resource(client: type[UESClient] | type[AsyncUESClient]) -> None:
    held = {kind for one in vars(client()).values() for kind in type(one).__mro__}
    assert {
        kind for kind in vars(resources).values() if isinstance(kind, type) and kind.__module__ == resources.__name__
    } <= held


TYPED = [
    (name, one) for name, one in endpoints() if one.response is not NoneType and hasattr(one.response, "model_fields")
]


@pytest.mark.parametrize("endpoint", [one for _, one in TYPED], ids=[name for name, _ in TYPED])
def test_an_answer_has_no_field_that_the_service_does_not_send(endpoint: Endpoint[Any]) -> None:
    schema = answer_schema(endpoint)
    views = resolved(schema).get("anyOf", [schema])
    whole = max((properties(view) for view in views), key=len)
    assert set(endpoint.response.model_fields) <= whole


def test_what_is_in_an_answer_has_no_field_that_the_service_does_not_send() -> None:
    schemas = OPENAPI["components"]["schemas"]

    pairs: list[tuple[str, type[responses.ResponseBody]]] = [
        ("Email", responses.Email),
        ("SMSMessage", responses.SMSMessage),
        ("CalendarEvent", responses.CalendarEvent),
        ("ChatMessageView", responses.ChatMessage),
        ("EventView", responses.Event),
    ]
    for name, model in pairs:
        assert set(model.model_fields) <= set(schemas[name]["properties"]), name


def test_a_call_without_an_answer_is_one_that_the_service_answers_without() -> None:
    silent = {(one.method, one.path) for _, one in endpoints() if one.response is NoneType}
    answered = {
        (method.upper(), path)
        for path, operations in OPENAPI["paths"].items()
        for method, operation in operations.items()
        if "204" in operation["responses"]
    }
    assert silent == answered
