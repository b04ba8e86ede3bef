"""Hostile texts in a row change no element of the page, run nothing and load nothing."""

import json
from base64 import b64encode
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from io import StringIO
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from concord.assessment.result_row import Basis, ResultRow
from concord.assessment.results import (
    Finding,
    GradedAnswer,
    Grading,
    InteractionRecord,
    MetricParameter,
    MetricRecord,
    MetricStatus,
    Observability,
    ParticipantObservability,
    Quality,
    SubScore,
    TraceIntegrity,
    TrialRecord,
)
from concord.assessment.team_results import FactMessage, FlowRecord
from concord.assessment.verdict import KINDS_OF_PARTS, CauseKind, Certainty, UnknownKind
from concord.wire.roster import GREEN_AGENT
from concord_assistant.messages import CompletionReason
from concord_assistant.results import DIMENSIONS
from concord_cli.report.index import comparable, line_of
from concord_cli.report.renderer import render
from concord_cli.row_text.brief import MAX_LINES, Brief
from concord_cli.row_text.long_tables import tables
from concord_cli.row_view.assistant import MAX_POINTS, scenario_results
from concord_cli.row_view.view import view_of
from tests.kit.assistant_rows import assistant_in_two_trials, assistant_team, lone_assistant, row_with, troubled_day
from tests.kit.team_rows import (
    ground_truth,
    half_judged,
    lone_participant,
    mesh_of_five,
    recorded,
    row_of,
    troubled_six,
    unjudged_and_unseen,
)
from tests.kit.team_task_rows import failure, flow_of, seat_names, team_by_calls, team_task, withholding_team
from tests.unit.cli.report.calls import call_records
from tests.unit.cli.report.laws import law
from tests.unit.cli.report.pages import ParsedPage, parse_page
from tests.unit.cli.rows import trial

TEAMS = pytest.mark.parametrize(
    "team",
    [
        mesh_of_five,
        troubled_six,
        ground_truth,
        half_judged,
        unjudged_and_unseen,
        lone_participant,
        recorded,
        withholding_team,
        team_by_calls,
        lone_assistant,
        assistant_in_two_trials,
        assistant_team,
    ],
)

HOSTILE = [
    "<script>alert(1)</script>",
    "</style><style>*{display:none}</style>",
    "</title><img src=x onerror=alert(1)>",
    "\"><svg onload=alert(1)>",
    "' onmouseover='alert(1)",
    "--><iframe src=//evil.test></iframe>",
    "{{ page }}{% raw %}",
    "javascript:alert(1)",
    "&lt;b&gt;&#x3c;script&#x3e;",
    "]]><!--",
    "\x00\u2028\u202e\ufeff",
]  # fmt: skip

FIXED_TEXTS = {
    *get_args(Quality),
    "observed",
    "corroborated",
    "reported",
    "completed",
    "failed",
    "timeout",
    GREEN_AGENT,
}
FIXED_TEXTS |= {
    "rules",
    "llm",
    "task",
    "communication",
    "distribution",
    "reliability",
    "efficiency",
    "bottleneck",
    "live",
}
FIXED_TEXTS |= {"ground_truth", "insufficient", "low", "adequate", "trial", "evaluation", *MetricStatus}
FIXED_TEXTS |= {"outcome", "conduct", *get_args(Basis), *get_args(Observability), "code", "model", "nobody"}
FIXED_TEXTS |= {*map(str, CauseKind), *map(str, UnknownKind), *get_args(Certainty), "solo", "silent", "rounds", "calls"}
"""Texts with a fixed set of values, which no agent writes."""


def marked(value: Any, prefix: str) -> Any:  # noqa: ANN401
    """The same document with a prefix before each of its texts."""
    if isinstance(value, dict):
        return {key: marked(each, prefix) for key, each in value.items()}
    if isinstance(value, list):
        return [marked(each, prefix) for each in value]
    return prefix + value if isinstance(value, str) and value not in FIXED_TEXTS else value


def page_with(row: ResultRow, prefix: str) -> str:
    return render(ResultRow.model_validate(marked(row.model_dump(mode="json"), prefix)))


COMPARED_ATTRIBUTES = {"href", "id", "class", "content"}


