"""Pairs of two versions: which trials are paired, in which order, and which rows are refused."""

from hypothesis import given
from hypothesis import strategies as st

from concord.assessment.result_row import InfrastructureFailure, RankingKind, ResultRow
from concord.assessment.results import TraceIntegrity
from concord_cli.check.pairs import LOST, Pair, Played, Slot, forfeited_in, paired, played_in, random_order, refusals
from tests.kit.rows import scoring_of_one
from tests.kit.team_task_rows import team_task
from tests.unit.cli.rows import row, trial, unjudged

KIND = RankingKind(
    version="3",
    basis="outcome",
    tasks="families",
    published=False,
    tasks_sha256="0" * 64,
    seats=(5,),
    exchange=("rounds",),
    difficulty=(2,),
    topology=("complete",),
    isolation="not isolated",
    complete=True,
)


def ranked(kind: RankingKind | None = KIND, **changes: object) -> ResultRow:
    """A row of this kind."""
    return row(scoring=scoring_of_one(0.8).model_copy(update={"ranking_parts": kind}), **changes)


def pair(new: str = "a", old: str = "a") -> Pair:
    return Pair(Slot("task", 1), Played(0.5, 0.5, old), Played(0.5, 0.5, new))


def reasons(old: ResultRow, new: ResultRow, *pairs: Pair) -> list[str]:
    return list(refusals([old], [new], pairs))


@given(st.lists(st.builds(Slot, st.sampled_from("abc"), st.integers(1, 4)), unique=True))
def test_each_slot_is_played_once_run_by_run(slots: list[Slot]) -> None:
    order = random_order(slots)
    assert sorted(order) == sorted(slots)
    assert [slot.run for slot in order] == sorted(slot.run for slot in slots)


def test_the_tasks_of_a_run_are_in_another_order_each_time() -> None:
    slots = [Slot(str(number), 1) for number in range(20)]
    assert len({tuple(random_order(slots)) for _ in range(5)}) > 1


def test_what_nobody_judged_or_what_was_lost_may_be_worth_anything() -> None:
    rows = [row(trials=[trial(task_id="a"), unjudged(task_id="b"), trial(task_id="c")])]
    old = played_in(rows)
    assert (old[Slot("b", 1)].low, old[Slot("b", 1)].high) == (0, 1)
    new = {Slot("a", 1): Played(0.5, 0.5, None)}
    known, open_, lost = paired([Slot(name, 1) for name in "abc"], old, new)
    assert known.known
    assert known.low == known.high == 0.5 - 0.8
    assert not open_.known
    assert (open_.low, open_.high) == (-1, 1)
    assert lost.new is LOST
    assert (lost.low, lost.high) == (-0.8, 1 - 0.8)


def test_controls_and_slots_that_the_baseline_lacks_are_not_paired() -> None:
    control = team_task(flow=None, control="silent")
    rows = [
        row(trials=[trial(task_id="a"), trial(task_id="a.silent", team_task=control), trial(task_id="b", usable=False)])
    ]
    assert list(played_in(rows)) == [Slot("a", 1)]
    assert [each.slot.task for each in paired([Slot("a", 1), Slot("z", 1)], played_in(rows), played_in(rows))] == ["a"]


def test_rows_of_the_same_kind_and_puzzles_are_compared() -> None:
    incomplete = KIND.model_copy(update={"complete": False})
    assert reasons(ranked(), ranked(incomplete), pair()) == []


def test_a_lost_trial_is_no_other_puzzle() -> None:
    assert reasons(ranked(), ranked(), Pair(Slot("task", 1), Played(1, 1, "a"), LOST)) == []


def test_rows_of_other_kinds_are_refused_with_the_fields_that_differ() -> None:
    [reason] = reasons(ranked(), ranked(KIND.model_copy(update={"seats": (4,)})), pair())
    assert "seats (5 before, 4 now)" in reason
    [reason] = reasons(ranked(None), ranked(), pair())
    assert "no ranking kind" in reason


def test_other_puzzles_are_refused_with_the_trial() -> None:
    [reason] = reasons(ranked(), ranked(), pair(new="b"), pair())
    assert reason.startswith("1 of 2 trials played other puzzles than the baseline (task, run 1)")


def test_a_trial_that_was_lost_and_played_again_may_have_another_puzzle() -> None:
    again = ranked()
    scoring = again.detail.scoring.model_copy(update={"replayed": 1})
    again = again.model_copy(update={"detail": again.detail.model_copy(update={"scoring": scoring})})
    assert reasons(ranked(), again, pair(new="b"), pair()) == []
    assert len(reasons(ranked(), again, pair(new="b"), pair(new="c"))) == 1


def test_another_observability_is_refused() -> None:
    seen, unseen = (ranked(trace_integrity=TraceIntegrity(observability=each)) for each in ("full", "none"))
    [reason] = reasons(seen, unseen, pair())
    assert reason == "the observability of calls differs: full before, none now"
    assert reasons(unseen, unseen, pair()) == []


def test_a_trial_that_its_participants_lost_scored_nothing() -> None:
    theirs = InfrastructureFailure(trial_id="trial-1", stage="trial", message="lost", caused_by="participants")
    ours = InfrastructureFailure(trial_id="trial-2", stage="trial", message="lost", caused_by="concord")
    planned = {"trial-1": Slot("a", 1), "trial-2": Slot("b", 1)}
    assert forfeited_in(row(infrastructure=[theirs, ours]), planned) == {Slot("a", 1): Played(0, 0, None)}
