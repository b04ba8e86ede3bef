"""The words that a document may have, for messages about unknown ones: `unknown key; did you mean `seats`?`."""

from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import Any, Final, get_args

from pydantic import AliasChoices, BaseModel

CLOSE: Final = 0.6
"""The minimum similarity of a suggested word (`difflib`); a suggestion below it would mislead."""

MAX_LISTED: Final = 12
"""The largest number of known keys that a message lists."""


def unknown_key(key: str, models: Sequence[type[BaseModel]]) -> str:
    """The message about an unknown key: the nearest key of these models, or all their keys if they are few."""
    known = known_keys(models)
    if close := nearest(key, known):
        return f"unknown key; did you mean `{close}`?"
    return f"unknown key; known: {', '.join(known)}" if 0 < len(known) <= MAX_LISTED else "unknown key"


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The most similar known word; None if none is similar."""
    return next(iter(get_close_matches(word, list(known), n=1, cutoff=CLOSE)), None)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown word: `; did you mean `includes`?`, or nothing."""
    close = nearest(word, known)
    return f"; did you mean `{close}`?" if close else ""


def known_keys(models: Sequence[type[BaseModel]]) -> list[str]:
    """The keys of these models as a document has them, sorted."""
    return sorted({field.alias or name for model in models for name, field in model.model_fields.items()})


def models_at(model: type[BaseModel], location: Sequence[int | str]) -> list[type[BaseModel]]:
    """The models of the object at this location of a document of `model`, several for a union."""
    models = [model]
    for step in location:
        annotations = [field for each in models for name, field in _fields(each) if name == step]
        # A step that is not a field is an index, or the tag of a union: the models stay the same.
        models = [found for each in annotations for found in _models_in(each)] or models
    return models


def _fields(model: type[BaseModel]) -> Iterator[tuple[str, Any]]:
    """The type of each field, by each of its names."""
    for name, field in model.model_fields.items():
        alias = field.validation_alias
        choices = alias.choices if isinstance(alias, AliasChoices) else [alias]
        yield from ((each, field.annotation) for each in {name, *choices} if isinstance(each, str))


def _models_in(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models_in(argument)
