"""Screening: removes passages that address the judge from the evidence, and names their authors."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from concord.judging.injection import addresses_judge, remove_passages, says_nothing
from concord_evaluator.judge.evidence import ASSESSOR, Evidence, SeenAnswer, SeenCall

HOLLOW: Final = "The answer says nothing."
HOLLOWED: Final = "The answer says nothing but what is meant for the judge."


@dataclass(frozen=True, slots=True)
class Suspect:
    """A passage that addresses the judge, its author, and its call. None if unknown."""

    agent: str | None
    step_id: str | None
    quote: str


def screen(evidence: Evidence) -> tuple[Evidence, tuple[Suspect, ...]]:
    """The evidence without passages that address the judge; and these passages, also those in names and step ids.

    The judge never sees names and step ids. The rest of an answer counts; if it has no content, there is no answer.
    """
    suspects = [Suspect(agent, None, agent) for agent in evidence.aliases.agents if addresses_judge(agent)]
    calls = []
    for call in evidence.calls:
        screened, found = _call(call, evidence)
        calls.append(screened)
        suspects += found
    answers = []
    for answer in evidence.answers:
        text, taken = remove_passages(answer.text, evidence.task)
        suspects += [Suspect(agent, None, quote) for quote in taken for agent in answer.agents or (None,)]
        answers.append(_answer(answer, text, hollowed=bool(taken)))
    return replace(evidence, calls=tuple(calls), answers=tuple(answers)), tuple(suspects)


def _answer(answer: SeenAnswer, text: str, *, hollowed: bool) -> SeenAnswer:
    if answer.fault or not says_nothing(text):
        return replace(answer, text=text)
    return replace(answer, text="", fault=HOLLOWED if hollowed else HOLLOW)


def _call(call: SeenCall, evidence: Evidence) -> tuple[SeenCall, list[Suspect]]:
    caller, callee = evidence.aliases.agent(call.caller), evidence.aliases.agent(call.callee)
    request, asked = (call.request, []) if call.caller == ASSESSOR else remove_passages(call.request, evidence.task)
    response, answered = remove_passages(call.response, evidence.task)
    error, failed = remove_passages(call.error, evidence.task)
    named = [call.step_id] if call.caller != ASSESSOR and addresses_judge(call.step_id) else []
    found: Iterator[Suspect] = (
        Suspect(agent, call.step_id, quote)
        for agent, quotes in ((caller, [*asked, *named]), (callee, [*answered, *failed]))
        for quote in quotes
    )
    return replace(call, request=request, response=response, error=error), list(found)
