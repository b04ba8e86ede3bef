"""Finds the answers to a task's parts in the text of a message."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from concord.suite import Answers, Family, Group, SuiteTask
from concord_evaluator.information.recogniser import CONCLUDING, as_found
from concord_evaluator.information.values import normalised, values_in

MAX_SENTENCES: Final = 50
"""Sentences of a message that are read as answers, the last ones."""

_ANSWERING: Final = re.compile(r"\b(?:answers?|solutions?)\b", re.IGNORECASE)
_SENTENCE: Final = re.compile(r"[^.;!?\n]+(?:[.;!?](?!\s|$)[^.;!?\n]*)*")


def right_parts(task: SuiteTask, family: Family, text: str, receiver: str, answers: Answers) -> frozenset[str]:
    """The ids of the parts to which a sentence of the text, or what follows a colon in it, is the right answer.

    Only a sentence that speaks of an answer is read as one, or a sentence that gives a result and states no value of a
    fact: "agent/1 has 48213" is a fact, even where 48213 is the answer.

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
    values = {
        as_found(each) for fact in task.facts for each in (fact.value, fact.anchor, *fact.domain) if each is not None
    }
    for sentence in islice(reversed(sentences), MAX_SENTENCES):
        if not _ANSWERING.search(sentence) and not (
            CONCLUDING.search(sentence) and values.isdisjoint(each.value for each in values_in(normalised(sentence)))
        ):
            continue
        yield sentence
        _, colon, rest = sentence.rpartition(":")
        if colon:
            yield rest.strip()