def skeleton(parsed: ParsedPage) -> list[tuple[str, list[str]]]:
    """Tags with the names of their attributes, and the values of those that can lead somewhere or run something.

    Ignores whether a drawing is wide, which depends on the length of its texts.
    """
    return [(each.tag, [_attribute(*pair) for pair in each.attributes.items()]) for each in parsed.elements]


def _attribute(name: str, value: str) -> str:
    return f"{name}={value.replace(' wide', '')}" if name in COMPARED_ATTRIBUTES else name


@cache
def harmless_skeleton(team: Callable[[], ResultRow]) -> list[tuple[str, list[str]]]:
    """The skeleton of the page that has a harmless text in every field."""
    return skeleton(parse_page(page_with(team(), "x" * 20)))


@TEAMS
@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_in_every_field_changes_no_element(team: Any, text: str) -> None:  # noqa: ANN401
    hostile = parse_page(page_with(team(), text))

    assert skeleton(hostile) == harmless_skeleton(team)
    assert hostile.unclosed == []


@cache
def tags_of_a_mesh() -> set[str]:
    """The tags in the page of a mesh of five."""
    return {each.tag for each in parse_page(render(mesh_of_five())).elements}


@law
@given(st.text(max_size=30))
def test_any_text_in_every_field_leaves_the_page_well_formed(text: str) -> None:
    parsed = parse_page(page_with(mesh_of_five(), text))

    assert parsed.unclosed == []
    assert len(parsed.all("script")) == len(parsed.all("style")) == 1
    assert {each.tag for each in parsed.elements} == tags_of_a_mesh()


def test_hostile_text_is_shown_as_it_was_written() -> None:
    text = "<script>alert(1)</script>"
    mesh = mesh_of_five()
    row = mesh.model_copy(update={"detail": mesh.detail.model_copy(update={"warnings": [text]})})

    assert text in parse_page(render(row)).text


@TEAMS
def test_a_page_loads_nothing_and_links_only_into_itself(team: Any) -> None:  # noqa: ANN401
    parsed = parse_page(render(team()))
    ids = parsed.values("id")

    assert {each.tag for each in parsed.elements}.isdisjoint(
        {"link", "img", "iframe", "object", "embed", "form", "base"}
    )
    assert not {name for each in parsed.elements for name in each.attributes} & {"src", "style", "action", "srcset"}
    assert len(ids) == len(set(ids))
    assert {href.removeprefix("#") for href in parsed.values("href")} <= set(ids)


def test_the_content_security_policy_allows_only_the_pages_own_style_and_script() -> None:
    parsed = parse_page(render(mesh_of_five()))
    (policy,) = [each.attributes["content"] for each in parsed.all("meta") if "http-equiv" in each.attributes]

    def allowed(tag: str) -> str:
        (element,) = parsed.all(tag)
        return f"'sha256-{b64encode(sha256(element.text.encode()).digest()).decode()}'"

    assert policy.split("; ") == [
        "default-src 'none'",
        f"style-src {allowed('style')}",
        f"script-src {allowed('script')}",
        "base-uri 'none'",
        "form-action 'none'",
    ]


_ids = st.sampled_from(["a", "b", "c", GREEN_AGENT, "unknown", "url:http://x.test", ""])
_counts = st.integers(-5, 10**9)
_figures = st.none() | st.floats(allow_nan=False, allow_infinity=False)
_interactions = st.builds(
    InteractionRecord,
    caller=_ids,
    callee=_ids,
    calls=_counts,
    errors=_counts,
    retries=_counts,
    observed=_counts,
    corroborated=_counts,
    reported=_counts,
    latency_avg_ms=_figures,
)
_metrics = st.builds(
    MetricRecord,
    id=_ids,
    agent=st.none() | _ids,
    value=_figures,
    status=st.sampled_from(MetricStatus),
    reason=st.none() | st.text(max_size=9),
    n=_counts,
    definition_id=_ids,
    engine=_ids,
)
_findings = st.builds(
    Finding,
    id=st.sampled_from(["bottleneck", "isolated", ""]),
    agents=st.lists(_ids, max_size=3),
    metric_id=st.none() | _ids,
    value=_figures,
    threshold=_figures,
    step_ids=st.lists(st.integers(0, 30).map(str), max_size=4),
    advice=st.text(max_size=9),
    trials=_counts,
)
_fractions = st.none() | st.floats(0, 1)
_gradings = st.builds(
    Grading,
    value=_fractions,
    source=st.sampled_from(["code", "model", "recorded", "nobody"]),
    scorer=st.none() | _ids,
    reason=st.none() | st.text(max_size=9),
    answers=st.lists(
        st.builds(GradedAnswer, agent=_ids, value=st.floats(0, 1), explanation=st.text(max_size=9)), max_size=3
    ),
)
_parts = st.builds(
    SubScore,
    id=st.sampled_from(["outcome", "conduct", "task", "communication"]),
    value=_fractions,
    weight=st.floats(-1, 2),
    reason=st.none() | st.text(max_size=9),
    inputs=st.lists(
        st.builds(
            MetricParameter,
            name=st.sampled_from(["carried", "failed", "k", "participants", "{}", ""]),
            value=st.text(max_size=9),
        ),
        max_size=4,
    ),
)
_integrities = st.builds(
    TraceIntegrity,
    observability=st.sampled_from([None, "full", "partly", "none"]),
    participants=st.lists(
        st.builds(ParticipantObservability, agent=_ids, observability=st.sampled_from(get_args(Observability))),
        max_size=12,
    ),
)


