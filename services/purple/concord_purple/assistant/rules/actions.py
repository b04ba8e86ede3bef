"""The tasks that need no memory of earlier turns. Each function returns what it did, as sentences without a stop."""

import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from concord_purple.assistant.items import Item
from concord_purple.assistant.rules import sending
from concord_purple.assistant.rules.desk import Desk, asks, is_bulk, rfc3339
from concord_purple.assistant.rules.invitations import Invitation, InvitationRules, decide
from concord_purple.assistant.rules.letters import moment
from concord_purple.assistant.rules.people import people_in
from concord_purple.assistant.rules.tasks import Task
from concord_purple.assistant.rules.times import Interval
from concord_purple.assistant.rules.wording import content_words
from concord_purple.assistant.tools import TOOLS


async def write(task: Task, desk: Desk) -> list[str]:
    """Writes the task's text to each person."""
    done = []
    for person in task.people:
        if (task.channel == "sms" or person.email is None) and person.phone is not None:
            await TOOLS["sms_send"](desk.ues, {"to_numbers": [person.phone], "body": task.text})
        elif person.email is not None:
            await sending.reply(desk, person, task.text)
        else:
            continue
        done.append(f"I wrote to {person.name}")
    return done


async def answer(task: Task, desk: Desk, facts: Sequence[str]) -> list[str]:
    """Answers the questions in unread emails with the facts that the user states."""
    senders = {(person.email or "").casefold() for person in task.senders}
    done = []
    suspects = {each.item["message_id"] for each in desk.suspects}
    for email in desk.inbox:
        if email["message_id"] in suspects:
            continue
        sender = str(email["from_address"]).casefold()
        if email["is_read"] or not asks(email) or (senders and sender not in senders):
            continue
        asked = content_words(f"{email['subject']} {email['body_text']}")
        if fitting := [fact for fact in facts if content_words(fact) & asked]:
            [person] = [each for each in people_in([email], (), (), "") if each.email == sender]
            await sending.reply(desk, person, " ".join(fitting), email)
            done.append(f"I answered {person.name}")
    return done


async def respond(task: Task, desk: Desk) -> list[str]:
    """Responds to the open invitations of the task's people, or about its words."""
    named = {(person.email or "").casefold() for person in task.people}
    done = []
    for event in desk.events:
        organizer = str(event.get("organizer") or "").casefold()
        wanted = organizer in named or _is_about(str(event["title"]), task.about)
        if desk.response_to(event) == "needs-action" and (wanted or not (named or task.about)):
            arguments = {"event_id": event["event_id"], "response": task.action}
            if re.search(r"\bcomment\b|\breason\b", task.sentence, re.I):
                arguments["comment"] = "I am sorry, I cannot come." if task.action == "declined" else "I will come."
            await TOOLS["calendar_respond"](desk.ues, arguments)
            done.append(f"I {task.action} “{event['title']}”")
    return done


async def answer_invitations(rules: InvitationRules, desk: Desk) -> tuple[list[str], bool]:
    """Answers all invitations from now on by rules. Returns also whether all expected ones are answered."""
    found = [
        Invitation(
            str(event["event_id"]),
            str(event["title"]),
            str(event.get("organizer") or ""),
            Interval(moment(event["start"]), moment(event["end"])),
            response,
        )
        for event in desk.events
        if (response := desk.response_to(event)) is not None and moment(event["start"]) > desk.now
    ]
    if not found:
        return [], not rules.count
    window = Interval(min(each.span.start for each in found), max(each.span.end for each in found))
    ids = {each.event_id for each in found}
    own = [(each.title, each.span) for each in await desk.busy(window) if each.event_id not in ids]
    done = []
    for decision in decide(found, own, rules, desk.zone):
        invitation = decision.invitation
        if invitation.response == decision.response or invitation.response == "declined":
            continue
        arguments = {"event_id": invitation.event_id, "response": decision.response}
        if decision.reason:
            arguments["comment"] = decision.reason
        await TOOLS["calendar_respond"](desk.ues, arguments)
        done.append(f"I {decision.response} “{invitation.title}”")
    return done, rules.count is None or len(found) >= rules.count


async def forward(task: Task, desk: Desk) -> list[str]:
    """Forwards the latest fitting email."""
    for email in _emails_for(task, desk)[-1:]:
        arguments = {
            "to_addresses": [person.email for person in task.people if person.email],
            "subject": f"Fwd: {email['subject']}",
            "body_text": f"---------- Forwarded message ----------\nFrom: {email['from_address']}\n"
            f"Subject: {email['subject']}\n\n{email['body_text']}",
        }
        await TOOLS["email_send"](desk.ues, arguments)
        return [f"I forwarded “{email['subject']}”"]
    return []


async def file(task: Task, desk: Desk) -> list[str]:
    """Archives, deletes, labels, moves, stars or marks the fitting emails."""
    if not (found := _emails_for(task, desk)):
        return []
    arguments: dict[str, Any] = {"message_ids": [email["message_id"] for email in found]}
    if task.action == "email_add_label":
        arguments["labels"] = [task.target]
    if task.action == "email_move":
        arguments["folder"] = task.target
    await TOOLS[task.action](desk.ues, arguments)
    verb = task.action.removeprefix("email_").replace("_", " ")
    return [f"{verb}: “{email['subject']}”" for email in found]


async def remind(task: Task, desk: Desk) -> list[str]:
    """Enters an event with a reminder, in an hour if the task names no time."""
    start = task.window.start if task.window else desk.now + timedelta(hours=1)
    title = f"{task.text[:1].upper()}{task.text[1:150]}"
    event = {
        "title": title,
        "start": rfc3339(start),
        "end": rfc3339(start + timedelta(minutes=15)),
        "reminders": [{"minutes_before": 0}],
    }
    await TOOLS["calendar_create"](desk.ues, event)
    return [f"I entered a reminder, “{title}”"]


def _emails_for(task: Task, desk: Desk) -> list[Item]:
    """The emails in the inbox of the task's category, of its senders, or about its words."""
    if task.category is not None:
        return [each for each in desk.inbox if (is_bulk(each) if task.category == "bulk" else asks(each))]
    senders = {(person.email or "").casefold() for person in task.senders}
    found = [each for each in desk.inbox if not senders or str(each["from_address"]).casefold() in senders]
    if not task.about:
        return found if senders else []
    fitting = [
        each for each in found if _is_about(f"{each['subject']} {each['from_address']} {each['body_text']}", task.about)
    ]
    return fitting or (found if senders else [])


def _is_about(text: str, words: Sequence[str]) -> bool:
    """Whether a text has one of the words, or a title of several words as it is."""
    plain, found = text.casefold(), content_words(text)
    return any(word.casefold() in plain if " " in word else bool(content_words(word) & found) for word in words)
