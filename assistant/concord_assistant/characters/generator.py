"""The characters' replies to what the assistant sent in the user's name."""

import asyncio
import logging
from collections import Counter
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Literal

from concord.llm import LLM, EmptyCompletionError, LLMUnavailableError
from concord_assistant.characters.brief import Brief, brief_of
from concord_assistant.characters.envelope import parameters_of
from concord_assistant.characters.faults import Fault, FaultKind, faults_in
from concord_assistant.characters.incoming import Incoming, incoming_of
from concord_assistant.characters.models import NewMessages, ScheduledResponse
from concord_assistant.characters.prompt import (
    MAX_TOKENS,
    TOLD_TO_ALL,
    Prompt,
    UnreadableAnswerError,
    read_answer,
    write_prompt,
)
from concord_assistant.characters.recording import ReplayedModel
from concord_assistant.characters.rule_based import Answer, answer_by_rules, decided_answer
from concord_assistant.characters.threads import ThreadReader
from concord_assistant.characters.timing import Window, delay_of, placed
from concord_assistant.results import UserFault
from concord_assistant.scenario.schema import ScenarioConfig
from concord_environment_client import AsyncUESClient

MAX_PER_TURN: Final = 50
"""Messages of one turn that one character reads. More in a turn are a storm; the rest stays unanswered."""

MAX_CONCURRENT: Final = 8
"""Requests to the model at the same time."""

_TRIES: Final = 2

