"""Trials of any team as the gateway records them, with messages of every fate, and what reporters may add to them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Final, Literal

from hypothesis import strategies as st
from pydantic import JsonValue

from concord.assessment import AssessmentConfig, AssessmentPlan, Mode, TaskSpec, TrialSpec
from concord.assessment.results import AgentAnswer, RoundsRecord, SeatReply, TrialOutcome, TurnRecord
from concord.assessment.scorers import IncludesScorer
from concord.assessment.suite_tasks import instance_of
from concord.assessment.task_spec import Exchange, FamilyTask
from concord.suite import SuiteTask, Topology
from concord.trace.attributes import (
    AGENT_NAME,
    CUT_FROM,
    GATEWAY,
    NOT_CARRIED,
    REFUSED_BY,
    RESPONSE_TEXT,
    ROUND,
    TASK_STATE,
    UNQUOTED_RESPONSE_WORDS,
    UNQUOTED_WORDS,
    WHOLE,
    whole_pieces,
)
from concord.trace.report import Channel, ReportBatch, StepBatch
from concord.trace.step import AgentInvocation, CallType, InteractionStep, ResponseTrace, StepAction
from concord.trace.stored_step import SerialisedBatch, TraceBatch
from concord.trace.timing import MAX_QUOTED
from concord.wire.roster import GREEN_AGENT, Roster, RosterEntry
from tests.kit.suite_tasks import BY_NAME, right_answers
from tests.kit.traces import RECEIVED_AT, TRACE_ID

SEATS: Final = ("agent/1", "agent/2", "agent/3", "agent/4")
STRANGERS: Final = ("agent", "2", "nobody", "agent/9")
TARGET: Final = "48213"
VALUES: Final = (TARGET, "70561", "55555")
ROUNDS: Final = 3

Kind = Literal["rounds", "calls", "own"]
Fate = Literal["answered", "blank", "failed", "unanswered", "refused", "broken off", "not carried"]
KINDS: Final[tuple[Kind, ...]] = ("rounds", "calls", "own")
FATES: Final[tuple[Fate, ...]] = (
    "answered",
    "blank",
    "failed",
    "unanswered",
    "refused",
    "broken off",
    "not carried",
)


@dataclass(frozen=True, slots=True)
class Carried:
    """A message that the gateway carried. `began`, `took`: in 40 ms from the beginning of the trial."""

    sender: str
    receiver: str
    text: str
    answer: str
    fate: Fate
    began: int
    took: int
    number: int
    is_cut: bool


@dataclass(frozen=True, slots=True)
class Claim:
    """A step as somebody else than the gateway reports it: of an observed step (its place), or of one of its own."""

    reporter: str
    named: str
    said: Carried
    of: int | None
    channel: Channel
    authenticated: bool
    place: int
    is_nested: bool


@dataclass(frozen=True, slots=True)
class ToldTrial:
    """A trial of a kind, with the messages in it and the answers that seats gave in the end."""

    kind: Kind
    carried: tuple[Carried, ...]
    answers: tuple[str, ...]
    replied: int

    @property
    def plan(self) -> AssessmentPlan:
        """The plan of this trial alone. Its metrics are none, as nothing here follows from them."""
        return plan_of(self.kind)

    @property
    def roster(self) -> Roster:
        """The team."""
        return Roster(self.plan.roster)

    @property
    def outcome(self) -> TrialOutcome:
        """How the trial ended."""
        given = [
            AgentAnswer(agent=seat, state="completed" if text else "failed", text=text or None, error=None)
            for seat, text in zip(SEATS, self.answers, strict=False)
        ]
        given = [each for each in given if each.agent in self.answering]
        states: Sequence[Literal["replied", "late", "failed"]] = ("replied", "replied", "late", "failed")
        seats = list(zip(SEATS, states, strict=True))
        turns = [TurnRecord(round=1, seat=seat, state=state) for seat, state in seats]
        record = RoundsRecord(rounds=ROUNDS, max_rounds=9, answered_in=dict.fromkeys(self.answering, 3), turns=turns)
        replies = [SeatReply(seat=seat, at=_moment(self.replied), state=state) for seat, state in seats]
        return TrialOutcome(
            trial_id="trial-1",
            state="completed",
            error=None,
            answer="\n".join(each.text or "" for each in given),
            answers=given,
            time_used=1.0,
            rounds=record if self.kind == "rounds" else None,
            replies=replies if self.kind == "calls" else None,
        )

    @property
    def answering(self) -> Sequence[str]:
        """The seats that have to answer."""
        return self.plan.answerers("task") if self.kind == "own" else task_of(self.kind).answerers

    def batches(self, claims: Sequence[Claim] = ()) -> list[ReportBatch]:
        """The gateway's batches of two steps each, and between them those of the claims."""
        steps = [self.step(number, each) for number, each in enumerate(self.carried)]
        found = [
            _batch(GREEN_AGENT, steps[first : first + 2], Channel.OBSERVED, authenticated=True)
            for first in range(0, len(steps), 2)
        ]
        for number, claim in enumerate(claims):
            made = _batch(claim.reporter, [self._claimed(number, claim)], claim.channel, claim.authenticated)
            found.insert(claim.place % (len(found) + 1), made)
        return found

    def step(self, number: int, each: Carried) -> InteractionStep:
        """The observed step of a message, in the form of its gateway."""
        attributes = {} if each.sender == GREEN_AGENT else {AGENT_NAME: each.sender}
        if self.kind == "rounds":
            attributes[ROUND] = str(1 + each.number % (ROUNDS + 1))
            attributes |= {CUT_FROM: "9000"} if each.is_cut else {}
            undelivered = each.fate == "not carried" or each.receiver not in SEATS
            attributes |= {"error": "no neighbour"} if undelivered else {TASK_STATE: "completed"}
            url = _url(each.receiver) if each.receiver in SEATS else ""
            return _step(f"seen-{number}", url, each.receiver, {"text": each.text}, attributes, each)
        attributes |= _ending(each)
        answer = "" if each.fate == "blank" else each.answer
        if TASK_STATE in attributes:
            attributes[RESPONSE_TEXT] = answer[:MAX_QUOTED]
        if each.is_cut and self.kind == "own":
            attributes[UNQUOTED_RESPONSE_WORDS] = "a word more"
        if self.kind == "calls" and len(answer) > MAX_QUOTED:
            attributes |= whole_pieces(answer)
        asked: dict[str, JsonValue] = {"text": each.text[:MAX_QUOTED]}
        if each.is_cut:
            asked[UNQUOTED_WORDS] = "a word more"
        if self.kind == "calls" and len(each.text) > MAX_QUOTED:
            asked[WHOLE] = each.text
        return _step(f"seen-{number}", _url(each.receiver), each.receiver, asked, attributes, each)

    def _claimed(self, number: int, claim: Claim) -> InteractionStep:
        of = f"claim-{number}" if claim.of is None or not self.carried else f"seen-{claim.of % len(self.carried)}"
        made = self.step(0, claim.said)
        told = made.model_copy(
            update={"step_id": of, "additional_attributes": {**made.additional_attributes, AGENT_NAME: claim.named}}
        )
        if not claim.is_nested:
            return told
        answer = ResponseTrace(trace_id=TRACE_ID, steps=[told])
        call = AgentInvocation(agent_url=_url(SEATS[1]), agent_name=SEATS[1], response_trace=answer)
        return made.model_copy(update={"step_id": f"outer-{number}", "step_action": StepAction(agent_invocation=call)})


