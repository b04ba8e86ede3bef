"""Asking a model for its opinion: fresh secrets, a second try, the cache, and whether agents' texts steered it."""

import asyncio
import json
import logging
import secrets
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Final, Generic, Protocol, TypeVar

from concord.assessment.jobs import ModelExchange
from concord.errors import StorageUnavailableError
from concord.judging.model_answer import CompromisedError, UnreadableAnswerError
from concord.llm import EmptyCompletionError, LLMUnavailableError
from concord.storage import AnswerCache

# The transcript of a judgment: the model's answers to its questions, from which the judgment can be made again.

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


# The cache of the model's answers to identical questions.

TIMEOUT_S: Final = 1.0
"""How long a cache operation may take. A cache hit saves only the seconds of asking the model."""

logger = logging.getLogger(__name__)


class CachedAnswers:
    """A cache of the answers of one model at one endpoint. An unreachable cache acts like an empty one."""

    def __init__(
        self,
        cache: AnswerCache | None = None,
        endpoint: str = "",
        model: str = "",
        transcript: Transcript | None = None,
    ) -> None:
        """`transcript`: records or replays the answers of the cache and of the model."""
        self.transcript = Transcript() if transcript is None else transcript
        self._cache = cache
        self._endpoint_and_model = (endpoint, model)

    def key(self, system: str, user: str, sample: int) -> str:
        """The key of a question: endpoint, model, prompt without the secrets, and the number of the sample."""
        asked = (*self._endpoint_and_model, system, user, sample)
        return sha256(json.dumps(asked).encode()).hexdigest()

    async def get(self, key: str) -> str | None:
        """The cached answer to a question, or None."""
        if self._cache is None:
            return None
        try:
            async with asyncio.timeout(TIMEOUT_S):
                return await self._cache.get(key)
        except (StorageUnavailableError, TimeoutError) as error:
            logger.info("the cache of model answers is unavailable: %s", error)
            return None

    async def put(self, key: str, answer: str) -> None:
        """Stores an answer."""
        if self._cache is None:
            return
        try:
            async with asyncio.timeout(TIMEOUT_S):
                await self._cache.put(key, answer)
        except (StorageUnavailableError, TimeoutError) as error:
            logger.info("the cache of model answers is unavailable: %s", error)


# The asking.

Ask = Callable[[str, str, dict[str, Any]], Awaitable[str]]
"""Sends a system text, a user text and the schema of the answer; returns the answer. Raises LLMUnavailableError."""

NO_CACHE: Final = CachedAnswers()

_TRIES: Final = 2


class NotJudgedError(Exception):
    """The model's judgment is not available or not trusted. The message is the reason that the results give."""


class JudgeAddressedError(NotJudgedError):
    """The model followed instructions that agents wrote."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """The texts that the model is sent, and the schema of its answer."""

    system: str
    user: str
    schema: dict[str, Any]


class Opinion(Protocol):
    """The verified content of an answer."""

    @property
    def unverified(self) -> Sequence[str]:
        """The criteria with a favourable verdict that no true quote bears out."""


OpinionT = TypeVar("OpinionT", bound=Opinion)


class Question(Protocol[OpinionT]):
    """What the model is asked, and how its answer is read."""

    def write(self, *, delimiter: str, code_word: str) -> Prompt:
        """The prompt with these secrets. The delimiter encloses the agents' texts; no agent knows the code word."""

    def read(self, text: str) -> OpinionT:
        """The verified content of an answer. Raises UnreadableAnswerError, CompromisedError."""

    def without_texts(self) -> "Question[OpinionT]":
        """The same question without any text of the agents that are judged."""


@dataclass(frozen=True, slots=True)
class Taken(Generic[OpinionT]):
    """An opinion, and whether its answer came from the cache."""

    opinion: OpinionT
    cached: bool


