"""Observations: each finder sees its fault with its evidence, and not the sound run beside it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from concord.assessment.observations import Observation, ObservationKind
from concord.trace.effects import Effect, EffectKind, Lines, Workspace, content_digest
from concord_evaluator.observations import FINDERS, Act, Deed, observe, reading_order
from concord_evaluator.observations.finders import corrections_in, values_in

_numbers = iter(range(10**9))


def act(agent: str, deed: Deed = Deed.WORK, to: str = "", text: str = "", **more: object) -> Act:
    return Act(f"step-{next(_numbers):09}", agent, deed, to, text, **more)  # type: ignore[arg-type]


def says(agent: str, to: str, text: str) -> Act:
    return act(agent, Deed.MESSAGE, to, text)


def uses(agent: str, tool: str, arguments: str, result: str = "", error: str | None = None) -> Act:
    return act(agent, Deed.TOOL, tool, arguments, result=result, error=error)


def edits(
    agent: str, change: str, *, at: int = 5, file: str = "a.py", workspace: Workspace | None = Workspace.SEPARATE
) -> Act:
    lines = change.splitlines()
    n_removed = sum(line.startswith("-") for line in lines)
    effect = Effect(
        EffectKind.EDITED,
        file,
        Lines(at, n_removed),
        content_digest(change),
        len(lines) - n_removed,
        n_removed,
        workspace=workspace,
        excerpt=change,
    )
    return act(agent, effect=effect)


def did(agent: str, kind: EffectKind, artifact: str = "a.py", **facts: object) -> Act:
    return act(agent, effect=Effect(kind, artifact, **facts))  # type: ignore[arg-type]


def kinds(*acts: Act) -> list[str]:
    return [each.kind.value for each in observe(acts)]


CLAIMED, EDITED, FINISHED, DELIVERED, CHECKED = EffectKind
CALL = "search for the population of the county of Lane"
FAULTS: Mapping[ObservationKind, tuple[list[Act], list[Act]]] = {
    ObservationKind.CLASHING_EDITS: (
        [edits("A", "-x\n+y"), edits("B", "-x\n+z")],
        [edits("A", "-x\n+y"), edits("B", "-x\n+y")],
    ),
    ObservationKind.UNDONE_EDIT: (
        [edits("A", "-x\n+y", workspace=Workspace.SHARED), edits("B", "-y\n+x", workspace=Workspace.SHARED)],
        [edits("A", "-x\n+y", workspace=Workspace.SHARED), edits("B", "-y\n+z", workspace=Workspace.SHARED)],
    ),
    ObservationKind.DELIVERED_NOTHING: (
        [did("A", DELIVERED, added=0, removed=0)],
        [did("A", DELIVERED, added=0, removed=0), did("A", DELIVERED, added=1, removed=0)],
    ),
    ObservationKind.CLAIMED_UNFINISHED: (
        [did("A", CLAIMED, "a.py"), did("A", FINISHED, "b.py")],
        [did("A", CLAIMED, "a.py"), did("B", FINISHED, "a.py")],
    ),
    ObservationKind.DELIVERED_FAILING: (
        [did("A", CHECKED, passed=True), did("A", CHECKED, passed=False, excerpt="1 failed"), did("A", DELIVERED)],
        [did("A", CHECKED, passed=False), did("A", CHECKED, passed=True), did("A", DELIVERED)],
    ),
    ObservationKind.WORK_AFTER_END: (
        [did("A", DELIVERED), edits("A", "+x")],
        [did("A", DELIVERED), edits("A", "+x"), did("A", DELIVERED)],
    ),
    ObservationKind.UNREPAIRED_FAILURE: (
        [uses("A", "search", CALL, error="connection refused")],
        [uses("A", "search", CALL, error="connection refused"), uses("B", "search", "other words", "found")],
    ),
    ObservationKind.REPEATED_ERROR: (
        [uses("A", "search", CALL, error="no such page") for _ in range(3)],
        [uses("A", "search", f"{CALL} {n}", error="no such page") for n in range(3)],
    ),
    ObservationKind.RETRY_STORM: (
        [uses("A", "search", f"{CALL} {n}", error="timeout") for n in range(5)],
        [uses("A", "search", f"{CALL} {n}", error="timeout" if n % 2 else None) for n in range(10)],
    ),
    ObservationKind.SAME_WORK_TWICE: (
        [uses("A", "search", CALL, "93,117"), uses("B", "search", CALL, "93,117")],
        [uses("A", "search", CALL, "93,117"), uses("B", "search", CALL, "93,118")],
    ),
    ObservationKind.IGNORED_CORRECTION: (
        [
            says("A", "B", "The departure is at 14:30."),
            says("B", "A", "The departure is not 14:30 but 15:10."),
            says("A", "C", "Be there at 14:30."),
        ],
        [
            says("A", "B", "The departure is at 14:30."),
            says("B", "A", "The departure is not 14:30 but 15:10."),
            says("A", "C", "Be there at 15:10, not at 14:30."),
        ],
    ),
    ObservationKind.TIMED_OUT: (
        [uses("A", "search", CALL, error="ReadTimeout: no answer")],
        [uses("A", "search", CALL, error="ValueError: no such county")],
    ),
    ObservationKind.TURN_LIMIT: (
        [act("A", error="MaxTurnsExceeded: Max turns (10) exceeded")],
        [act("A", error="ValueError: no such turn")],
    ),
    ObservationKind.TO_AND_FRO: (
        [says("A", "B", "Write."), says("B", "A", "Write."), says("A", "B", "Write."), says("B", "A", "Write.")],
        [says("A", "B", "Write."), says("B", "A", "Done."), says("A", "B", "Write."), says("B", "A", "Done.")],
    ),
    ObservationKind.SAME_CALL: (
        [uses("A", "search", "Lane", "none") for _ in range(3)],
        [uses("A", "search", f"Lane {page}", "none") for page in range(3)],
    ),
    ObservationKind.UNBROUGHT_VALUE: (
        [uses("B", "search", "orders", "none"), act("A", text="They total 412.90.")],
        [uses("B", "search", "orders", "412.90"), act("A", text="They total 412.90.")],
    ),
    ObservationKind.CHANGED_VALUE: (
        [says("A", "B", "population of Lane: 382,067"), says("B", "C", "The population of Lane is 362,067.")],
        [says("A", "B", "population of Lane: 382,067"), says("B", "C", "The population of Lane is 382067.")],
    ),
}


@pytest.mark.parametrize("kind", ObservationKind)
def test_a_fault_is_observed_and_the_sound_run_is_not(kind: ObservationKind) -> None:
    fault, sound = FAULTS[kind]
    assert kind in kinds(*fault)
    assert kind not in kinds(*sound)


@pytest.mark.parametrize("kind", ObservationKind)
def test_an_observation_quotes_steps_of_its_own_and_names_agents_that_acted(kind: ObservationKind) -> None:
    fault, _ = FAULTS[kind]
    for each in observe(fault):
        assert each.evidence
        assert {quote.step_id for quote in each.evidence} <= set(each.steps) <= {act.step_id for act in fault}
        assert set(each.agents) <= {act.agent for act in fault}


class TestEdits:
    """The sign of overlapping edits turns with the workflow, so each declares where it edits."""

    def test_edits_of_shared_files_do_not_clash(self) -> None:
        shared = [edits(agent, f"-x\n+{agent}", workspace=Workspace.SHARED) for agent in "AB"]
        undeclared = [edits(agent, f"-x\n+{agent}", workspace=None) for agent in "AB"]
        assert kinds(*shared) == kinds(*undeclared) == []

    def test_adjoining_edits_clash_and_edits_with_a_line_between_them_do_not(self) -> None:
        assert kinds(edits("A", "-x\n+y", at=5), edits("B", "-u\n+v", at=6)) == ["clashing_edits"]
        assert kinds(edits("A", "-x\n+y", at=5), edits("B", "-u\n+v", at=7)) == []

    def test_edits_of_one_agent_or_of_two_files_do_not_clash(self) -> None:
        assert kinds(edits("A", "-x\n+y"), edits("A", "-x\n+z")) == []
        assert kinds(edits("A", "-x\n+y"), edits("B", "-x\n+z", file="b.py")) == []

    def test_work_that_contains_the_others_needs_no_merge(self) -> None:
        lines = "\n".join(f"+line {n}" for n in range(20))
        assert kinds(edits("A", lines), edits("B", f"{lines}\n+mine")) == []
        assert kinds(edits("A", lines), edits("B", "+mine")) == ["clashing_edits"]

    def test_an_own_edit_that_is_taken_back_is_undone_in_a_copy_too_and_anothers_is_not(self) -> None:
        assert kinds(edits("A", "-x\n+y"), edits("A", "-y\n+x", at=50)) == ["undone_edit"]
        assert kinds(edits("A", "-x\n+y"), edits("B", "-y\n+x", at=50)) == []

    def test_many_clashes_cost_bounded_time(self) -> None:
        acts = [edits(agent, f"+{agent}{n}") for n in range(2000) for agent in "AB"]
        [found] = observe(acts)
        assert found.count == 1000

    def test_many_edits_of_one_agent_cost_bounded_time(self) -> None:
        assert kinds(*(edits("A", f"+{n}") for n in range(5000))) == []


class TestClaims:
    def test_a_trace_without_any_finished_work_says_nothing_of_claims(self) -> None:
        assert kinds(did("A", CLAIMED)) == []

    def test_the_word_that_ends_a_conversation_is_its_end(self) -> None:
        assert kinds(act("A", text="TERMINATE"), act("B", text="One more thing.")) == ["work_after_end"]
        assert kinds(act("A", text="One thing."), act("B", text="TERMINATE"), act("A", text="TERMINATE")) == []

    def test_an_action_sent_twice_is_the_same_work_twice(self) -> None:
        sent = [did("A", DELIVERED, "email.send", digest="d") for _ in range(2)]
        assert kinds(*sent) == ["same_work_twice"]


class TestStatements:
    @pytest.mark.parametrize(
        "correction",
        [
            "It is not 14:30, but 15:10.",
            "14:30 is wrong, it should be 15:10.",
            "Use 15:10 instead of 14:30.",
            "It should be 15:10, not 14:30.",
            "The train was moved from 14:30 to 15:10.",
        ],
    )
    def test_a_correction_is_read_in_several_wordings(self, correction: str) -> None:
        first, last = says("A", "B", "Departure 14:30."), says("A", "C", "Leave at 14:30.")
        [found] = observe([first, says("B", "A", correction), last])
        assert (found.kind, found.agents, found.about) == ("ignored_correction", ["A"], "14:30 instead of 15:10")

    @given(digits=st.integers(1, 10**6), zeros=st.integers(0, 6), other=st.integers(1, 10**6))
    def test_a_number_is_found_as_it_is_written_whatever_zeros_it_ends_with(
        self, digits: int, zeros: int, other: int
    ) -> None:
        number = digits * 10**zeros
        assert values_in(f"The total is {number}.") == {str(number): str(number)}
        assert values_in(f"{number:,}.00") == {str(number): f"{number:,}.00"}
        stated = [(each.old, each.new) for each in corrections_in(f"not {number} but {number + other}")]
        assert stated == [(str(number), str(number + other))]

    @pytest.mark.parametrize("value", ["920", "1889", "100", "412.90"])
    def test_a_value_that_nobody_brought_is_quoted_as_it_is_written(self, value: str) -> None:
        acts = [uses("orders", "search", '{"customer": "x"}', "[]"), act("host", text=f"The orders total {value}.")]
        [found] = [each for each in observe(acts) if each.kind is ObservationKind.UNBROUGHT_VALUE]
        assert found.about == value

    def test_a_value_that_somebody_else_told_as_well_is_no_change_of_its_teller(self) -> None:
        told = [says("A", "B", "population of Lane: 382,067"), says("D", "B", "population of Lane: 362,067")]
        assert kinds(*told, says("B", "C", "population of Lane: 362,067")) == []

    def test_an_answer_to_its_source_is_no_passing_on(self) -> None:
        assert kinds(says("A", "B", "total cost: 120"), says("B", "A", "total cost: 150")) == []

    @pytest.mark.parametrize("text", [each * 1600 for each in ("11111", "a", "not ", "use 1", "12.1 ", "a: 1\n")])
    def test_hostile_texts_cost_bounded_time(self, text: str) -> None:
        assert kinds(says("A", "B", text), says("B", "C", text)) == []


OF_ONE_TEAM = frozenset({ObservationKind.CLASHING_EDITS, ObservationKind.UNBROUGHT_VALUE})
"""These read a whole team: all of its edits, and its last answer."""

ALL_FAULTS = [each for pair in FAULTS.values() for acts in pair for each in acts]


def renamed(acts: Sequence[Act], names: Mapping[str, str]) -> list[Act]:
    return [
        structs.replace(each, agent=names.get(each.agent, each.agent), to=names.get(each.to, each.to))
        for each in acts
    ]  # fmt: skip


def facts(found: Sequence[Observation], names: Mapping[str, str]) -> set[tuple[object, ...]]:
    """The observations, with the names of agents translated, whatever their order."""
    return {
        (each.kind, frozenset(names.get(agent, agent) for agent in each.agents), each.about, each.count,
         frozenset(each.steps))
        for each in found
    }  # fmt: skip


@given(st.sampled_from(list(ObservationKind)), st.permutations("ABCD"), st.booleans())
def test_renaming_agents_changes_nothing(kind: ObservationKind, order: list[str], sound: bool) -> None:
    """Names and places in the team do not matter: a hub, a terminal or an orchestrator is nobody to blame for that."""
    names = dict(zip("ABCD", order, strict=True))
    acts = FAULTS[kind][sound]
    found, found_renamed = observe(acts), observe(renamed(acts, names))
    assert facts(found_renamed, {}) == facts(found, names)
    orders = reading_order(acts, "", found), reading_order(renamed(acts, names), "", found_renamed)
    assert [each.step_id for each in orders[0]] == [each.step_id for each in orders[1]]


@given(st.randoms(use_true_random=False))
def test_the_order_of_independent_agents_changes_nothing(random: Random) -> None:
    """Traces of unrelated teams, interleaved in any way that keeps each team's own order, show what each shows."""
    teams = [renamed(fault, {name: f"{kind}-{name}" for name in "ABCD"} | {"search": f"{kind}-tool"})
             for kind, (fault, _) in FAULTS.items() if kind not in OF_ONE_TEAM]  # fmt: skip
    teams = [[_on_own_artifact(each, str(number)) for each in acts] for number, acts in enumerate(teams)]
    apart = [found for acts in teams for found in observe(acts)]
    order = [number for number, acts in enumerate(teams) for _ in acts]
    random.shuffle(order)
    waiting = [iter(acts) for acts in teams]
    together = observe([next(waiting[number]) for number in order])
    found = [each for each in together if each.kind not in OF_ONE_TEAM]
    assert facts(found, {}) == facts([each for each in apart if each.kind not in OF_ONE_TEAM], {})


