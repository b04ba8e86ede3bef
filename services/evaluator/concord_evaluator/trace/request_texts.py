"""What agents asked each other, in words: a bounded sample that depends on what was asked alone."""

from collections.abc import Iterator, Mapping
from typing import Final

from concord.trace.step import StepFacts

MAX_TEXTS: Final = 2000
"""Requests whose words are kept; a trace may have any number."""

MAX_TEXT: Final = 2000
"""Characters kept of each."""


class RequestTexts:
    """The texts of the requests with the smallest digests: as good as random, whatever the order of arrival."""

    def __init__(self, limit: int = MAX_TEXTS) -> None:
        self._limit = limit
        self._texts: dict[str, str] = {}
        self._largest: str | None = None
        """Beyond this digest there is no room."""

    def add(self, request_digest: str, step: StepFacts) -> None:
        """Keeps the text of a call's request, for now at least."""
        if request_digest in self._texts or (self._largest is not None and request_digest > self._largest):
            return
        call = step.agent_call
        if call is None or call.requests is None:
            return
        self._texts[request_digest] = text_of(call.requests)
        if len(self._texts) > 2 * self._limit:
            self._texts = self.sample()
            self._largest = max(self._texts)

    def sample(self) -> dict[str, str]:
        """The texts by the digests of their requests, sorted by these."""
        return dict(sorted(self._texts.items())[: self._limit])


def text_of(request: Mapping[str, object]) -> str:
    """All strings in a request, in the order of their keys, one a line; at most `MAX_TEXT` characters."""
    found: list[str] = []
    room = MAX_TEXT
    pending: list[object] = [request]
    while pending and room > 0:
        value = pending.pop()
        if isinstance(value, str):
            found.append(value[:room])
            room -= len(value) + 1
        elif isinstance(value, Mapping):
            pending.extend(value[key] for key in sorted(value, reverse=True))
        elif isinstance(value, list):
            pending.extend(reversed(value))
    return "\n".join(found)


def with_nested(step: StepFacts) -> Iterator[tuple[StepFacts, bool]]:
    """The step, told directly, and those that came in its answer, which its reporter only relays (False)."""
    pending = [(step, True)]
    while pending:
        each, direct = pending.pop()
        yield each, direct
        pending.extend((nested, False) for nested in each.answer_steps)
