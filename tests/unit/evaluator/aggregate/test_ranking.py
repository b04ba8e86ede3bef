"""Laws of the kind within which a row is ranked."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord.assessment import AssessmentConfig, AssessmentPlan, Mode, plan_trials
from concord.assessment.result_row import RankingKind
from concord.assessment.suite_tasks import requested_tasks
from concord.assessment.task_spec import PUBLISHED_DAYS
from concord.wire.roster import RosterEntry
from concord_evaluator.aggregate.scores import ranking_kind

NAMES = ["ann", "bob", "cy", "dee", "eve"]
EDGES = [("ann", "bob"), ("bob", "cy"), ("cy", "dee"), ("dee", "eve")]


def plan(config: Mapping[str, object], names: Sequence[str] = NAMES, mode: Mode = Mode.LIVE) -> AssessmentPlan:
    chosen = AssessmentConfig.model_validate(config)
    tasks = requested_tasks(chosen, names)
    roster = [RosterEntry(id=name, url=f"http://{name}:9009/") for name in names]
    return AssessmentPlan(
        assessment_id="assessment",
        mode=mode,
        config=chosen.model_copy(update={"tasks": None}),
        tasks=tasks,
        roster=roster,
        trials=plan_trials(chosen, tasks),
    )


def kind(config: dict[str, object], names: Sequence[str] = NAMES, *, complete: bool = True) -> RankingKind:
    return ranking_kind(plan(config, names), "outcome", complete=complete)


def family(name: str = "maximum", **changes: object) -> dict[str, object]:
    return {"id": name, "family": {"name": name, **changes}}


def path_of(names: Sequence[str]) -> list[tuple[str, str]]:
    return list(pairwise(names))


@given(st.permutations(NAMES), st.integers(0, 2**32))
def test_names_and_order_of_participants_and_tasks_never_change_the_kind(names: list[str], seed: int) -> None:
    renamed = [f"{name}-{seed}" for name in names]
    tasks = [family(topology=path_of(NAMES)), family("sum", difficulty=3)]
    others = [family(topology=path_of(renamed)), family("sum", difficulty=3)]
    Random(seed).shuffle(others)  # noqa: S311 - an order, not a secret
    assert kind({"tasks": tasks}) == kind({"tasks": others}, renamed)
    assert kind({"tasks": tasks}).digest == kind({"tasks": others}, renamed).digest


OTHERS: dict[str, object] = {
    "version": "4",
    "basis": "recorded",
    "tasks": "families",
    "published": False,
    "tasks_sha256": "0" * 64,
    "seats": (3,),
    "exchange": ("calls",),
    "difficulty": (4,),
    "topology": ("tree",),
    "isolation": "isolated",
    "complete": False,
}


def test_all_published_days_of_an_office_are_ranked_together_and_some_of_them_are_not() -> None:
    days = list(PUBLISHED_DAYS["office-1"])
    whole, some, short = (kind({"scenario": chosen, **more}, ["helper"]) for chosen, more in (
        (days, {}), (days[:3], {}), (days, {"max_turns": 2}),
    ))  # fmt: skip
    assert (whole.tasks, whole.published) == ("office-1", True)
    assert (some.tasks, some.published) == ("scenarios", False)
    assert (short.tasks, short.published) == ("scenarios", False)


def test_a_row_with_planted_faults_has_a_kind_of_its_own_that_is_not_published() -> None:
    whole = plan({"suite": "quick"})
    sound, harmed = (ranking_kind(each, "outcome", complete=True) for each in (whole, _harmed(whole)))
    assert sound.published
    assert not harmed.published
    assert set(sound.differing(harmed)) == {"tasks", "published"}


def _harmed(whole: AssessmentPlan) -> AssessmentPlan:
    return whole.model_copy(update={"planted_faults": 1})


@pytest.mark.parametrize("field", list(RankingKind.model_fields))
def test_each_field_of_a_kind_changes_its_digest(field: str) -> None:
    first = kind({"suite": "quick"})
    other = first.model_copy(update={field: OTHERS[field]})
    assert first.digest != other.digest
    assert first.differing(other) == [field]


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"topology": "ring"}, {"topology"}),
        ({"difficulty": 4}, {"difficulty"}),
        ({"exchange": "calls"}, {"exchange"}),
        ({"seats": 2}, {"seats"}),
        ({"num_instances": 1}, {"tasks", "published"}),
        ({"num_runs": 3}, set()),
        ({"seed": 7}, set()),
        ({"num_shards": 2}, set()),
        ({"num_shards": 2, "shard_index": 1}, set()),
        ({"controls": ["silent", "solo"]}, set()),
    ],
    ids=lambda value: str(sorted(value) if isinstance(value, set) else value),
)
def test_a_config_changes_the_fields_that_it_sets(changes: dict[str, object], fields: set[str]) -> None:
    first, other = (kind({"suite": "quick", **each}, ["agent"]) for each in ({}, changes))
    assert (first.tasks, first.published) == ("quick", True)
    assert fields <= set(first.differing(other))
    assert bool(fields) == (first.digest != other.digest)


def test_edges_of_another_shape_are_another_topology() -> None:
    star = [("ann", name) for name in NAMES[1:]]
    assert kind({"tasks": [family(topology=EDGES)]}).topology != kind({"tasks": [family(topology=star)]}).topology


def test_own_tasks_are_known_by_their_content_and_not_by_their_participants() -> None:
    def own(text: str, names: Sequence[str]) -> RankingKind:
        return ranking_kind(plan({"tasks": [{"id": "t", "text": text}]}, names), "outcome_only", complete=True)

    assert own("Count.", NAMES) == own("Count.", ["other"])
    assert (own("Count.", NAMES).tasks, own("Count.", NAMES).published) == ("own tasks", False)
    assert own("Count.", NAMES).differing(own("Add.", NAMES)) == ["tasks_sha256"]


def test_what_is_assessed_itself_is_no_part_of_the_kind() -> None:
    def given_pattern(edges: list[dict[str, str]]) -> RankingKind:
        pattern = {"interaction_pattern": {"agents": ["ann", "bob"], "edges": edges}}
        return ranking_kind(plan(pattern, (), Mode.GROUND_TRUTH), "structure", complete=True)

    assert given_pattern([]) == given_pattern([{"from": "ann", "to": "bob"}])
    assert given_pattern([]).tasks == "patterns"


def test_a_lost_trial_makes_a_kind_of_its_own_and_no_row_claims_isolation() -> None:
    whole, lost = (kind({"suite": "quick"}, complete=complete) for complete in (True, False))
    assert whole.differing(lost) == ["complete"]
    assert whole.isolation == "not isolated"
