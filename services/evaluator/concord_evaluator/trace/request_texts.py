"""Request texts: a bounded sample of the requests between agents, independent of the order of reports."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from concord.trace.step import StepFacts

MAX_TEXTS: Final = 2000
"""Requests whose texts are kept. A trace may have any number of requests."""

MAX_TEXT: Final = 2000
"""Characters that are kept of each text."""


class RequestTexts:
    """Keeps the texts of the requests with the smallest digests: a random sample, independent of their order."""

    def __init__(self, limit: int = MAX_TEXTS) -> None:
        self._limit = limit
        self._texts: dict[bytes, str] = {}
        self._largest: bytes | None = None
        """Requests with larger digests are not in the sample."""

    def add(self, requests: Iterable[tuple[bytes, Mapping[str, object]]]) -> None:
        """Adds the texts of requests, each with its digest. Requests with smaller digests may displace them later."""
        known, largest = self._texts, self._largest
        for digest, request in requests:
            if (largest is None or digest <= largest) and digest not in known:
                known[digest] = text_of(request)
        if len(known) > 2 * self._limit:
            self._texts = self.sample()
            self._largest = max(self._texts)

    def sample(self) -> dict[bytes, str]:
        """The texts by request digest, sorted."""
        return dict(sorted(self._texts.items())[: self._limit])


def text_of(request: Mapping[str, object]) -> str:
    """All strings in a request, one a line, in the order of their keys; at most `MAX_TEXT` characters."""
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
    """The step (True: reported directly), and the steps in its answer (False: relayed), at any depth."""
    pending = [(step, True)]
    while pending:
        each, direct = pending.pop()
        yield each, direct
        pending.extend((nested, False) for nested in each.answer_steps)
