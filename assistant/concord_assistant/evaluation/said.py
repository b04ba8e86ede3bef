"""Built-in evaluators of what the assistant said: to others, to its user, and as characters understood it."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from concord_assistant.evaluation.cases import MAX_SHOWN, BuiltIn, Case, Verdict, ids_of
from concord_assistant.evaluation.changes import changes_of_assistant
from concord_assistant.evaluation.ledgers import standing_in
from concord_assistant.evaluation.params import ChatParams, LedgerParams, MessageParams
from concord_assistant.evaluation.states import SENDING, Item
from concord_assistant.evaluation.unclear import UNCLEAR, unclear_of
from concord_assistant.meaning.clauses import REPLY_PREFIX
from concord_assistant.meaning.judging import judge_all
from concord_assistant.meaning.saying import Judgement, Saying
from concord_assistant.meaning.understanding import has_values
from concord_assistant.scenario.schema import AllowedChange
from concord_assistant.scenario.selectors import (
    RECIPIENTS,
    Condition,
    Where,
    contains,
    matches,
    plain_address,
    recipients,
    same,
)


def sent(modality: Literal["email", "sms"], text: str) -> BuiltIn[MessageParams]:
    """The evaluator of messages to others. `text`: the field that has the text."""

    def evaluate(case: Case, params: MessageParams) -> Verdict:
        where = _message_where(params, text)
        sent = [
            change.item
            for change in changes_of_assistant(case.context)
            if (change.modality, change.operation) == (modality, "create")
        ]
        short = [item for item in sent if len(str(item.get(text) or "")) <= params.max_characters]
        in_time = [item for item in short if _is_in_time(case, params, item)]
        found = [item for item in in_time if matches(item, where)]
        to = ", ".join(params.to)
        if found:
            if params.says:
                return _read(found, text, params.says, f"The assistant wrote to {to}")
            return Verdict(1.0, f"The assistant wrote to {to} as asked.", {"messages": ids_of(found)})
        near = [item for item in sent if all(any(same(each, one) for each in recipients(item)) for one in params.to)]
        what = "but not as asked" if near else "no message"
        explanation = f"The assistant wrote to {to}, {what}." if near else f"The assistant sent no message to {to}."
        return Verdict(0.0, explanation, {"messages": ids_of(near)})

    def allows(params: MessageParams) -> Iterator[AllowedChange]:
        where = _message_where(params, text)
        yield AllowedChange(modality=modality, operation="create", where=where, max_count=params.max_count)

    return BuiltIn(MessageParams, evaluate, allows)


def told_to_user(case: Case, params: ChatParams) -> Verdict:
    """The share of facts that one message of the assistant contains: the highest share of all messages."""
    said = [
        item
        for item in case.items("chat", new=True)
        if item.get("role") == "assistant" and len(_text_of(item)) <= params.max_characters
    ]
    texts = [_text_of(item) for item in said]
    best = max(([fact for fact in params.contains if states(text, fact)] for text in texts), key=len, default=[])
    missing = [fact for fact in params.contains if fact not in best]
    judged = _judged(texts, params.says) if texts else [Judgement("wrong", "there is no message")] * len(params.says)
    unclear = sum(each.understood == "not_understood" for each in judged)
    right = len(best) + sum(each.understood == "right" for each in judged)
    facts = len(params.contains) + len(params.says)
    together = " in one message" if not params.says else ""
    told = f"The assistant told its user {right} of {facts} facts{together}"
    told += f", and {unclear} in words that were not understood." if unclear else "."
    details: dict[str, Any] = {"missing": missing}
    if judged:
        details["understood"] = [f"{each.understood}: {each.why}" for each in judged]
    if unclear:
        details[UNCLEAR] = _unclear(params.says, judged)
    return Verdict(right / facts, told, details, open=unclear / facts)


def states(text: str, fact: str | list[str]) -> bool:
    """Whether a text contains one of the wordings of a fact."""
    return any(contains(text, wording) for wording in ([fact] if isinstance(fact, str) else fact))


def in_ledger(case: Case, params: LedgerParams) -> Verdict:
    """All points if what stands in a character's ledger is the act with its values, and no other such act."""
    standing, unclear = standing_in(case.context.ledger, params.character, params.says.act)
    details = {"ledger": [each.model_dump(mode="json") for each in (*standing, *unclear)][:MAX_SHOWN]}
    told = f"{params.character} understood to {params.says.act}"
    if not standing:
        if unclear:
            return Verdict(0.0, f"{params.character} did not understand how to {params.says.act}.", details, open=1.0)
        return Verdict(0.0, f"{params.character} had nothing to {params.says.act}.", details)
    if not all(_is_after(case, params.after, each.timestamp) for each in standing):
        return Verdict(0.0, f"{told}, but before {', '.join(params.after)} had all written.", details)
    right = all(has_values(each.values, params.says) for each in standing)
    done = ", ".join(" ".join(each.values.values()) for each in standing)
    if right and len(standing) <= params.max_count:
        return Verdict(1.0, f"{told} {done}, as asked.", details)
    return Verdict(0.0, f"{told} {done}, which was not asked for.", details)


