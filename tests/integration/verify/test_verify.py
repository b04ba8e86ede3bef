"""`concord verify` on real runs: honest ones, and copies that somebody changed."""

import asyncio
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from concord.assessment import AssessmentPlan
from concord.bundle import MANIFEST
from concord.suite import commitment
from concord_cli.exits import MAX_LINES
from concord_cli.verify.checks import RECORDED, verify_results
from concord_cli.verify.planned import shard_faults
from concord_evaluator.metrics import BUILT_IN_METRICS
from tests.integration.verify.runs import AGENT_ID, TASK_SECRET, Members, Run, invoked, merged

ROOT = Path(__file__).parents[3]
KINDS = ["pattern", "rounds", "two agents", "calls", "judge", "cached judge", "failed judge", "assistant"]


def verified(results: Path, *options: str) -> tuple[int, str]:
    """The exit code and the output of `concord verify`."""
    return invoked("verify", str(results), *options)


@pytest.fixture
def copied(runs: Mapping[str, Run], tmp_path: Path) -> Callable[[str], Run]:
    """Copies a run of a kind, to be changed."""
    return lambda kind: runs[kind].copy(tmp_path / kind)


def edited(members: Members, name: str, path: Sequence[str | int], to: object) -> None:
    """Changes one value in a JSON member."""
    document = json.loads(members[name])
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = to
    members[name] = json.dumps(document).encode()


@pytest.mark.parametrize("kind", KINDS)
def test_every_value_of_a_row_follows_from_its_bundle(kind: str, runs: Mapping[str, Run]) -> None:
    code, output = verified(runs[kind].results)
    assert code == 0, output
    assert "Every value of 1 row follows from the bundles" in output
    assert "No signature was checked" in output


@pytest.mark.parametrize(("kind", "source"), [("judge", "llm"), ("cached judge", "llm"), ("failed judge", "rules")])
def test_the_judges_answers_are_replayed_without_a_model(kind: str, source: str, runs: Mapping[str, Run]) -> None:
    run = runs[kind]
    inputs = json.loads(run.members()["trials/trial-1/inputs.json"])
    outcomes = {"judge": "answered", "cached judge": "cached", "failed judge": "unavailable"}
    assert run.row()["detail"]["judge"]["source"] == source
    assert [each["outcome"] for each in inputs["judge"]["exchanges"]] == [outcomes[kind]]


def test_a_bundle_has_no_key_and_no_token(runs: Mapping[str, Run]) -> None:
    run = runs["assistant"]
    assert run.secrets
    everything = b"".join(member for each in runs.values() for member in each.members().values())
    for secret in (*run.secrets, "concord_eyJ", "what-signs-tokens-in-these-tests-only"):
        assert secret.encode() not in everything


def test_only_the_owner_may_read_a_bundle_since_all_tasks_follow_from_it(runs: Mapping[str, Run]) -> None:
    run = runs["rounds"]
    assert json.loads(run.members()["plan.json"])["task_secret"] == TASK_SECRET
    assert run.bundle.stat().st_mode & 0o777 == 0o600


def test_equal_members_result_in_equal_bytes(runs: Mapping[str, Run], tmp_path: Path) -> None:
    run = runs["rounds"]
    again = run.copy(tmp_path).with_members(lambda _: None)
    assert again.bundle.read_bytes() == run.bundle.read_bytes()


ROW_CHANGES: list[tuple[str, Callable[[dict[str, Any]], object]]] = [
    ("$.results[0].score: the row has 99", lambda row: row.update(score=99)),
    ("$.results[0].pass_rate", lambda row: row.update(pass_rate=99.5)),
    ("$.results[0].time_used", lambda row: row.update(time_used=7)),
    ("$.results[0].detail.trials[1].seed", lambda row: row["detail"]["trials"][1].update(seed=1)),
    ("$.results[0].detail.trials[2]", lambda row: row["detail"]["trials"].pop()),
    ("$.results[0].detail.bonus: the row has 1, the bundle yields nothing", lambda row: row["detail"].update(bonus=1)),
    ("$.results[0].detail.warnings: the row has nothing", lambda row: row["detail"].pop("warnings")),
    ("$.results[0].detail.agents[0].id", lambda row: row["detail"]["agents"][0].update(id="Z")),
    ("$.results[0].detail.bundle_sha256: the row has null", lambda row: row["detail"].update(bundle_sha256=None)),
]


