"""The causes of wrong answers to the user's own tasks, from the calls that the gateway observed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from concord.assessment import AssessmentPlan, Mode, TaskSpec
from concord.assessment.results import AgentAnswer, Grading, TrialOutcome
from concord.assessment.verdict import MAX_CAUSES, Cause, CauseKind
from concord.trace.report import ReportBatch
from concord.wire.roster import GREEN_AGENT, Roster
from concord_evaluator.own_tasks.exchange import Exchange, quote
from concord_evaluator.own_tasks.following import follow
from concord_evaluator.own_tasks.found import Found, Quoted
from concord_evaluator.own_tasks.observed_calls import ObservedCall, Said, observed_calls
from concord_evaluator.own_tasks.reference import Reference, references
from concord_evaluator.own_tasks.wire_faults import disagreements, empty_answers, failures, never_asked, not_asked

_WITHOUT: Final = {
    "failed": CauseKind.AGENT_FAILED,
    "timeout": CauseKind.NO_ANSWER,
    "completed": CauseKind.EMPTY_ANSWER,
}
"""What an agent without an answer did, by the state of its task."""


def causes_of_trial(
    plan: AssessmentPlan, outcome: TrialOutcome, batches: Iterable[ReportBatch], grading: Grading | None
) -> list[Cause]:
    """Who made the answers to an own task wrong, as far as it was observed. Empty where no cause could be shown.

    `batches`: of the trace, of which only the gateway's own are read. `grading`: by the task's scorer; without one, all
    answers may be wrong. The points are of a trial that lost all 100. Raises KeyError for a trial that is not in the
    plan.
    """
    task = plan.task(plan.trial(outcome.trial_id).task_id)
    own = task.family is None and task.scenario is None and task.control is None
    if plan.mode is not Mode.LIVE or not own:
        return []
    given = {answer.agent: answer for answer in outcome.answers}
    right = {each.agent for each in grading.answers if each.value == 1} if grading is not None else set()
    wrong = [given[agent] for agent in plan.answerers(task.id) if agent in given and agent not in right]
    if not wrong:
        return []
    roster = Roster(plan.agents(task.id))
    calls = [_whole(call, given) for call in observed_calls(batches, roster)]
    team = [entry.id for entry in roster if entry.id not in plan.missing]
    return [found.cause() for found in _found(task, wrong, calls, team)[:MAX_CAUSES]]


def _found(
    task: TaskSpec, wrong: Sequence[AgentAnswer], calls: Sequence[ObservedCall], team: Sequence[str]
) -> list[Found]:
    exchange = _exchange(calls, task.text)
    faults, unasked = [*failures(calls), *empty_answers(calls)], never_asked(calls, team)
    answers = {each.agent: each.text or "" for each in wrong if each.state == "completed" and (each.text or "").strip()}
    missing = {agent: references(task, text) for agent, text in answers.items()}
    if followed := list(_followed(exchange, missing, len(wrong), complete=not faults and not unasked)):
        return followed
    if faults:
        return _shared(faults)
    if len(answers) < len(wrong):
        return _shared([_of_recipient(each, calls) for each in wrong if each.agent not in answers])
    right = frozenset(value for each in missing.values() for reference in each for value in reference.right)
    if disagreed := disagreements(exchange, right):
        return _shared(disagreed)
    return [not_asked(unasked)] if _explains(unasked, exchange, missing) else []


def _exchange(calls: Sequence[ObservedCall], prompt: str) -> Exchange:
    """The messages of a trial; none where they are too long to be read."""
    try:
        return Exchange(calls, prompt)
    except ValueError:
        return Exchange([], prompt)


def _followed(
    exchange: Exchange, missing: Mapping[str, Sequence[Reference]], answers: int, *, complete: bool
) -> Iterator[Found]:
    """Who gave or lost the values of wrong answers. Each value stands for an equal share of its answer."""
    for agent, wanted in missing.items():
        for reference in wanted:
            found = follow(exchange, agent, reference, complete=complete)
            if found is not None:
                yield replace(found, share=1 / len(wanted) / answers)


def _shared(found: Sequence[Found]) -> list[Found]:
    """The causes with equal shares: nothing tells which of them cost more."""
    return [replace(each, share=1 / len(found)) for each in found]


def _explains(unasked: Sequence[str], exchange: Exchange, missing: Mapping[str, Sequence[Reference]]) -> bool:
    """Whether agents that nobody asked explain a wrong answer: the only one left out, or no message has the value."""
    wanted = [reference.right for each in missing.values() for reference in each]
    if not unasked or not wanted:
        return len(unasked) == 1
    messages = exchange.among_agents(len(exchange.told))
    return not any(each.says(value) for each in messages for value in wanted)


def _of_recipient(answer: AgentAnswer, calls: Sequence[ObservedCall]) -> Found:
    """The failure of an agent that was given the task."""
    step_id = next((call.step_id for call in calls if call.caller == GREEN_AGENT and call.callee == answer.agent), "")
    quotes = (Quoted(answer.agent, step_id, quote(answer.error or "", ())),)
    return Found(_WITHOUT[answer.state], (answer.agent,), quotes)


def _whole(call: ObservedCall, given: Mapping[str, AgentAnswer]) -> ObservedCall:
    """The call of a recipient with the whole of its answer, of which the step quotes the beginning."""
    answer = given.get(call.callee)
    if call.caller != GREEN_AGENT or answer is None or answer.text is None or call.response is None:
        return call
    return replace(call, response=Said(answer.text))
