"""The people of a day: they take forms, answer the user's questions in chat, and react as planned."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from concord_assistant.characters.models import ScheduledResponse
from concord_assistant.office.deeds import SentItem, attendees_of, sent_in
from concord_assistant.office.forms import form_text, is_open, read_form
from concord_assistant.office.plan import DECIDE, DayPlan, Desk, PlannedReaction
from concord_assistant.office.values import plain_address
from concord_assistant.results import ActionLogEntry
from concord_environment_client.modalities.chat import CONVERSATION

Item = Mapping[str, Any]

MAX_RESENT: Final = 5
"""How often one desk sends its form again."""

_ANSWERED_AFTER: Final = timedelta(minutes=1)
_AT_ONCE: Final = timedelta(milliseconds=1)


class PlannedPeople:
    """The answers of a day's people, decided by the plan alone. Nobody reads anything but forms."""

    def __init__(self, plan: DayPlan) -> None:
        self._plan = plan
        self._log: list[ActionLogEntry] = []
        self._held: list[ScheduledResponse] = []
        self._reacted: set[str] = set()
        self._resent: dict[str, int] = {}
        self._answered = False

    def replies(
        self, new: Sequence[ActionLogEntry], window: tuple[datetime, datetime], events: Mapping[str, Item]
    ) -> list[ScheduledResponse]:
        """The events that arrive in `window`, (earliest, latest], by their time.

        `new`: the actions since the last call; `events`: the calendar's, by id.
        """
        known = len(self._log)
        self._log += new
        for sent in sent_in(self._log, self._plan, events):
            if sent.place > known:
                self._held += self._caused_by(sent, events)
        earliest, latest = window
        due = [each for each in self._held if each.scheduled_time <= latest]
        self._held = [each for each in self._held if each.scheduled_time > latest]
        return sorted((_not_before(each, earliest, latest) for each in due), key=lambda each: each.scheduled_time)

    def _caused_by(self, sent: SentItem, events: Mapping[str, Item]) -> Iterator[ScheduledResponse]:
        if sent.action == "chat.send_message":
            yield from self._answer(sent)
            return
        for desk in self._plan.desks:
            if plain_address(desk.address) in sent.receivers and not sent.action.startswith("calendar."):
                yield from self._at_desk(desk, sent)
        for reaction in self._plan.reactions:
            on = "message" if not sent.action.startswith("calendar.") else "invitation"
            if reaction.on == on and plain_address(reaction.address or "") in sent.receivers:
                yield from self._react(reaction, sent, events)

    def _at_desk(self, desk: Desk, sent: SentItem) -> Iterator[ScheduledResponse]:
        _, faults = read_form(desk, sent.text)
        text = desk.confirmation
        if faults or not is_open(desk, sent.at):
            if self._resent.get(desk.desk_id, 0) >= MAX_RESENT:
                return
            self._resent[desk.desk_id] = self._resent.get(desk.desk_id, 0) + 1
            why = "; ".join(faults) if faults else "we take no forms at this time"
            text = f"Nothing has happened: {why}. Please send this form:\n\n{form_text(desk)}"
        else:
            for reaction in self._plan.reactions:
                if reaction.on == "form" and reaction.desk == desk.desk_id:
                    yield from self._react(reaction, sent, {})
        if text is not None:
            yield _message(desk.desk_id, desk.address, self._plan.user, f"Re: {desk.title}", text, sent, desk)

    def _react(
        self, reaction: PlannedReaction, sent: SentItem, events: Mapping[str, Item]
    ) -> Iterator[ScheduledResponse]:
        """What a reaction causes, once. A response is to the event to which its sender was invited last."""
        if reaction.reaction_id in self._reacted:
            return
        data = dict(reaction.data)
        if reaction.modality == "calendar":
            guest = plain_address(reaction.address or "")
            invited = [each for each in events.values() if guest in map(plain_address, attendees_of(each))]
            if not invited:
                return
            data["event_id"] = max(invited, key=lambda each: str(each["updated_at"]))["event_id"]
        self._reacted.add(reaction.reaction_id)
        yield ScheduledResponse(
            character_id=reaction.reaction_id,
            modality=reaction.modality,
            scheduled_time=sent.at + reaction.after,
            parameters=data,
            reply_to=str(sent.place),
            source="rule",
        )

    def _answer(self, sent: SentItem) -> Iterator[ScheduledResponse]:
        """The user's answer: to the first message the planned facts of all errands, later to questions alone."""
        if self._answered and "?" not in sent.text:
            return
        told = [] if self._answered else [each.question for each in self._plan.errands]
        self._answered = True
        yield ScheduledResponse(
            character_id="user",
            modality="chat",
            scheduled_time=sent.at + _ANSWERED_AFTER,
            parameters={
                "role": "user",
                "content": "\n".join(dict.fromkeys(told)) or DECIDE,
                "conversation_id": CONVERSATION,
            },
            reply_to=str(sent.place),
            source="rule",
        )


def _message(
    desk_id: str, address: str, user: Sequence[str], subject: str, text: str, sent: SentItem, desk: Desk
) -> ScheduledResponse:
    by_mail = "@" in address
    own = [each for each in user if ("@" in each) is by_mail]
    data: dict[str, Any] = (
        {"from_address": address, "to_addresses": own[:1], "subject": subject, "body_text": text}
        if by_mail
        else {"from_number": address, "to_numbers": own[:1], "body": text}
    )
    return ScheduledResponse(
        character_id=desk_id,
        modality="email" if by_mail else "sms",
        scheduled_time=sent.at + desk.reply_after,
        parameters=data,
        reply_to=str(sent.place),
        source="rule",
    )


def _not_before(response: ScheduledResponse, earliest: datetime, latest: datetime) -> ScheduledResponse:
    """The response in the window: one that was due before it arrives at once."""
    if response.scheduled_time > earliest:
        return response
    return replace(response, scheduled_time=min(latest, earliest + _AT_ONCE))
