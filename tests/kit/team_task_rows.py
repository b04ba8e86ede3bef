"""Result rows of teams in tasks that families generate, for tests of displays: a lost fact, controls, many seats."""

from collections.abc import Sequence

from concord.assessment.result_row import ControlRecord, ResultRow
from concord.assessment.results import CallRecord, TrialRecord
from concord.assessment.team_results import FactMessage, FlowRecord, PartFailure, TeamTaskRecord
from concord.assessment.verdict import CauseKind
from tests.kit.team_rows import interactions_of, row_of, trial_of

CONTROLS = (
    ControlRecord(control="solo", trials=3, team=0.25, value=1.0, gap=-0.75, gap_low=-0.9, gap_high=-0.6),
    ControlRecord(control="silent", trials=3, team=0.25, value=0.0, gap=0.25, gap_low=None, gap_high=None),
)


def seat_names(n: int) -> list[str]:
    return [f"agent/{number}" for number in range(1, n + 1)]


def fact_of(seat: str) -> str:
    return f"reading of {seat}"


def flow_of(n: int = 5, *, silent: int = 1, repeating: int = 2) -> FlowRecord:
    """Every seat but one tells all others its fact in round 1, and one of them does so again in round 2.

    The seat at place 0 has to answer, and does so in round 2.
    """
    names = seat_names(n)
    pairs = [(sender, receiver) for sender in range(n) for receiver in range(n) if sender != receiver]
    first = [_told(1, *pair, news=True) for pair in pairs if pair[0] != silent]
    second = [_told(2, *pair, news=False) for pair in pairs if pair[0] == repeating]
    return FlowRecord(
        seats=names,
        facts=[fact_of(seat) for seat in names],
        needs=[list(range(n)), *([] for _ in range(n - 1))],
        known_from=[[0 if fact == seat else None if fact == silent else 2 for fact in range(n)] for seat in range(n)],
        answered=[2, *(None for _ in range(n - 1))],
        end=3,
        sent=[sum(each.sender == seat for each in (*first, *second)) for seat in range(n)],
        redundant=[len(second) if seat == repeating else 0 for seat in range(n)],
        messages=[*first, *second],
    )


def _told(time: int, sender: int, receiver: int, *, news: bool) -> FactMessage:
    step_id = f"{time:02}{sender:04}{receiver:04}"
    facts = [sender]
    return FactMessage(
        step_id=step_id, time=time, sender=sender, receiver=receiver, facts=facts, news=facts if news else []
    )


def team_task(flow: FlowRecord | None, failures: Sequence[PartFailure] = (), **changes: object) -> TeamTaskRecord:
    """The record of a trial in rounds whose seats share a process."""
    messages = 0 if flow is None else sum(flow.sent)
    record = TeamTaskRecord(
        family="maximum",
        difficulty=2,
        topology="complete",
        seats=seat_names(5) if flow is None else flow.seats,
        shared_process=True,
        control=None,
        paired_with=None,
        chance=0.0,
        rounds=3,
        messages=messages,
        fewest_messages=4,
        fewest_is_exact=True,
        redundant=0 if flow is None else sum(flow.redundant),
        coverage=[0.8, 0.8, 0.8],
        failures=list(failures),
        credited=0.0 if failures else 1.0,
        information=1.0,
        unproven=[],
        unexplained=[],
        flow=flow,
    )
    return record.model_copy(update=changes)


def failure(seat: str = "agent/2", **changes: object) -> PartFailure:
    """The seat told nobody its fact, which the answer of the first seat follows from."""
    lost = PartFailure(part="agent/1", cause=CauseKind.NOT_SENT, seats=[seat], step_id=None, facts=[fact_of(seat)])
    return lost.model_copy(update=changes)


def trial_with(record: TeamTaskRecord, *, outcome: float = 0.0, **changes: object) -> TrialRecord:
    """A trial whose calls are the messages of the record's flow."""
    calls = [] if record.flow is None else [_call(record.flow, each) for each in record.flow.messages]
    trial = trial_of(record.seats, calls, score=outcome)
    return trial.model_copy(update={"team_task": record, "interactions": interactions_of(calls), **changes})


def _call(flow: FlowRecord, each: FactMessage) -> CallRecord:
    return CallRecord(
        step_id=each.step_id,
        parent_step_id=None,
        caller=flow.seats[each.sender],
        callee=flow.seats[each.receiver],
        start_ms=100.0 * each.time,
        duration_ms=20.0,
        error=None,
        provenance="observed",
        on_critical_path=False,
    )


def withholding_team(n: int = 5) -> ResultRow:
    """A team of which one seat withholds its fact and another repeats its own, with both controls."""
    return row_of(seat_names(n), trial_with(team_task(flow_of(n), [failure()])), controls=CONTROLS)


def team_of_twenty() -> ResultRow:
    """The same with 20 seats, so that the messages are too many for a line each."""
    return withholding_team(20)


def clean_team() -> ResultRow:
    """A team whose answer is right."""
    return row_of(seat_names(5), trial_with(team_task(flow_of(silent=-1, repeating=-1)), outcome=1.0))


def team_by_calls() -> ResultRow:
    """The withholding team, whose members call each other: times are places in the order of the messages."""
    flow = flow_of()
    messages = [each.model_copy(update={"time": place}) for place, each in enumerate(flow.messages, 1)]
    arrived = {(each.receiver, each.facts[0]): each.time + 1 for each in messages if each.news}
    known = [[0 if fact == seat else arrived.get((seat, fact)) for fact in range(5)] for seat in range(5)]
    by_calls = flow.model_copy(
        update={
            "messages": messages,
            "known_from": known,
            "end": len(messages) + 1,
            "answered": [len(messages) + 1, None, None, None, None],
        }
    )
    return row_of(seat_names(5), trial_with(team_task(by_calls, [failure()], rounds=None, coverage=[])))
