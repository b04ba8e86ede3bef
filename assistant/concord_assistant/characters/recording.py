"""Recording a model's replies, and replaying them without the model."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, ValidationError

from concord.llm import LLM, Completion, EmptyCompletionError, LLMUnavailableError

_SHOWN: Final = 12
"""Digits of a digest in an error message."""


class NotRecordedError(Exception):
    """A request that the recording does not have: the run differs from the recorded one."""


class RecordingError(Exception):
    """A file that is no recording."""


class _Line(BaseModel):
    """One request and its outcome, a line of the file."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    digest: str
    text: str | None
    total_tokens: int | None = None
    error: str | None = None
    """Why there is no text."""


@dataclass(frozen=True, slots=True)
class RecordedModel:
    """A model whose every request and reply is appended to a file.

    A request that the file has already is answered from the file, failures too: one request has one reply.
    """

    llm: LLM
    path: Path

    async def complete(
        self, system: str, user: str, *, schema: Mapping[str, Any] | None = None, max_tokens: int = 1000
    ) -> Completion:
        """The recorded or the model's reply. Raises LLMUnavailableError, RecordingError, OSError."""
        digest = digest_of(system, user, schema, max_tokens)
        if (known := _read(self.path).get(digest)) is not None:
            return _reply(known)
        try:
            answer = await self.llm.complete(system, user, schema=schema, max_tokens=max_tokens)
        except LLMUnavailableError as error:
            self._append(
                _Line(digest=digest, text="" if isinstance(error, EmptyCompletionError) else None, error=str(error))
            )
            raise
        self._append(_Line(digest=digest, text=answer.text, total_tokens=answer.total_tokens))
        return answer

    def _append(self, line: _Line) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"{line.model_dump_json()}\n")


class ReplayedModel:
    """The replies of a recording. Needs neither a key nor a network."""

    def __init__(self, path: Path) -> None:
        """Reads the recording. Raises RecordingError, or OSError if it cannot be read."""
        self._path = path
        if not path.is_file():
            raise FileNotFoundError(f"there is no recording {path}")
        self._lines = _read(path)

    async def complete(
        self, system: str, user: str, *, schema: Mapping[str, Any] | None = None, max_tokens: int = 1000
    ) -> Completion:
        """The recorded reply, or the recorded LLMUnavailableError. Raises NotRecordedError for any other request."""
        digest = digest_of(system, user, schema, max_tokens)
        if (line := self._lines.get(digest)) is None:
            raise NotRecordedError(
                f"{self._path} has no reply to the request {digest[:_SHOWN]}: the run differs from the recorded one, "
                "or the scenario or the prompt changed since; record it again"
            )
        return _reply(line)


def digest_of(system: str, user: str, schema: Mapping[str, Any] | None, max_tokens: int) -> str:
    """The SHA-256 digest of a request, in hexadecimal digits. The model is no part of it."""
    request = {"system": system, "user": user, "schema": schema, "max_tokens": max_tokens}
    return sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()


def _read(path: Path) -> dict[str, _Line]:
    if not path.is_file():
        return {}
    lines: dict[str, _Line] = {}
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            line = _Line.model_validate_json(text)
        except ValidationError as error:
            raise RecordingError(f"{path}, line {number}, is no recorded reply") from error
        lines.setdefault(line.digest, line)
    return lines


def _reply(line: _Line) -> Completion:
    if line.error is not None:
        raise (LLMUnavailableError if line.text is None else EmptyCompletionError)(line.error)
    return Completion(line.text or "", line.total_tokens)
