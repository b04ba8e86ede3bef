"""Input files: one that cannot be read, or is of another kind, ends the command with a line that names it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, from_json

from concord.files import MAX_BYTES, models_at, read_bounded, read_toml, unknown_key
from concord_cli.errors import UsageError

ModelT = TypeVar("ModelT", bound=BaseModel)


def content_of(path: Path, max_bytes: int = MAX_BYTES) -> bytes:
    """The content of a file. Raises UsageError, also for one of more than `max_bytes`."""
    try:
        return read_bounded(path, max_bytes)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error


def toml_of(path: Path) -> dict[str, Any]:
    """The content of a TOML file. Raises UsageError."""
    try:
        return read_toml(path)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(f"{path}: not TOML: {error}") from error


def json_of(path: Path) -> Any:  # noqa: ANN401 - JSON
    """The content of a JSON file. Raises UsageError, also for a number that is not finite."""
    try:
        return from_json(content_of(path), allow_inf_nan=False)
    except ValueError as error:
        raise UsageError(f"{path}: not JSON: {error}") from error


def validated(path: Path | str, document: object, model: type[ModelT], context: object = None) -> ModelT:
    """A document of a file as a model. Raises UsageError with every reason on one line. `path`: the file, or a place
    in it."""
    try:
        return model.model_validate(document, context=context)
    except ValidationError as error:
        raise UsageError(f"{path}: {reasons(error, model)}") from error


def reasons(error: ValidationError, model: type[BaseModel] | None = None) -> str:
    """The errors on one line: `participants[1].port: unknown key; …`. `model`: suggests keys of it for unknown ones."""
    return "; ".join(_reason(detail, model) for detail in error.errors(include_url=False, include_input=False))


def _reason(detail: ErrorDetails, model: type[BaseModel] | None) -> str:
    message = detail["msg"].removeprefix("Value error, ")
    if detail["type"] == "extra_forbidden":
        *above, key = detail["loc"]
        message = "unknown key" if model is None else unknown_key(str(key), models_at(model, above))
    where = "".join(_steps(detail["loc"]))
    return f"{where}: {message}" if where else message


def _steps(location: tuple[int | str, ...]) -> Iterator[str]:
    for i, step in enumerate(location):
        yield f"[{step}]" if isinstance(step, int) else f".{step}" if i else step
