"""Recording a model's replies, and replaying them without the model."""

import asyncio
import json
from collections import defaultdict
from collections.abc import Mapping
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
    """A file that is not a recording."""


class _Line(BaseModel):
    """One request and its outcome, a line of the file."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    digest: str
    text: str | None
    total_tokens: int | None = None
    error: str | None = None
    """Why there is no text."""


class RecordedModel:
    """A model whose every request and reply is appended to a file.

    A request that the file has already is answered from the file, failures too: one request has one reply.
    """

    def __init__(self, llm: LLM, path: Path) -> None:
        """Reads the file if it exists. Raises RecordingError, or OSError if it cannot be read."""
        self._llm = llm
        self._path = path
        self._lines = _read(path) if path.exists() else {}
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def complete(
        self, system: str, user: str, *, schema: Mapping[str, Any] | None = None, max_tokens: int = 1000
    ) -> Completion:
        """The recorded or the model's reply. Raises LLMUnavailableError, or OSError if the file cannot be written."""
        digest = digest_of(system, user, schema, max_tokens)
        async with self._locks[digest]:
            if digest not in self._lines:
                self._keep(await self._ask(digest, system, user, schema, max_tokens))
        return _reply(self._lines[digest])

    async def _ask(
        self, digest: str, system: str, user: str, schema: Mapping[str, Any] | None, max_tokens: int
    ) -> _Line:
        try:
            answer = await self._llm.complete(system, user, schema=schema, max_tokens=max_tokens)
        except EmptyCompletionError as error:
            return _Line(digest=digest, text="", error=str(error))
        except LLMUnavailableError as error:
            return _Line(digest=digest, text=None, error=str(error))
        return _Line(digest=digest, text=answer.text, total_tokens=answer.total_tokens)

    def _keep(self, line: _Line) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{line.model_dump_json()}\n")
        self._lines[line.digest] = line


class ReplayedModel:
    """The replies of a recording. Needs neither a key nor a network."""

    def __init__(self, path: Path) -> None:
        """Reads the recording. Raises RecordingError, or OSError if it cannot be read."""
        self._path = path
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
    """The SHA-256 digest of a request, in hexadecimal digits. The model is not part of it."""
    request = {"system": system, "user": user, "schema": schema, "max_tokens": max_tokens}
    return sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()


def _read(path: Path) -> dict[str, _Line]:
    lines: dict[str, _Line] = {}
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            line = _Line.model_validate_json(text)
        except ValidationError as error:
            raise RecordingError(f"{path}, line {number}, is not a recorded reply") from error
        lines.setdefault(line.digest, line)
    return lines


def _reply(line: _Line) -> Completion:
    if line.error is not None:
        raise (LLMUnavailableError if line.text is None else EmptyCompletionError)(line.error)
    return Completion(line.text or "", line.total_tokens)