def _on_own_artifact(each: Act, team: str) -> Act:
    return each if each.effect is None else structs.replace(each, effect=replace(each.effect, artifact=f"{team}/a.py"))


TEXTS = st.sampled_from(["", "x", "TERMINATE", "not 1 but 2", "total: 1", "use 3 instead of 1", CALL])
ACTS = st.builds(
    Act,
    step_id=st.sampled_from([f"s{n}" for n in range(9)]),
    agent=st.sampled_from("ABC"),
    deed=st.sampled_from(Deed),
    to=st.sampled_from(["A", "B", "tool", ""]),
    text=TEXTS,
    result=TEXTS,
    error=st.sampled_from([None, "timeout"]),
    effect=st.none()
    | st.builds(
        Effect,
        kind=st.sampled_from(EffectKind),
        artifact=st.sampled_from(["a", "b", ""]),
        lines=st.none() | st.builds(Lines, st.integers(1, 5), st.integers(0, 3)),
        digest=st.sampled_from(["", "1", "2"]),
        added=st.sampled_from([None, 0, 1]),
        removed=st.sampled_from([None, 0, 1]),
        passed=st.sampled_from([None, True, False]),
        workspace=st.none() | st.sampled_from(Workspace),
        excerpt=st.sampled_from(["", "+x", "-x\n+y", "-y\n+x"]),
    ),
)


@given(st.lists(ACTS, max_size=12))
def test_any_acts_give_observations_within_their_limits(acts: list[Act]) -> None:
    for each in observe(acts):
        assert len(each.evidence) <= 5
        assert len(each.steps) <= 20
        assert set(each.steps) <= {act.step_id for act in acts}


def test_every_finder_and_every_kind_is_tested() -> None:
    assert FAULTS.keys() == set(ObservationKind)
    unseen = [find for find in FINDERS if not any(list(find(acts)) for acts, _ in FAULTS.values())]
    assert [find.__name__ for find in unseen] == ["same_deliveries"]  # see the claims