Source = Literal["model", "replay", "rule"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Reply:
    """The answer to a message, who worded it, and what was wrong on the way."""

    answer: Answer
    source: Source
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Held:
    """A reply that is due after the turns so far. `key`: of the message."""

    due: datetime
    key: str
    response: ScheduledResponse


class ResponseGenerator:
    """Decides whether, what and when characters reply, for one assessment.

    Characters reply to messages of the user only, so two characters never reply to each other. The model decides on the
    text and on whether to reply at all; author, recipients, thread and time are set by code.
    """

    def __init__(
        self,
        client: AsyncUESClient,
        scenario_config: ScenarioConfig,
        response_llm: LLM | None = None,
        summarization_llm: LLM | None = None,
        seed: int = 0,
    ) -> None:
        """Without `response_llm`, all characters are rule-based. Raises ValueError for a brief that is invalid."""
        self._scenario = scenario_config
        self._llm = response_llm
        self._seed = seed
        self._threads = ThreadReader(client, scenario_config, summarization_llm)
        self._briefs: dict[str, Brief] = {
            name: brief_of(profile) for name, profile in scenario_config.characters.items()
        }
        self._read: set[str] = set()
        self._replies: Counter[tuple[str, str]] = Counter()
        self._held: list[_Held] = []
        self._turn = 0
        self._slots = asyncio.Semaphore(MAX_CONCURRENT)
        self.faults: list[UserFault] = []
        """Faults of the characters so far."""

    @property
    def held(self) -> list[ScheduledResponse]:
        """Replies that are due later than the turns so far, by their time."""
        return [replace(each.response, scheduled_time=each.due) for each in sorted(self._held, key=_order)]

    async def process_new_messages(
        self,
        new_messages: NewMessages,
        current_time: datetime,
        window: tuple[datetime, datetime] | None = None,
        turn: int | None = None,
    ) -> list[ScheduledResponse]:
        """The replies that arrive in `window`, by their time: to the new messages, and held ones of earlier turns.

        `window` is (earliest, latest], by default (current_time, current_time + default_time_step]; `turn` numbers the
        faults, by default the calls are counted. A reply that is due after the window is held for a later call. Raises
        UESClientError, and NotRecordedError if a replayed model lacks a reply.
        """
        self._turn = self._turn + 1 if turn is None else turn
        bounds = Window.of(*(window or (current_time, current_time + self._scenario.default_time_step)))
        accepted = self._accepted(incoming_of(new_messages, self._scenario, current_time))
        replies = await _gathered([self._reply(incoming) for incoming in accepted])
        for incoming, reply in zip(accepted, replies, strict=True):
            self._report(incoming, reply.faults)
            if reply.answer.given:
                self._hold(incoming, reply)
        return self._released(bounds)

    def _accepted(self, found: Sequence[Incoming]) -> list[Incoming]:
        """What characters read: each message once, within the limits per turn and thread."""
        accepted: list[Incoming] = []
        messages, replies = Counter[str](), self._replies.copy()
        for incoming in found:
            brief, thread = self._briefs[incoming.character_id], _thread(incoming)
            if incoming.key in self._read or not brief.enabled:
                continue
            self._read.add(incoming.key)
            if incoming.modality == "calendar":
                self._withdraw(incoming)
            if messages[incoming.character_id] == MAX_PER_TURN or replies[thread] >= brief.max_replies:
                logger.warning(
                    "%s leaves message %s unanswered: there are too many", incoming.character_id, incoming.message_id
                )
                continue
            messages[incoming.character_id] += 1
            replies[thread] += 1
            accepted.append(incoming)
        return accepted

    def _withdraw(self, incoming: Incoming) -> None:
        """Drops a held response to an earlier version of an event: the attendee has not agreed to the new one."""
        about = (incoming.character_id, incoming.modality, incoming.message_id)
        self._held = [
            each
            for each in self._held
            if (each.response.character_id, each.response.modality, each.response.reply_to) != about
        ]

    async def _reply(self, incoming: Incoming) -> _Reply:
        brief = self._briefs[incoming.character_id]
        if (decided := decided_answer(incoming, brief)) is not None:
            return _Reply(decided, "rule")
        if self._llm is None or not brief.model:
            return _Reply(answer_by_rules(incoming, brief), "rule")
        async with self._slots:
            return await self._by_model(self._llm, incoming, brief)

    async def _by_model(self, llm: LLM, incoming: Incoming, brief: Brief) -> _Reply:
        """The model's reply if it has no faults, at the second try at the latest; else the rules'."""
        prompt = await self._prompt(incoming, brief)
        complaint, faults = "", list[str]()
        for _ in range(_TRIES):
            try:
                completion = await llm.complete(
                    prompt.system + complaint, prompt.user, schema=prompt.schema, max_tokens=MAX_TOKENS
                )
                answer = read_answer(completion.text, incoming.modality)
                prompted = (*TOLD_TO_ALL, complaint)
                found = faults_in(answer.text, incoming.character_id, brief, self._scenario, prompted)
            except (EmptyCompletionError, UnreadableAnswerError) as error:
                found = [Fault(FaultKind.UNREADABLE, str(error))]
            except LLMUnavailableError as error:
                faults.append(f"the language model is unavailable: {error}")
                break
            if not found:
                return _Reply(answer, "replay" if isinstance(llm, ReplayedModel) else "model", tuple(faults))
            faults += map(str, found)
            # Only words of ours: a fault's detail may quote what the assistant wrote.
            kinds = ", and ".join(dict.fromkeys(each.kind for each in found))
            complaint = f"\n\nYour last answer {kinds}. Write another one."
        return _Reply(answer_by_rules(incoming, brief), "rule", tuple(faults))

    async def _prompt(self, incoming: Incoming, brief: Brief) -> Prompt:
        thread = await self._threads.read(incoming)
        earlier = [each.as_data() for each in thread.messages]
        conversation = {"summary_of_the_beginning": thread.summary, "earlier": earlier}
        return write_prompt(
            incoming,
            self._scenario.characters[incoming.character_id],
            brief,
            sender=self._scenario.user.name,
            conversation={name: value for name, value in conversation.items() if value},
        )

    def _report(self, incoming: Incoming, faults: Sequence[str]) -> None:
        for fault in faults:
            logger.warning("%s is at fault: %s", incoming.character_id, fault)
            self.faults.append(UserFault(turn=self._turn, character=incoming.character_id, fault=fault))

    def _hold(self, incoming: Incoming, reply: _Reply) -> None:
        profile = self._scenario.characters[incoming.character_id]
        due = incoming.sent_at + delay_of(profile.response_timing, self._seed, incoming.key)
        self._replies[_thread(incoming)] += 1
        response = ScheduledResponse(
            character_id=incoming.character_id,
            modality=incoming.modality,
            scheduled_time=due,
            parameters=parameters_of(incoming, reply.answer, profile, self._scenario.user),
            reply_to=incoming.message_id,
            source=reply.source,
        )
        self._held.append(_Held(due, incoming.key, response))

    def _released(self, window: Window) -> list[ScheduledResponse]:
        """The held replies whose time is in the window, which are held no longer."""
        released: list[ScheduledResponse] = []
        kept: list[_Held] = []
        for each in sorted(self._held, key=_order):
            at = placed(each.due, window, self._seed, each.key)
            if at is None:
                kept.append(each)
            else:
                released.append(replace(each.response, scheduled_time=at))
        self._held = kept
        return sorted(released, key=lambda each: (each.scheduled_time, each.character_id, each.modality, each.reply_to))


async def _gathered(replies: Sequence[Coroutine[Any, Any, _Reply]]) -> list[_Reply]:
    """The replies in order. The first error ends the others."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(reply) for reply in replies]
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return [task.result() for task in tasks]


def _thread(incoming: Incoming) -> tuple[str, str]:
    """The character, and the thread or event, whose replies are counted together."""
    return incoming.character_id, incoming.thread_id or incoming.message_id


def _order(held: _Held) -> tuple[datetime, str]:
    return held.due, held.key