async def take(ask: Ask, question: Question[OpinionT], cache: CachedAnswers, sample: int = 0) -> Taken[OpinionT]:
    """The model's opinion, from the cache or from a new answer. A cached answer is verified again like a new one.

    Raises NotJudgedError.
    """
    texts = _texts(question)
    key = cache.key(*texts, sample)
    if (known := await _cached(cache, key, question_id(*texts, sample))) is not None:
        with suppress(UnreadableAnswerError, CompromisedError):
            return Taken(question.read(known), cached=True)
    text, opinion = await _answer(_Asked(ask, question, cache.transcript, sample))
    await cache.put(key, text)
    return Taken(opinion, cached=False)


async def _cached(cache: CachedAnswers, key: str, question: str) -> str | None:
    """The answer of the cache, or that of a replayed transcript's cache."""
    if (known := cache.transcript.remembered(question)) is not None:
        return known
    if (known := await cache.get(key)) is not None:
        cache.transcript.note_cached(question, known)
    return known


@dataclass(frozen=True, slots=True)
class _Asked(Generic[OpinionT]):
    """A question to the model, with fresh secrets each time. The transcript has its answers."""

    ask: Ask
    question: Question[OpinionT]
    transcript: Transcript
    sample: int

    async def answer(self, complaint: str = "") -> str:
        """The model's answer. Raises LLMUnavailableError."""
        prompt = _with_secrets(self.question)
        system, user = _texts(self.question)
        return await self.transcript.reply(
            question_id(system + complaint, user, self.sample),
            lambda: self.ask(prompt.system + complaint, prompt.user, prompt.schema),
        )

    def without_texts(self) -> "_Asked[OpinionT]":
        """The same question without any text of the agents that are judged."""
        return replace(self, question=self.question.without_texts())


async def _answer(asked: _Asked[OpinionT]) -> tuple[str, OpinionT]:
    """The model's answer, and its verified content. Asks once more if the answer is empty, unreadable or unverified.

    Without a better second answer, the verified part of an unverified one counts. The cause of a NotJudgedError says
    what was wrong with an unreadable last answer.
    """
    complaint, readable, unreadable = "", None, None
    failure = NotJudgedError("the model's answers cannot be read")
    for _ in range(_TRIES):
        try:
            text = await asked.answer(complaint)
            opinion = asked.question.read(text)
        except CompromisedError as error:
            raise await _canary_fault(asked.without_texts()) from error
        except UnreadableAnswerError as error:
            unreadable = error
            complaint = f"\n\nYour last answer could not be read: {error}. Answer with the JSON that was asked for."
        except EmptyCompletionError as error:
            failure, unreadable = NotJudgedError(str(error)), None
        except LLMUnavailableError as error:
            failure, unreadable = NotJudgedError(str(error)), None
            break
        else:
            readable = text, opinion
            if not opinion.unverified:
                break
            complaint = (
                "\n\nYour last answer had quotes that are not in the evidence. Copy quotes character by character."
            )
    if readable is None:
        raise failure from unreadable
    return readable


async def _canary_fault(bare: _Asked[OpinionT]) -> NotJudgedError:
    """The reason why a model found the code word. Asks once more without any text of agents to find out.

    A team whose text manipulates the model must not gain by it. A team must not lose because the model hallucinates.
    """
    try:
        bare.question.read(await bare.answer())
    except CompromisedError:
        return NotJudgedError("the model reports a code word even without the agents' texts")
    except (LLMUnavailableError, UnreadableAnswerError):
        return NotJudgedError("the model reported a code word that no agent knows")
    return JudgeAddressedError(
        "the model followed instructions in the agents' texts: it reported a code word that no agent knows"
    )


def _with_secrets(question: Question[OpinionT]) -> Prompt:
    return question.write(delimiter=f"=={secrets.token_hex(16)}==", code_word=secrets.token_hex(8))


def _texts(question: Question[OpinionT]) -> tuple[str, str]:
    """The prompt's texts without the secrets, which differ each time."""
    prompt = question.write(delimiter="", code_word="")
    return prompt.system, prompt.user