def _message_where(params: MessageParams, text: str) -> Where:
    where: Where = {RECIPIENTS: Condition(all=list(params.to), only=[*params.to, *params.cc]), **params.where}
    return {**where, text: Condition(contains=params.contains)} if params.contains and text not in where else where


def _is_in_time(case: Case, params: MessageParams, item: Item) -> bool:
    """Whether a message was sent before the deadline, and after the first new message of each one waited for."""
    if params.before is None and not params.after:
        return True
    sent_at = _sent_at(item)
    return (params.before is None or sent_at < params.before) and _is_after(case, params.after, sent_at)


def _is_after(case: Case, senders: Sequence[str], sent_at: datetime) -> bool:
    """Whether something was sent after the first new message of each of the senders."""
    arrived: dict[str, datetime] = {}
    for modality in SENDING if senders else ():
        for other in case.items(modality, new=True):
            sender = plain_address(str(other.get("from_address") or other.get("from_number") or ""))
            arrived[sender] = min(_sent_at(other), arrived.get(sender, _sent_at(other)))
    awaited = map(plain_address, senders)
    return all(arrived[each] < sent_at if each in arrived else False for each in awaited)


def _sent_at(item: Item) -> datetime:
    return datetime.fromisoformat(str(item["sent_at"]))


def _read(items: Sequence[Item], text: str, sayings: Sequence[Saying], told: str) -> Verdict:
    """Whether messages together say all that they should. Of one thing, the latest that speaks of it counts."""
    ordered = sorted(items, key=_sent_at) if len(items) > 1 else items
    judged = _judged([_whole_text(item, text) for item in ordered], sayings)
    details: dict[str, Any] = {
        "messages": ids_of(ordered),
        "understood": [f"{each.understood}: {each.why}" for each in judged],
    }
    if wrong := next((each for each in judged if each.understood == "wrong"), None):
        return Verdict(0.0, f"{told}, but not as asked: {wrong.why}.", details)
    if unclear := next((each for each in judged if each.understood == "not_understood"), None):
        details[UNCLEAR] = _unclear(sayings, judged)
        return Verdict(0.0, f"{told}, but was not understood: {unclear.why}.", details, open=1.0)
    return Verdict(1.0, f"{told} as asked.", details)


def _unclear(sayings: Sequence[Saying], judged: Sequence[Judgement]) -> list[dict[str, Any]]:
    pairs = zip(sayings, judged, strict=True)
    return [unclear_of(saying, each) for saying, each in pairs if each.understood == "not_understood"]


def _judged(texts: Sequence[str], sayings: Sequence[Saying]) -> list[Judgement]:
    """What texts, in the order of their time, say together: a question once asked is asked."""
    read = [judge_all(each, sayings) for each in texts]
    return [_together(saying, [each[number] for each in read]) for number, saying in enumerate(sayings)]


def _together(saying: Saying, judged: Sequence[Judgement]) -> Judgement:
    if saying.act == "ask" and (asked := [each for each in judged if each.understood == "right"]):
        return asked[0]
    return next((each for each in reversed(judged) if not each.silent), judged[-1])


def _whole_text(item: Item, text: str) -> str:
    """A text with its subject, unless that is a reply's."""
    subject = str(item.get("subject") or "")
    body = str(item.get(text) or "")
    return body if not subject or REPLY_PREFIX.match(subject) else f"{subject}\n\n{body}"


def _text_of(item: Item) -> str:
    """The text of a chat message, which may have parts."""
    content = item.get("content")
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    return str(content or "")