_places = st.integers(-1, 6)
_part_causes = st.sampled_from(KINDS_OF_PARTS)
_flows = st.builds(
    FlowRecord,
    seats=st.just(seat_names(5)),
    facts=st.lists(_ids, max_size=6),
    needs=st.lists(st.lists(_places, max_size=3), min_size=5, max_size=5),
    known_from=st.lists(st.lists(st.none() | st.integers(-2, 9), max_size=6), min_size=4, max_size=5),
    answered=st.lists(st.none() | st.integers(-2, 10**9), min_size=5, max_size=5),
    end=st.integers(-1, 10**9),
    sent=st.lists(_counts, min_size=4, max_size=5),
    redundant=st.lists(_counts, min_size=5, max_size=5),
    messages=st.lists(
        st.builds(
            FactMessage,
            step_id=st.integers(0, 30).map(str),
            time=st.integers(-2, 10**9),
            sender=_places,
            receiver=_places,
            facts=st.lists(_places, max_size=3),
            news=st.lists(_places, max_size=3),
        ),
        max_size=5,
    ),
)
_team_tasks = st.builds(
    team_task,
    st.none() | st.just(flow_of()) | _flows,
    st.lists(
        st.builds(
            failure,
            _ids,
            cause=_part_causes,
            step_id=st.none() | _ids,
        ),
        max_size=3,
    ),
    rounds=st.none() | _counts,
    messages=_counts,
    fewest_messages=_counts,
    redundant=_counts,
    control=st.sampled_from([None, None, "solo", "silent"]),
    failures_omitted=_counts,
)


_trials = st.builds(
    lambda interactions, **changes: trial(*interactions, **changes),
    st.lists(_interactions, max_size=8),
    calls=st.lists(call_records, max_size=8),
    metrics=st.lists(_metrics, max_size=6),
    findings=st.lists(_findings, max_size=3),
    time_used=st.floats(0, 1e308),
    answer=st.none() | st.text(max_size=40),
    usable=st.booleans(),
    grading=st.none() | _gradings,
    overall_score=_fractions,
    coordination_quality=st.sampled_from([None, *get_args(Quality)]),
    coordination_status=st.sampled_from(MetricStatus),
    sub_scores=st.lists(_parts, max_size=4),
    trace_integrity=_integrities,
    team_task=st.none() | _team_tasks,
)
"""Inconsistent trials, which no evaluation would produce."""


@law
@given(st.lists(_trials, min_size=1, max_size=3))
def test_even_an_inconsistent_row_has_a_page_whose_links_all_resolve(inconsistent: list[TrialRecord]) -> None:
    row = row_of(["a", "b", GREEN_AGENT], *inconsistent)
    for page in (render(row), render(row, inconsistent[0].trial_id)):
        parsed = parse_page(page)
        ids = parsed.values("id")

        assert parsed.unclosed == []
        assert len(ids) == len(set(ids))
        assert {href.removeprefix("#") for href in parsed.values("href")} <= set(ids)
        assert GREEN_AGENT not in parsed.values("data-agent")
    assert_brief(row)
    json.dumps(comparable(Path("run.json"), row))
    line_of(Path("run.json"), row, Path(), Path())


