"""Finds the answers to a task's parts in the text of a message."""

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from pydantic import JsonValue

from concord.json_text import NoJsonError, documents_in
from concord.suite import Answers, Family, Group, SuiteTask
from concord_evaluator.information.recogniser import CONCLUDING, as_found
from concord_evaluator.information.values import normalised, respelled, values_in
from concord_evaluator.information.wide_tables import headed

MAX_SENTENCES: Final = 50
"""Sentences of a message that are read as answers, the last ones."""

ANSWERING: Final = re.compile(r"(?<![^\W_])(?:answers?|solutions?)(?![^\W_])", re.IGNORECASE)
_MARKED: Final = re.compile(rf"{ANSWERING.pattern}[^:=,|\t]*[:=,|\t](.*)", re.IGNORECASE)
_SENTENCE: Final = re.compile(r"[^.;!?\n]+(?:[.;!?](?!\s|$)[^.;!?\n]*)*")


def right_parts(task: SuiteTask, family: Family, text: str, receiver: str, answers: Answers) -> frozenset[str]:
    """The ids of the parts to which a sentence of the text, or what follows a mark in it, is the right answer.

    Only a sentence that speaks of an answer is read as one, a cell below such a heading, a member of a JSON object with
    such a key or text, or a sentence that gives a result and states no value of a fact: "agent/1 has 48213" is a fact,
    even where 48213 is the answer.

    Where seats have to agree, an answer is right or wrong together with the other seats' `answers`. A text is then read
    as the answer of its receiver and of the seats that it names.
    """
    right, seats = set[str](), _own_answerers(task, family, text, receiver)
    for candidate in dict.fromkeys(_candidates(task, text[: task.message_limit])):
        common = family.grade(dict.fromkeys(task.answerers, candidate), task.key)
        right |= {part.id for part in task.parts if common.parts.get(part.id) == 1}
        for seat in seats:
            alone = family.grade({**answers, seat: candidate}, task.key)
            right |= {part.id for part in task.parts if part.seat == seat and alone.parts.get(part.id) == 1}
        if len(right) == len(task.parts):
            break
    return frozenset(right)


def _own_answerers(task: SuiteTask, family: Family, text: str, receiver: str) -> list[str]:
    if family.group is not Group.AGREE:
        return []
    return [seat for seat in task.answerers if seat == receiver or re.search(rf"(?<!\w){re.escape(seat)}(?!\w)", text)]


def _candidates(task: SuiteTask, text: str) -> Iterator[str]:
    sentences = [match[0].strip() for match in _SENTENCE.finditer(text)]
    sentences += [f"{heading}: {text[slice(*cell)]}" for heading, cell in headed(text) if ANSWERING.search(heading)]
    values = {
        as_found(each) for fact in task.facts for each in (fact.value, fact.anchor, *fact.domain) if each is not None
    }
    for sentence in islice(reversed(sentences), MAX_SENTENCES):
        plain = normalised(sentence)
        if not ANSWERING.search(sentence) and not (
            CONCLUDING.search(sentence) and values.isdisjoint(each.value for each in values_in(plain))
        ):
            continue
        for each in (sentence, respelled(plain)):
            yield each
            yield from (tail.strip(" |\t") for tail in _tails(each))
    yield from islice(_members(text), MAX_SENTENCES)


def _tails(sentence: str) -> Iterator[str]:
    """What follows the last colon of a sentence, and the first mark behind a word for an answer."""
    _, colon, rest = sentence.rpartition(":")
    if colon:
        yield rest
    if marked := _MARKED.search(sentence):
        yield marked[1]


def _members(text: str) -> Iterator[str]:
    """The members of JSON objects in which a key or a text speaks of an answer."""
    if "{" not in text or not ANSWERING.search(text):
        return
    try:
        pending: list[JsonValue] = list(documents_in(text))
    except NoJsonError:
        return
    while pending:
        each = pending.pop()
        if isinstance(each, dict):
            texts = [*each, *(member for member in each.values() if isinstance(member, str))]
            if any(map(ANSWERING.search, texts)):
                yield from (member if isinstance(member, str) else json.dumps(member) for member in each.values())
            pending += each.values()
        elif isinstance(each, list):
            pending += each