def _ending(each: Carried) -> dict[str, str]:
    match each.fate:
        case "answered" | "blank":
            return {TASK_STATE: "completed"}
        case "failed":
            return {TASK_STATE: "failed", "error": "the agent ended with failed: boom"}
        case "unanswered":
            return {"error": "unanswered when the trial was closed, after 60.0 s"}
        case "refused":
            return {REFUSED_BY: GATEWAY, NOT_CARRIED: GATEWAY, "error": "too many calls"}
        case "broken off":
            return {REFUSED_BY: GATEWAY, TASK_STATE: "working", "error": "the answer is too large"}
        case "not carried":
            return {NOT_CARRIED: GATEWAY, "error": "no neighbour"}


def _step(
    step_id: str, url: str, callee: str, asked: dict[str, JsonValue], attributes: dict[str, str], each: Carried
) -> InteractionStep:
    return InteractionStep(
        step_id=step_id,
        trace_id=TRACE_ID,
        call_type=CallType.AGENT,
        step_action=StepAction(agent_invocation=AgentInvocation(agent_url=url, agent_name=callee, requests=asked)),
        additional_attributes=attributes,
        start_time=_moment(each.began),
        end_time=_moment(each.began + each.took),
    )


def _batch(reporter: str, steps: list[InteractionStep], channel: Channel, authenticated: bool) -> ReportBatch:
    made = StepBatch(trace_id=TRACE_ID, reporter=reporter, steps=steps)
    return SerialisedBatch.of(TraceBatch.of(made)).received(
        channel, authenticated=authenticated, received_at=RECEIVED_AT
    )


def _moment(ticks: int) -> datetime:
    return RECEIVED_AT + timedelta(milliseconds=40 * ticks)


def _url(seat: str) -> str:
    return "http://agent.test:9009" if seat in SEATS else f"http://{seat.replace('/', '-')}.test"


