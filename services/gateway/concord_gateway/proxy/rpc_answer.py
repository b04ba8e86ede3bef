"""A2A's JSON-RPC responses as the proxy reads them: how far a call has come, and what its callee answered."""

import json
from collections.abc import Mapping
from typing import Any, Final

from pydantic import ValidationError

from concord.a2a.answer_reader import AnswerReader, Said, part_strings
from concord.trace.attributes import MAX_UNQUOTED
from concord.trace.step import ResponseTrace
from concord.trace.timed_steps import MAX_QUOTED
from concord.trace.vocabulary import MAX_READ, unquoted_words
from concord.wire.extensions import TRACEABILITY_KEY

_ANY: Final = object()


class CallAnswer(AnswerReader):
    """The answer to one carried call, and its words for the record.

    Ignores responses to another request than `request_id`, if that is given. Keeps `limit` characters of each text.
    """

    def __init__(self, request_id: object = _ANY, limit: int = MAX_QUOTED) -> None:
        super().__init__(limit)
        self.request_id = request_id
        self._error: str | None = None
        self._heard: list[str] = []
        self._room = MAX_READ
        self._in_band = b""

    @property
    def ended(self) -> bool:
        """Whether the call is over: an error, an answer, or a question to the caller."""
        return self._error is not None or super().ended

    @property
    def under_way(self) -> bool:
        """Whether the callee has accepted the task and not ended it."""
        return self._error is None and super().under_way

    @property
    def error(self) -> str | None:
        """The error, in the callee's words."""
        if self._error is None and self.failed:
            return f"the agent ended with {self.state}: {self.status_text}"
        return self._error

    @property
    def known(self) -> bool:
        """Whether any document so far is an A2A response: a task, a message or an error."""
        return self.state is not None or self._error is not None

    @property
    def quoted(self) -> str:
        """The beginning of the answer's text, at most `MAX_QUOTED` characters."""
        return self.text[:MAX_QUOTED]

    @property
    def whole(self) -> str:
        """The whole answer, with data and progress messages, if it is more than `quoted`; else ""."""
        spoken = self.text
        rest = dict.fromkeys(each for each in self._heard if each not in spoken)
        whole = "\n".join([spoken, *rest]) if rest else spoken
        return whole[: self._limit] if len(whole) > len(self.quoted) else ""

    @property
    def words(self) -> str:
        """The callee's words that `quoted` does not contain: from data parts and from progress messages."""
        return unquoted_words(self._heard, self.quoted, MAX_UNQUOTED)

    @property
    def size(self) -> int:
        """A lower bound on the bytes held; the size of the texts is limited."""
        return len(self._in_band)

    @property
    def response_trace(self) -> ResponseTrace | None:
        """The steps that arrived in band, None if there are none or they are malformed."""
        if not self._in_band:
            return None
        try:
            return ResponseTrace.model_validate_json(self._in_band)
        except ValidationError:
            return None

    def take(self, document: object) -> None:
        """Reads one JSON-RPC response. Unknown forms are ignored: the caller's client reports them."""
        if not isinstance(document, dict) or not self._is_mine(document):
            return
        if isinstance(error := document.get("error"), dict):
            self._error = f"JSON-RPC error {error.get('code')}: {error.get('message')}"[:MAX_QUOTED]
        if isinstance(result := document.get("result"), dict):
            self.read(result)

    def _is_mine(self, document: Mapping[str, Any]) -> bool:
        """An error may have a null id, if the server could not read the request's (JSON-RPC 2.0, section 5)."""
        answered = document.get("id")
        return self.request_id is _ANY or answered == self.request_id or (answered is None and "error" in document)

    def _said(self, parts: object) -> Said:
        said = super()._said(parts)
        for text in part_strings(parts):
            if self._room > 0:
                self._heard.append(text[: self._room])
                self._room -= len(text)
        return said

    def _keep_metadata(self, holder: Mapping[str, Any]) -> None:
        metadata = holder.get("metadata")
        if isinstance(metadata, dict) and TRACEABILITY_KEY in metadata:
            # Stored as text: a call may be open for long, and the parsed form takes many times the memory.
            self._in_band = _written(metadata[TRACEABILITY_KEY])


def _written(value: object) -> bytes:
    try:
        return json.dumps(value, separators=(",", ":")).encode()
    except RecursionError:
        return b""
