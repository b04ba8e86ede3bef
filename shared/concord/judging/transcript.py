"""The transcript of a judgment: the model's answers to its questions, from which the judgment can be made again."""

import asyncio
import json
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Iterable
from hashlib import sha256
from typing import Final

from concord.assessment.jobs import ModelExchange
from concord.llm import EmptyCompletionError, LLMUnavailableError

_TURNS: Final = 10_000
"""Turns of the event loop after which a replay ends a cancelled question. All other questions are answered by then."""


class MissingAnswerError(Exception):
    """A transcript has no answer to a question."""


class Transcript:
    """The connection of a judge to the model. This class asks the model and records nothing."""

    def remembered(self, question: str) -> str | None:  # noqa: ARG002 - for replays
        """The cache's answer when the question was recorded. None for a question that is asked now."""
        return None

    def note_cached(self, question: str, text: str) -> None:
        """Records that the cache answered a question."""

    async def reply(self, question: str, ask: Callable[[], Awaitable[str]]) -> str:  # noqa: ARG002 - for recordings
        """The model's answer. Raises what `ask` raises."""
        return await ask()


class RecordedTranscript(Transcript):
    """Asks the model, and records each exchange in `exchanges` when it ends."""

    def __init__(self) -> None:
        self.exchanges: list[ModelExchange] = []

    def note_cached(self, question: str, text: str) -> None:
        """See `Transcript`."""
        self.exchanges.append(ModelExchange(question=question, outcome="cached", text=text))

    async def reply(self, question: str, ask: Callable[[], Awaitable[str]]) -> str:
        """See `Transcript`."""
        try:
            text = await ask()
        except EmptyCompletionError as error:
            self.exchanges.append(ModelExchange(question=question, outcome="empty", text=str(error)))
            raise
        except LLMUnavailableError as error:
            self.exchanges.append(ModelExchange(question=question, outcome="unavailable", text=str(error)))
            raise
        except asyncio.CancelledError:
            self.exchanges.append(ModelExchange(question=question, outcome="cancelled"))
            raise
        self.exchanges.append(ModelExchange(question=question, outcome="answered", text=text))
        return text


class ReplayedTranscript(Transcript):
    """Answers from recorded exchanges, without a model. Equal questions get their answers in the recorded order."""

    def __init__(self, exchanges: Iterable[ModelExchange]) -> None:
        self._left: defaultdict[str, deque[ModelExchange]] = defaultdict(deque)
        for exchange in exchanges:
            self._left[exchange.question].append(exchange)

    def remembered(self, question: str) -> str | None:
        """See `Transcript`."""
        left = self._left[question]
        return left.popleft().text if left and left[0].outcome == "cached" else None

    async def reply(self, question: str, ask: Callable[[], Awaitable[str]]) -> str:  # noqa: ARG002 - the model's
        """See `Transcript`. Raises TimeoutError for a cancelled question, MissingAnswerError for an unknown one."""
        left = self._left[question]
        if not left:
            raise MissingAnswerError(f"the record has no answer of the model to the question {question}")
        exchange = left.popleft()
        if exchange.outcome == "empty":
            raise EmptyCompletionError(exchange.text)
        if exchange.outcome == "unavailable":
            raise LLMUnavailableError(exchange.text)
        if exchange.outcome == "cancelled":
            for _ in range(_TURNS):
                await asyncio.sleep(0)
            raise TimeoutError
        return exchange.text


def question_id(system: str, user: str, sample: int = 0) -> str:
    """The SHA-256 of a question: its texts, without the secrets that differ each time, and the number of its sample."""
    return sha256(json.dumps([system, user, sample]).encode()).hexdigest()
