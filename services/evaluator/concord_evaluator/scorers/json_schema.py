"""Validation of agents' JSON against a JSON Schema. Fetches nothing, and bounds the cost of a check."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Final, cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import extend, validator_for
from pydantic import JsonValue
from referencing import Registry

from concord_evaluator.scorers.graded import ScorerFailedError
from concord_evaluator.scorers.text_scorers import SEARCH_S, search

MAX_CHECKS: Final = 100_000
"""Keyword checks per answer. Nested alternatives may multiply without bound."""

_Check = Callable[[Validator, Any, Any, Any], Iterable[ValidationError] | None]
"""Checks a keyword. Gets the validator, the keyword's value, the instance, and the enclosing schema."""


def schema_violation(schema: Mapping[str, JsonValue], document: JsonValue) -> str | None:
    """The first violation of a schema by a document, with its path. None if the document is valid.

    The draft is 2020-12 unless `$schema` names another. `format` is ignored, `patternProperties` is not supported.
    Raises ScorerFailedError for an invalid schema, a reference to another document, or a check that takes too long.
    """
    try:
        stock = validator_for(dict(schema), default=Draft202012Validator)
        stock.check_schema(dict(schema))
        applicable = cast("dict[str, JsonValue]", _applicable(dict(schema)))
        bounded = _Budget(MAX_CHECKS, SEARCH_S).bounded(stock)(applicable, registry=Registry())
        found = next(bounded.iter_errors(document), None)
    except ScorerFailedError:
        raise
    except SchemaError as error:
        raise ScorerFailedError(
            "json", f"the schema is not a JSON Schema: {error.json_path}: {error.message}"
        ) from error
    except Exception as error:  # the libraries raise various errors for missing or circular references
        raise ScorerFailedError("json", f"the schema cannot be applied: {type(error).__name__}: {error}") from error
    return None if found is None else f"{found.json_path}: {found.message}"


@dataclass(slots=True)
class _Budget:
    """The remaining budget for checking one answer."""

    checks: int
    search_s: float

    def bounded(self, stock: type[Validator]) -> type[Validator]:
        """A validator that counts checks, with the two unbounded checks replaced."""
        checks = {**stock.VALIDATORS, "pattern": self._pattern, "uniqueItems": _unique_items}
        counted = {keyword: self._counted(check) for keyword, check in checks.items()}
        return cast("type[Validator]", extend(stock, counted))  # type: ignore[no-untyped-call]

    def _counted(self, check: _Check) -> _Check:
        def counted(validator: Validator, value: object, instance: object, schema: object) -> Iterable[ValidationError]:
            self.checks -= 1
            if self.checks < 0:
                raise ScorerFailedError("json", f"the schema takes more than {MAX_CHECKS:,} checks")
            yield from check(validator, value, instance, schema) or ()

        return counted

    def _pattern(self, _: Validator, value: str, instance: object, __: object) -> Iterable[ValidationError]:
        if not isinstance(instance, str):
            return
        started = perf_counter()
        found = search("json", value, instance, limit_s=self.search_s)
        self.search_s = max(0.001, self.search_s - (perf_counter() - started))
        if found is None:
            yield ValidationError(f"{instance!r} does not match {value!r}")


def _unique_items(_: Validator, value: bool, instance: object, __: object) -> Iterable[ValidationError]:
    """Compares items by hash. The library compares all pairs if the items cannot be sorted."""
    if value and isinstance(instance, list) and len(set(map(_identity, instance))) < len(instance):
        yield ValidationError("some items are equal")


def _identity(value: JsonValue) -> object:
    """A hashable value that is equal for equal instances of JSON Schema: 1 equals 1.0, but not true."""
    if isinstance(value, dict):
        return frozenset((key, _identity(each)) for key, each in value.items())
    if isinstance(value, list):
        return "array", tuple(map(_identity, value))
    return ("boolean", value) if isinstance(value, bool) else value


def _applicable(schema: JsonValue) -> JsonValue:
    """The schema without the `$schema` of subschemas, which would select an unbounded validator."""
    if isinstance(schema, list):
        return [_applicable(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if isinstance(schema.get("patternProperties"), dict):
        raise ScorerFailedError("json", "`patternProperties` is not supported")
    return {key: _applicable(each) for key, each in schema.items() if not (key == "$schema" and isinstance(each, str))}
