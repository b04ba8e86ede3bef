"""The evidence that a model sees of an assistant's work: actions, chat, new and earlier messages, within a budget."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from concord.judging.injection import assistant_patterns, remove_passages
from concord.judging.model_answer import EVIDENCE, cost, cut, fair_limit
from concord_assistant.evaluation.changes import all_changes
from concord_assistant.evaluation.states import Item, items_of
from concord_assistant.results import ActionLogEntry
from concord_assistant.scenario.evaluators import AgentBeatsEvalContext

MAX_ACTIONS: Final = 80
MAX_CHAT: Final = 40
MAX_NEW: Final = 40
MAX_EARLIER: Final = 30

_CHAT: Final = "chat.send_message"
_SHOWN: Final[Mapping[str, Sequence[str]]] = {
    "email": (
        "from_address",
        "to_addresses",
        "cc_addresses",
        "bcc_addresses",
        "subject",
        "body_text",
        "folder",
        "labels",
    ),
    "sms": ("from_number", "to_numbers", "body"),
    "calendar": ("title", "start", "end", "location", "description", "organizer", "attendees", "status"),
    "contacts": ("first_name", "last_name", "identifiers", "notes"),
}
"""The fields of items that the model sees."""


@dataclass(frozen=True, slots=True)
class SeenItem:
    """An action, a message or an event as the model sees it.

    `own`: whether the assistant wrote it. `proves`: whether it came about during the assessment, so that a quote from
    it can bear out a verdict.
    """

    id: str
    kind: str
    texts: Mapping[str, str]
    own: bool
    proves: bool


@dataclass(frozen=True, slots=True)
class AssistantEvidence:
    """The items in order, and the user's task. `condensed`: whether items were left out or texts shortened."""

    task: str
    items: tuple[SeenItem, ...]
    condensed: bool

    def texts_of(self, item_id: str) -> list[str]:
        """The texts of an item that can bear out a verdict."""
        return [text for item in self.items if item.id == item_id and item.proves for text in item.texts.values()]

    def without_own_texts(self) -> "AssistantEvidence":
        """The evidence without any text of the assistant."""
        items = [replace(item, texts=dict.fromkeys(item.texts, "")) if item.own else item for item in self.items]
        return replace(self, items=tuple(items))


@dataclass(frozen=True, slots=True)
class ScreenedEvidence:
    """Evidence without passages that address the judge, and those of them that the assistant wrote.

    `idle`: whether the assistant took no action.
    """

    evidence: AssistantEvidence
    addressed: tuple[str, ...]
    idle: bool


def screened_evidence(context: AgentBeatsEvalContext) -> ScreenedEvidence:
    """The evidence on an assessment, screened."""
    idle = not any(entry.success for entry in context.action_log)
    return ScreenedEvidence(*screen(make_evidence(context)), idle)


def make_evidence(context: AgentBeatsEvalContext, budget: int = EVIDENCE) -> AssistantEvidence:
    """The evidence on an assessment. Texts that exceed their share of the budget lose their middle."""
    groups = [
        _ends(list(_actions(context.action_log)), MAX_ACTIONS),
        _ends(list(_chat(context)), MAX_CHAT),
        _ends(list(_arrived(context)), MAX_NEW),
        _ends(list(_earlier(context)), MAX_EARLIER),
    ]
    items = [item for group, _ in groups for item in group]
    limit = fair_limit(
        [cost(text) for item in items for text in item.texts.values()] + [cost(context.user_prompt)], budget
    )
    shown = [replace(item, texts={name: cut(text, limit) for name, text in item.texts.items()}) for item in items]
    condensed = any(omitted for _, omitted in groups) or [item.texts for item in shown] != [
        item.texts for item in items
    ]
    numbered = [replace(item, id=f"{item.kind} {number}") for number, item in enumerate(shown, start=1)]
    return AssistantEvidence(cut(context.user_prompt, limit), tuple(numbered), condensed)


def screen(evidence: AssistantEvidence) -> tuple[AssistantEvidence, tuple[str, ...]]:
    """The evidence without passages that address the judge, and those of them that the assistant wrote."""
    items, own = [], []
    for item in evidence.items:
        texts: dict[str, str] = {}
        for name, text in item.texts.items():
            texts[name], taken = remove_passages(text, evidence.task, assistant_patterns())
            own += taken if item.own else []
        items.append(replace(item, texts=texts))
    return replace(evidence, items=tuple(items)), tuple(own)


def _actions(log: Sequence[ActionLogEntry]) -> Iterator[SeenItem]:
    """The actions but for chat messages, which the chat has."""
    for entry in log:
        if entry.action != _CHAT or not entry.success:
            texts = {name: _text(value) for name, value in entry.parameters.items()}
            outcome = {} if entry.success else {"failed": entry.error_message or "yes"}
            kind = f"action {entry.action}"
            yield SeenItem("", kind, {**texts, **outcome}, own=True, proves=entry.success)


def _chat(context: AgentBeatsEvalContext) -> Iterator[SeenItem]:
    earlier = {message.get("message_id") for message in (context.initial_state.get("chat") or {}).get("messages") or ()}
    for message in (context.final_state.get("chat") or {}).get("messages") or ():
        own = message.get("role") == "assistant" and message.get("message_id") not in earlier
        kind = "chat message of the assistant" if own else "chat message of the user"
        yield SeenItem("", kind, {"text": _text(message.get("content"))}, own=own, proves=own)


def _arrived(context: AgentBeatsEvalContext) -> Iterator[SeenItem]:
    """Messages and events of others that came during the assessment. The assistant's are among its actions."""
    sent = {
        _text(entry.parameters.get(name)) for entry in context.action_log for name in ("body_text", "body", "title")
    }
    for change in all_changes(context.initial_state, context.final_state):
        if change.operation == "create" and change.modality in _SHOWN:
            item = _seen(change.modality, change.item, "new", proves=True)
            if not sent & {item.texts.get(name) for name in ("body_text", "body", "title")} - {"", None}:
                yield item


def _earlier(context: AgentBeatsEvalContext) -> Iterator[SeenItem]:
    for modality in _SHOWN:
        for item in items_of(context.initial_state, modality):
            yield _seen(modality, item, "earlier", proves=False)


def _seen(modality: str, item: Item, when: str, *, proves: bool) -> SeenItem:
    texts = {name: _text(item[name]) for name in _SHOWN[modality] if item.get(name)}
    return SeenItem("", f"{when} {modality}", texts, own=False, proves=proves)


def _ends(items: list[SeenItem], limit: int) -> tuple[list[SeenItem], int]:
    """The first and the last items, up to a limit, and the number of those left out."""
    if len(items) <= limit:
        return items, 0
    head = limit // 2
    return [*items[:head], *items[len(items) - limit + head :]], len(items) - limit


def _text(value: Any) -> str:  # noqa: ANN401 - JSON
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)
