"""Files that are replaced atomically, and documents that somebody else may have written."""

import errno
import math
import os
import re
import stat
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from secrets import token_hex
from typing import Any, BinaryIO, Final, get_args

from pydantic import AliasChoices, BaseModel, ValidationError

from concord.json_text import NoJsonError, shallow

# Files that are replaced atomically, so that a reader never sees a part of the content, and read up to a limit.


@contextmanager
def atomic_file(path: Path, mode: int = 0o644) -> Iterator[BinaryIO]:
    """A file that replaces `path` at the end of the context, unless that raises; its content is then on the disk.

    `mode` is its permissions. Several processes may replace one file: the last one wins. Raises OSError.
    """
    # The name is known before the file exists, so that a signal at any moment leaves no file behind.
    temporary = path.with_name(f".{path.name}.{token_hex(8)}")
    try:
        with open(temporary, "xb", opener=_private) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(mode)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def open_regular(path: Path) -> BinaryIO:
    """Opens a file to read it. Raises OSError, also for a pipe or a device, which may never end."""
    # A pipe without a writer would keep an ordinary `open` waiting.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "is not a regular file", str(path))
    return os.fdopen(descriptor, "rb")


def read_bounded(path: Path, max_bytes: int) -> bytes:
    """The content of a file. Raises OSError, also for a file of more than `max_bytes`, and for a pipe or a device."""
    with open_regular(path) as file:
        content = file.read(max_bytes + 1) if os.fstat(file.fileno()).st_size <= max_bytes else None
    if content is None or len(content) > max_bytes:
        raise OSError(errno.EFBIG, f"is longer than {max_bytes} bytes", str(path))
    return content


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


# Reads TOML files that somebody else may have written.

MAX_BYTES: Final = 1024 * 1024

_LONG_KEY: Final = re.compile(r"""(?:\.[ \t]*(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*){64}""")
"""A key of more than 64 parts: `tomllib` takes time with the square of their number."""


def read_toml(path: Path) -> dict[str, Any]:
    """The content of a TOML file.

    Raises OSError, also for a file over `MAX_BYTES`; ValueError for what is not TOML, is nested more than 64 deep, or
    has a number that is not finite.
    """
    try:
        text = read_bounded(path, MAX_BYTES).decode()
        if _LONG_KEY.search(text):
            raise ValueError("a key in it has more than 64 parts")
        document = tomllib.loads(text)
        shallow(document)
    except (RecursionError, NoJsonError):
        raise ValueError("it is nested too deep") from None
    if (name := _not_finite(document)) is not None:
        raise ValueError(f"{name}: not a finite number")
    return document


def _not_finite(document: dict[str, Any]) -> str | None:
    """The name of a number that is infinite or none."""
    pending: list[tuple[str, object]] = list(document.items())
    while pending:
        name, value = pending.pop()
        if isinstance(value, float) and not math.isfinite(value):
            return name
        if isinstance(value, dict):
            pending += [(f"{name}.{key}", part) for key, part in value.items()]
        elif isinstance(value, list):
            pending += [(f"{name}.{number}", part) for number, part in enumerate(value)]
    return None


def first_fault(error: ValidationError) -> str:
    """The place and the reason of a document's first fault, in one line, without the input, which may be private."""
    first = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}" if first["loc"] else first["msg"]


# The words that a document may have, for messages about unknown ones: `unknown key; did you mean `seats`?`.

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