@pytest.mark.parametrize(("line", "change"), ROW_CHANGES, ids=[line.split(":")[0] for line, _ in ROW_CHANGES])
def test_a_changed_value_is_named_by_its_path_with_both_values(
    line: str, change: Callable[[dict[str, Any]], object], copied: Callable[[str], Run]
) -> None:
    code, output = verified(copied("pattern").with_row(change).results)
    assert code == 1
    assert "concord: the results are not verified: 1 fault" in output
    assert line in output


def with_metrics(run: Run, change: Callable[[list[dict[str, Any]]], None]) -> Path:
    """The run's results, with each list of metrics changed."""
    document = run.document()
    for holder in (detail := document["results"][0]["detail"], *detail["trials"]):
        change(holder["metrics"])
    run.results.write_text(json.dumps(document))
    return run.results


def test_a_metric_of_a_package_that_is_not_installed_here_is_one_line_and_no_forgery(
    copied: Callable[[str], Run],
) -> None:
    def add(metrics: list[dict[str, Any]]) -> None:
        metrics.insert(0, {**metrics[0], "id": "a_metric_of_a_package", "value": 1.0})

    code, output = verified(with_metrics(copied("rounds"), add))
    assert code == 6, output
    assert output.count("a_metric_of_a_package") == 1


def test_a_metric_of_a_package_that_is_installed_here_since_is_one_line_and_no_forgery(
    copied: Callable[[str], Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("concord_cli.verify.checks.BUILT_IN_METRICS", BUILT_IN_METRICS[1:])
    packaged = BUILT_IN_METRICS[0].id

    def drop(metrics: list[dict[str, Any]]) -> None:
        metrics[:] = [each for each in metrics if each["id"] != packaged]

    code, output = verified(with_metrics(copied("rounds"), drop))
    assert code == 6, output
    assert output.count(packaged) == 1


def test_a_missing_built_in_metric_is_a_fault_and_the_faults_fill_no_more_than_a_screen(
    copied: Callable[[str], Run],
) -> None:
    code, output = verified(with_metrics(copied("rounds"), lambda metrics: metrics.__delitem__(0)))
    assert code == 1
    assert "the results are not verified" in output
    assert len(output.strip().splitlines()) <= MAX_LINES
    assert "more lines" in output


def test_rows_of_assessments_of_their_own_need_not_be_shards_of_one(runs: Mapping[str, Run], tmp_path: Path) -> None:
    both = [runs[kind] for kind in ("rounds", "pattern")]
    document = both[0].document() | {"results": [each.row() for each in both]}
    (tmp_path / "results.json").write_text(json.dumps(document))
    (tmp_path / "bundles").mkdir()
    for each in both:
        (tmp_path / "bundles" / each.bundle.name).write_bytes(each.bundle.read_bytes())
    code, output = verified(tmp_path / "results.json")
    assert code == 0, output


def test_numbers_may_be_written_as_a2a_writes_them(copied: Callable[[str], Run]) -> None:
    def as_floats(value: object) -> object:
        if isinstance(value, dict):
            return {key: as_floats(each) for key, each in sorted(value.items())}
        if isinstance(value, list):
            return list(map(as_floats, value))
        return float(value) if type(value) is int else value

    run = copied("pattern")
    run.results.write_text(json.dumps(as_floats(run.document())))
    assert verified(run.results)[0] == 0


def test_the_row_of_another_run_does_not_fit_a_bundle(runs: Mapping[str, Run]) -> None:
    code, output = verified(runs["whole"].results, "--bundle", str(runs["pattern"].bundle))
    assert code == 1
    assert "$.results[0].detail.assessment_id" in output


def test_a_row_that_credits_another_agent_is_found(copied: Callable[[str], Run]) -> None:
    run = copied("rounds")
    document = run.document()
    assert document["participants"] == {"agent": AGENT_ID}
    run.results.write_text(json.dumps({**document, "participants": {"agent": "another"}}))
    code, output = verified(run.results)
    assert code == 1
    assert f'$.participants.agent: the file has "another", the request "{AGENT_ID}"' in output


def swapped(members: Members) -> None:
    first, second = (f"trials/trial-{number}/reports.jsonl" for number in (1, 2))
    members[first], members[second] = members[second], members[first]


def swapped_answers(members: Members) -> None:
    first, second = (f"trials/trial-{number}/outcome.json" for number in (1, 2))
    members[first], members[second] = members[second], members[first]


CONTAINERS: dict[str, object] = {
    "image": "agent:1",
    "image_id": "sha256:1",
    "image_digest": None,
    "model_endpoints": [],
}
SEED = "trials", 0, "seed"
QUIET = "config", "quiet_s"
URL = "roster", 0, "url"
DIFFICULTY = "tasks", 0, "family", "difficulty"
FOREIGN: Members = {"trials/trial-9/outcome.json": b"{}"}
MEMBER_CHANGES: list[tuple[str, str, Callable[[Members], object]]] = [
    ("pattern", "trials/trial-1/reports.jsonl: has reports of the trace", swapped),
    ("pattern", "trials/trial-1/outcome.json: is of trial-2", swapped_answers),
    ("pattern", "trials/trial-2/reports.jsonl: has 0 batches", lambda each: each.pop("trials/trial-2/reports.jsonl")),
    ("pattern", "trials/trial-2/outcome.json: is missing", lambda each: each.pop("trials/trial-2/outcome.json")),
    ("pattern", "trials/trial-2/inputs.json: is missing", lambda each: each.pop("trials/trial-2/inputs.json")),
    ("pattern", "plan.json: is missing", lambda each: each.pop("plan.json")),
    ("pattern", "request.json: is missing", lambda each: each.pop("request.json")),
    ("pattern", "trials/trial-9/outcome.json: belongs to no trial", lambda each: each.update(FOREIGN)),
    (
        "pattern",
        "plan.json: its trials differ from the trials that the request asks for",
        lambda each: edited(each, "plan.json", SEED, 1),
    ),
    ("pattern", "plan.json: its config differs from the request's", lambda each: edited(each, "plan.json", QUIET, 9)),
    ("rounds", "plan.json: its task maximum", lambda each: edited(each, "plan.json", DIFFICULTY, 1)),
    ("assistant", "plan.json: its task first_day differs", lambda each: edited(each, "plan.json", ("tasks",), [])),
    ("rounds", "plan.json: its roster", lambda each: edited(each, "plan.json", URL, "http://b/")),
    (
        "rounds",
        "plan.json: its seats cannot have been isolated",
        lambda each: edited(each, "plan.json", ("seat_containers",), CONTAINERS),
    ),
    ("judge", "trials/trial-1/inputs.json: the record has no answer of the model", lambda each: asked_nothing(each)),
    ("judge", "trials/trial-1/inputs.json: judge.samples", lambda each: asked_without_end(each)),
    ("assistant", "trials/trial-1/conducted.json: is missing", lambda each: each.pop("trials/trial-1/conducted.json")),
    ("assistant", "trials/trial-1/conducted.json: its scenario", lambda each: with_easy_criteria(each)),
]


def asked_nothing(members: Members) -> None:
    edited(members, "trials/trial-1/inputs.json", ("judge", "exchanges"), [])


def asked_without_end(members: Members) -> None:
    edited(members, "trials/trial-1/inputs.json", ("judge", "samples"), 2**70)


def with_easy_criteria(members: Members) -> None:
    edited(members, "trials/trial-1/conducted.json", ("scenario", "day", "errands", 0, "title"), "Easy.")


@pytest.mark.parametrize(("kind", "line", "change"), MEMBER_CHANGES, ids=[line for _, line, _ in MEMBER_CHANGES])
def test_a_bundle_that_contradicts_itself_is_found_even_with_a_manifest_that_fits(
    kind: str, line: str, change: Callable[[Members], object], copied: Callable[[str], Run]
) -> None:
    code, output = verified(copied(kind).with_members(change).results)
    assert code == 1
    assert line in output


def places(value: object, place: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The paths of all values in a document."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield (*place, key)
        yield from places(each, (*place, key))


@given(data=st.data())
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.parametrize("kind", ["rounds", "judge", "assistant"])
def test_any_damaged_value_in_a_bundle_is_reported_as_a_fault(
    kind: str, data: st.DataObject, runs: Mapping[str, Run], tmp_path: Path
) -> None:
    def change(members: Members) -> None:
        name = data.draw(st.sampled_from(sorted(members)))
        first, *others = members[name].splitlines()
        place = data.draw(st.sampled_from([*places(json.loads(first))]))
        value: object = data.draw(st.sampled_from([None, True, -1, 2**70, 1e308, "", "x", [], {}, [None], "\ud800"]))
        members[name] = first
        edited(members, name, place, value)
        members[name] = b"\n".join([members[name], *others])

    code, output = verified(runs[kind].copy(tmp_path / "changed").with_members(change).results)
    assert (code == 1) == ("the results are not verified" in output)


def test_the_code_of_a_bundles_scenario_is_not_executed_unless_it_is_the_checkers(
    copied: Callable[[str], Run], tmp_path: Path
) -> None:
    def with_code(members: Members) -> None:
        member = "trials/trial-1/conducted.json"
        source = json.loads(members[member])["evaluators"]["source"]
        edited(members, member, ("evaluators", "source"), f"{source}\nopen({str(tmp_path / 'ran')!r}, 'w')\n")

    code, output = verified(copied("assistant").with_members(with_code).results)
    assert code == 1
    assert "its scenario or its evaluators differ from those of 'first_day' in --scenarios" in output
    assert not (tmp_path / "ran").exists()


def test_tasks_of_another_secret_than_the_one_committed_to_are_found(copied: Callable[[str], Run]) -> None:
    secret = "00" * 32
    run = copied("rounds").with_members(lambda each: edited(each, "plan.json", ["task_secret"], secret))
    code, output = verified(run.results)
    assert code == 1
    assert "plan.json: the task secret has the SHA-256" in output


def test_a_commitment_that_fits_another_secret_does_not_fit_the_row(copied: Callable[[str], Run]) -> None:
    run = copied("rounds").with_members(
        lambda each: edited(each, "plan.json", ["task_secret"], "00" * 32), commitment=commitment(bytes(32))
    )
    assert verified(run.results)[0] == 1
    found = asyncio.run(verify_results(run.results, run.folder / "bundles", [], lambda _: None))
    assert any(fault.startswith("$.results[0].detail.task_secret_sha256: the row has") for fault in found.faults)


def test_a_better_answer_in_the_bundle_alone_is_found_in_the_row(copied: Callable[[str], Run]) -> None:
    run = copied("rounds").with_members(
        lambda each: edited(each, "trials/trial-1/outcome.json", ("answers", 0, "text"), "0")
    )
    code, output = verified(run.results)
    assert code == 1
    assert "$.results[0].detail.trials[0].grading" in output
    assert "$.results[0].score" in output


@pytest.mark.parametrize(
    ("name", "line"),
    [("plan.json", "is not a bundle"), (MANIFEST, "is not a bundle")],
)
def test_a_truncated_file_is_not_a_bundle(name: str, line: str, copied: Callable[[str], Run]) -> None:
    run = copied("pattern")
    content = run.bundle.read_bytes()
    run.bundle.write_bytes(content[: content.index(name.encode()) + 40])
    code, output = verified(run.results)
    assert code == 1
    assert line in output


def test_a_missing_bundle_is_named(copied: Callable[[str], Run]) -> None:
    run = copied("pattern")
    run.bundle.unlink()
    code, output = verified(run.results)
    assert code == 1
    assert f"$.results[0]: no {run.assessment_id}.zip in {run.bundle.parent}" in output


def test_a_row_without_a_bundle_is_named_as_one(copied: Callable[[str], Run]) -> None:
    run = copied("pattern").with_row(lambda row: row["detail"].update(bundle_sha256=None))
    run.bundle.unlink()
    code, output = verified(run.results)
    assert code == 1
    assert "$.results[0]: its assessment left no bundle (`detail.bundle_sha256` is null)" in output


def test_a_file_without_rows_is_a_usage_error(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text('{"participants": {}, "results": []}')
    code, output = verified(path)
    assert code == 2
    assert "not a results file: it has no `results`" in output


def paths_in(output: str) -> set[str]:
    """The paths of the faults, without their indices. A lone fault stands in the first line."""
    named = re.findall(r"^(?:concord: .* 1 fault: )?(\$\S+): ", output, re.MULTILINE)
    return {re.sub(r"\[\d+\]", "[]", path) for path in named}


RECORDINGS: list[tuple[str, str, tuple[str | int, ...], object]] = [
    ("judge", "trials/trial-1/outcome.json", ("time_used",), 1000.0),
    ("judge", "row-inputs.json", ("infrastructure",), [{"trial_id": None, "stage": "trial", "message": "Slow."}]),
    ("assistant", "trials/trial-1/conducted.json", ("duration_seconds",), 1000.0),
    ("two agents", "plan.json", ("seat_containers",), CONTAINERS),
]


OF_ISOLATION = {
    "$.results[].detail.scoring.ranking_parts.isolation",
    "$.results[].detail.scoring.ranking_kind",
    "$.results[].detail.verdict.unknown[]",
    "$.results[].detail.reasoning",
}
"""What a row says of isolation elsewhere: it follows from the recorded containers."""


def test_only_values_that_the_host_recorded_can_change_without_a_contradiction(
    copied: Callable[[str], Run],
) -> None:
    found = set()
    for kind, member, path, value in RECORDINGS:
        run = copied(kind).with_members(partial(edited, name=member, path=path, to=value))
        code, output = verified(run.results)
        assert code == 1
        found |= paths_in(output)
    assert found - OF_ISOLATION == set(RECORDED) - {"$.participants"}
    output = verified(copied("pattern").results)[1]
    assert "Only a signature covers the values that the host recorded: $.participants, " in output


FIGURES = [
    *("Pass Rate", "Score", "Domain", "Overall %", "Density %", "Coordination", "Quality", "Bottleneck", "Isolated"),
    *("Basis", "Version", "Score High", "Usable", "Judged", "Unjudged"),
]
"""The columns of the leaderboard that do not depend on how long something took."""


def line_of(results: Path) -> dict[str, Any]:
    """The leaderboard's line for a results file."""
    query = (ROOT / "deploy/leaderboard/query.sql").read_text(encoding="utf-8")
    with duckdb.connect() as connection:
        connection.execute(f"CREATE VIEW results AS SELECT * FROM read_json_auto('{results}')")  # noqa: S608
        answer = connection.execute(query)
        [line] = answer.fetchall()
        return dict(zip([column[0] for column in answer.description], line, strict=True))


class TestShards:
    def test_all_shards_of_an_assessment_verify_together(self, runs: Mapping[str, Run], tmp_path: Path) -> None:
        code, output = verified(merged(tmp_path / "merged", runs["part 0"], runs["part 1"]))
        assert code == 0, output
        assert "Every value of 2 rows follows from the bundles: 3 trials computed again." in output

    def test_shards_merge_to_the_numbers_of_a_whole_run(self, runs: Mapping[str, Run], tmp_path: Path) -> None:
        whole = line_of(merged(tmp_path / "whole", runs["whole"]))
        parts = line_of(merged(tmp_path / "parts", runs["part 0"], runs["part 1"]))
        assert 0 < whole["Pass Rate"] < 100
        assert {name: parts[name] for name in FIGURES} == {name: whole[name] for name in FIGURES}
        alone = line_of(merged(tmp_path / "alone", runs["part 1"]))
        assert [line["Shards"] for line in (whole, parts, alone)] == ["1 of 1", "2 of 2", "1 of 2"]

    def test_a_missing_shard_makes_the_assessment_incomplete(self, runs: Mapping[str, Run]) -> None:
        code, output = verified(runs["part 1"].results)
        assert code == 3
        assert "shards are missing, so this is not the whole assessment: 0" in output

    def test_a_copy_of_a_row_is_refused(self, runs: Mapping[str, Run], tmp_path: Path) -> None:
        code, output = verified(merged(tmp_path / "merged", *[runs["part 1"]] * 2))
        assert code == 2
        assert "it has 2 rows of one assessment" in output

    def test_a_shard_of_two_assessments_counts_only_once(self, runs: Mapping[str, Run]) -> None:
        plan = AssessmentPlan.model_validate_json(runs["part 1"].members()["plan.json"])
        again = plan.model_copy(update={"assessment_id": "another"})
        assert [*shard_faults([plan, again])] == ["shard 1 occurs 2 times"]

    def test_a_shard_without_tasks_is_of_no_other_secret(self, runs: Mapping[str, Run]) -> None:
        plan = AssessmentPlan.model_validate_json(runs["part 0"].members()["plan.json"])
        config = plan.config.model_copy(update={"shard_index": 1})
        empty = plan.model_copy(update={"config": config, "tasks": [], "trials": [], "task_secret": None})
        assert [*shard_faults([empty, plan])] == []
        assert empty.shared_sha256 == plan.shared_sha256

    def test_a_shard_with_an_edited_number_of_shards_is_a_fault(self, copied: Callable[[str], Run]) -> None:
        run = copied("part 1").with_row(lambda row: row["detail"]["shard"].update(shard_index=0, num_shards=1))
        code, output = verified(run.results)
        assert code == 1
        assert "$.results[0].detail.shard.num_shards: the row has 1, the bundle yields 2" in output

    def test_a_run_of_other_tasks_is_not_a_shard(self, runs: Mapping[str, Run], tmp_path: Path) -> None:
        code, output = verified(merged(tmp_path / "merged", runs["part 1"], runs["pattern"]))
        assert code == 1
        assert "shard 0 has another config than shard 1" in output
        assert "shard 0 has tasks of another secret than shard 1" in output
        assert "shard 0 assesses other participants than shard 1" in output