def assert_brief(row: ResultRow) -> None:
    """Checks that the end of a run shows the row, and within its limit of lines."""
    out = StringIO()
    Console(file=out, width=80, force_terminal=True).print(Brief(view_of(row), "run"))
    assert len(out.getvalue().splitlines()) <= MAX_LINES


_points = st.tuples(st.floats(0, 1e9), st.floats(0, 1)).map(
    lambda drawn: {"score": drawn[0] * drawn[1], "max_score": drawn[0]}
)
_texts = st.sampled_from(["", "a", "2026-05-04T08:00:00Z", "9999-12-31T23:59:59-12:00", "2026-05-04", "<b>", "\ud800"])
_times = st.sampled_from(["2026-05-04T08:00:00Z", "9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00+12:00"])
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | _texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_texts, inner, max_size=2),
    max_leaves=4,
)
"""Small, since a result has dozens of them: a test would take most of its time to draw them."""

_turns = st.integers(1, 3)
_dimensions = st.sampled_from(DIMENSIONS)
_actions = st.lists(
    st.fixed_dictionaries(
        {
            "turn": _turns,
            "timestamp": _times,
            "action": _texts,
            "success": st.booleans(),
            "parameters": st.dictionaries(st.sampled_from(["to_addresses", "subject", "body", ""]), _json),
        }
    ),
    max_size=3,
)


def _scenario_results(most_points: int) -> st.SearchStrategy[dict[str, Any]]:
    """Results whose parts contradict each other. `most_points`: of a criterion."""
    return st.fixed_dictionaries(
        {
            "assessment_id": _texts,
            "scenario_id": _texts,
            "participant": _texts,
            "status": st.sampled_from(["completed", "failed", "timeout"]),
            "reason": st.sampled_from(get_args(CompletionReason)),
            "duration_seconds": st.floats(0, 1e9),
            "turns_taken": st.integers(0, 10**9),
            "scores": st.fixed_dictionaries({"overall": _points, "dimensions": st.dictionaries(_dimensions, _points)}),
            "criteria_results": st.lists(
                st.fixed_dictionaries(
                    {
                        "criterion_id": _texts,
                        "name": _texts,
                        "dimension": _dimensions,
                        "score": st.none() | st.floats(0, 9),
                        "max_score": st.integers(1, most_points),
                        "explanation": _texts,
                        "method": st.sampled_from(["programmatic", "model"]),
                        "error": st.none() | _texts,
                        "of_a_later_version": _json,
                    }
                ),
                max_size=3,
            ),
            "turns": st.lists(
                st.fixed_dictionaries({"turn": _turns, "started_at": _times, "ended_at": _times, "notes": _texts}),
                max_size=3,
            ),
            "action_log": _actions,
            "other_events": st.lists(
                st.fixed_dictionaries({"turn": _turns, "timestamp": _times, "event": _texts, "text": _texts}),
                max_size=3,
            ),
        }
    ).map(lambda results: results | {"actions_taken": len(results["action_log"])})


@settings(max_examples=5)
@given(_scenario_results(int(MAX_POINTS)))
def test_inconsistent_results_of_scenarios_are_readable(inconsistent: object) -> None:
    row = row_with(troubled_day(), assessment_results=[inconsistent])
    assert len(scenario_results(row.detail)) == 1


def test_results_with_more_points_than_any_criterion_has_are_not_readable() -> None:
    for points, readable in ((int(MAX_POINTS), 1), (int(MAX_POINTS) + 1, 0)):
        changed = troubled_day().model_dump(mode="json")
        changed["criteria_results"][0] |= {"max_score": points}
        row = row_with(troubled_day(), assessment_results=[changed])
        assert len(scenario_results(row.detail)) == readable


@settings(max_examples=15)  # a page takes a second
@given(st.lists(_scenario_results(10**12) | _json, max_size=2))
def test_even_inconsistent_results_of_scenarios_have_a_page_and_a_summary(inconsistent: list[Any]) -> None:
    row = row_with(troubled_day(), assessment_results=inconsistent)
    parsed = parse_page(render(row))
    ids = parsed.values("id")

    assert parsed.unclosed == []
    assert len(ids) == len(set(ids))
    assert {href.removeprefix("#") for href in parsed.values("href")} <= set(ids)
    Console(file=StringIO()).print(tables(view_of(row)))
    assert_brief(row)
