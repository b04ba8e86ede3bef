"""The page on the first plans: it is short, and every name that it gives as ours exists."""

import json
import re
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Final

import pytest
from fastapi import FastAPI
from pydantic_settings import BaseSettings
from starlette.routing import Route

from concord.llm import LLMSettings
from concord_collector.app import create_app as collector
from concord_collector.settings import CollectorSettings
from concord_environment.app import create_app as environment
from concord_environment.environment import Environment
from concord_environment.settings import EnvironmentSettings
from concord_gateway.app import create_app as gateway
from concord_gateway.settings import GatewaySettings
from concord_purple.settings import PurpleSettings
from tests.unit.test_documents import TARGETS

TEXT: Final = Path("docs/seeds.md").read_text(encoding="utf-8")
ROWS: Final = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in re.findall(r"^(\|.*\|)\n", TEXT, re.MULTILINE)
    if not re.match(r"\|(?:---| In the plan | The first plan )", line)
]
NAMES: Final = [name for row in ROWS if len(row) == 3 for name in re.findall(r"`([^`]+)`", row[1])]

SETTINGS: Final[tuple[type[BaseSettings], ...]] = (
    GatewaySettings,
    CollectorSettings,
    EnvironmentSettings,
    PurpleSettings,
    LLMSettings,
)
ENDPOINT: Final = r"(?:GET|POST) /.*"
KEY: Final = r"row: .+"
TARGET: Final = r"make \w+"
VARIABLE: Final = r"[A-Z][A-Z_]+"
PYTHON: Final = r"concord\w*(?:\.\w+)+"
PATH: Final = r"[\w./-]+/[\w./-]+|[\w-]+\.ya?ml"


def matching(form: str) -> list[str]:
    """The names of a form, of which there are some."""
    found = [name for name in NAMES if re.fullmatch(form, name)]
    assert found
    return found


def test_the_page_is_short_and_each_row_has_an_answer() -> None:
    assert 30 <= len(ROWS) <= 40
    assert [row for row in ROWS if not row[0] or not row[1]] == []


@pytest.mark.parametrize("name", matching(PYTHON))
def test_a_class_or_a_module_can_be_imported(name: str) -> None:
    assert resolve_name(name) is not None


@pytest.mark.parametrize("name", matching(PATH))
def test_a_path_exists(name: str) -> None:
    assert Path(name).exists()


def variables_of(settings: type[BaseSettings]) -> set[str]:
    prefix = settings.model_config.get("env_prefix", "")
    return {str(each.validation_alias or prefix + name.upper()) for name, each in settings.model_fields.items()}


def test_a_variable_is_one_of_the_settings() -> None:
    known = set[str]().union(*map(variables_of, SETTINGS))
    assert [name for name in matching(VARIABLE) if name not in known] == []


async def endpoints_of(app: FastAPI) -> set[str]:
    """The operations of a running service, `GET /peers`: those of its OpenAPI document, and those of A2A."""
    async with app.router.lifespan_context(app):
        documented = app.openapi()["paths"].items()
        routes = [route for route in app.routes if isinstance(route, Route)]
        plain = {f"{method} {route.path}" for route in routes for method in route.methods or ()}
    return plain | {f"{method.upper()} {path}" for path, methods in documented for method in methods}


async def test_an_endpoint_is_served(redis_url: str) -> None:
    apps = (
        gateway(GatewaySettings(redis_url=redis_url), "http://127.0.0.1:9009/"),
        collector(CollectorSettings(redis_url=redis_url)),
        environment(Environment(0), EnvironmentSettings()),
    )
    served = set[str]().union(*[await endpoints_of(app) for app in apps])
    assert [name for name in matching(ENDPOINT) if name not in served] == []


def has_key(schema: dict[str, Any], definitions: dict[str, Any], path: list[str]) -> bool:
    """Whether a row's schema has a key, in an object or in one of its alternatives."""
    if "$ref" in schema:
        schema = definitions[schema["$ref"].rsplit("/", 1)[1]]
    if not path:
        return True
    if path[0] in schema.get("properties", {}):
        return has_key(schema["properties"][path[0]], definitions, path[1:])
    return any(has_key(each, definitions, path) for each in schema.get("anyOf", []))


@pytest.mark.parametrize("name", matching(KEY))
def test_a_key_is_in_the_schema_of_rows(name: str) -> None:
    schema = json.loads(Path("data/schemas/results.schema.json").read_text(encoding="utf-8"))["$defs"]
    assert has_key(schema["ResultRow"], schema, name.removeprefix("row: ").split("."))


def test_a_target_is_one_of_make() -> None:
    assert {name.removeprefix("make ") for name in matching(TARGET)} - TARGETS == set()


def test_every_name_is_of_a_form_that_one_of_these_tests_looks_for() -> None:
    forms = "|".join([ENDPOINT, KEY, TARGET, VARIABLE, PYTHON, PATH])
    assert [name for name in NAMES if not re.fullmatch(forms, name)] == []