@cache
def plan_of(kind: Kind) -> AssessmentPlan:
    """A plan of one trial: a family's task in rounds or by calls, or a task of the user's own."""
    exchange = Exchange.CALLS if kind == "calls" else Exchange.ROUNDS
    family = FamilyTask(name="maximum", topology=Topology.COMPLETE, exchange=exchange)
    own = TaskSpec(id="task", text="How many trees are there?", target=[TARGET], scorer=IncludesScorer(match_all=True))
    return AssessmentPlan(
        assessment_id="assessment",
        mode=Mode.LIVE,
        config=AssessmentConfig.model_validate({"metrics": ["none"]} | ({"start": SEATS[0]} if kind == "own" else {})),
        tasks=[own if kind == "own" else TaskSpec(id="task", family=family)],
        roster=[RosterEntry(id=seat, url=_url(seat)) for seat in SEATS],
        trials=[TrialSpec(trial_id="trial-1", task_id="task", run=1, seed=1, trace_id=TRACE_ID)],
        observed=True,
        task_secret="ab" * 32,
    )


@cache
def task_of(kind: Kind) -> SuiteTask:
    """The task of a family's trial."""
    plan = plan_of(kind)
    return instance_of(plan, plan.trials[0])


def _texts(kind: Kind, sender: str) -> Sequence[str]:
    """What an agent says: nothing, courtesies, values of facts, right and wrong ones, its brief, and more than is
    quoted of it."""
    if kind == "own":
        said = [f"There are {value} trees in Elm Park." for value in VALUES]
        return ["", "How many trees are there?", "I do not know.", *said, "x" * MAX_QUOTED + TARGET]
    task = task_of(kind)
    brief, values = task.briefs.get(sender, "I have none."), [fact.value.text for fact in task.facts]
    return [brief, brief, "", "What do you know?", *values, f"The answer is {values[0]}.", "x" * MAX_QUOTED + brief]


@cache
def _answers(kind: Kind) -> st.SearchStrategy[tuple[str, ...]]:
    """The last answers of the seats: all right, or any."""
    if kind == "own":
        right, values = dict.fromkeys(SEATS, TARGET), list(VALUES)
    else:
        task = task_of(kind)
        solved = right_answers(BY_NAME["maximum"], task)
        right = {seat: str(solved.get(seat, "")) for seat in SEATS}
        values = [fact.value.text for fact in task.facts]
    drawn = st.tuples(*[st.sampled_from(["", *values])] * len(SEATS))
    return st.just(tuple(right.values())) | drawn


@cache
def _messages(kind: Kind) -> st.SearchStrategy[Carried]:
    senders = [*SEATS, *SEATS, "nobody" if kind != "own" else GREEN_AGENT]
    answerers = SEATS[:1] if kind == "own" else task_of(kind).answerers
    receivers = [*answerers * 8, *SEATS, *(STRANGERS if kind == "rounds" else ())]
    ends = st.tuples(st.sampled_from(senders), st.sampled_from(receivers))
    return ends.flatmap(lambda pair: _between(kind, *pair))


@cache
def _between(kind: Kind, sender: str, receiver: str) -> st.SearchStrategy[Carried]:
    return st.builds(
        Carried,
        st.just(sender),
        st.just(receiver),
        st.sampled_from(_texts(kind, sender)),
        st.sampled_from(_texts(kind, receiver)),
        st.sampled_from(["answered"] * len(FATES) + [*FATES]),
        st.integers(0, 60),
        st.integers(0, 10),
        st.sampled_from([0, 0, 0, *range(ROUNDS + 1)]),
        st.booleans(),
    )


@cache
def _of_kind(kind: Kind, most: int) -> st.SearchStrategy[ToldTrial]:
    carried = st.lists(_messages(kind), max_size=most).map(tuple)
    return st.builds(ToldTrial, st.just(kind), carried, _answers(kind), st.integers(20, 90))


def told_trials(*kinds: Kind, most: int = 14) -> st.SearchStrategy[ToldTrial]:
    """Any trial of these kinds (default: all)."""
    return st.one_of([_of_kind(kind, most) for kind in kinds or KINDS])


def claims(trial: ToldTrial, most: int = 6) -> st.SearchStrategy[list[Claim]]:
    """Reports in anybody's name of any step: observed, told again, late, cut, refused, nested."""
    reporters = (*SEATS, *STRANGERS, *[GREEN_AGENT] * 3)
    claim = st.builds(
        Claim,
        st.sampled_from(reporters),
        st.sampled_from(reporters),
        _messages(trial.kind),
        st.none() | st.integers(0, 9),
        st.sampled_from([Channel.HTTP, Channel.OTLP, Channel.IN_BAND]),
        st.booleans(),
        st.integers(0, 9),
        st.booleans(),
    )
    return st.lists(claim, min_size=1, max_size=most)
