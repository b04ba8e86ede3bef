"""The result of a check: verdicts, exit codes, and what terminal, JUnit and Markdown say."""

from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

from concord.assessment.verdict import Cause, CauseKind, Figures, Verdict
from concord_cli.check.gate import CheckResult, Gate, result_of
from concord_cli.check.outputs import lines_of, verdict_text, write_junit, write_markdown
from concord_cli.check.pairs import LOST, Pair, Played, Slot
from tests.unit.cli.rows import row, trial


def gate(*differences: float, margin: float = 0.1, lost: int = 0) -> Gate:
    """A gate after pairs with these differences, over six tasks in turn, of which the old version earned half."""
    found = Gate(margin)
    for number, difference in enumerate(differences):
        old = Played(0.5, 0.5, "a")
        found.add(
            [Pair(Slot(f"task-{number % 6}", 1 + number // 6), old, Played(0.5 + difference, 0.5 + difference, "a"))]
        )
    found.add(Pair(Slot("lost", run), Played(0.5, 0.5, "a"), LOST) for run in range(1, lost + 1))
    return found


def blamed(*causes: Cause) -> Verdict:
    return Verdict(
        passed=True, score=None, mark=66, trials=1, trials_passed=1, causes=list(causes), changes=[], unknown=[],
        figures=Figures(),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("found", "least", "verdict", "code"),
    [
        (gate(*[0.4] * 40), None, "better", 0),
        (gate(*[0.0] * 60), None, "not worse", 0),
        (gate(*[-0.4] * 40), None, "worse", 5),
        (gate(*[-0.4] * 40), 60, "worse", 5),
        (gate(*[0.0] * 60), 60, "below the least score", 5),
        (gate(0.0, 0.0), 40, "no difference shown", 3),
        (gate(), None, "no difference shown", 3),
        (gate(lost=60), None, "no difference shown", 3),
    ],
)
def test_each_verdict_has_its_exit_code(found: Gate, least: float | None, verdict: str, code: int) -> None:
    result = result_of(found, least)
    assert (result.verdict, result.exit_code) == (verdict, code)
    assert CheckResult.model_validate_json(result.model_dump_json()) == result


def test_a_verdict_stays_shown_and_may_only_improve() -> None:
    found = gate(*[0.3] * 20, margin=0.05)
    assert found.verdict == "better"
    found = gate(*[0.0] * 60)
    assert found.is_sure
    found.add(Pair(Slot("task", run), Played(0.6, 0.6, "a"), Played(0, 0, "a")) for run in range(20))
    assert found.verdict == "not worse"


def test_a_version_that_gains_more_than_the_margin_plays_on_to_be_better() -> None:
    found = gate(*[0.3, 0.0] * 7, margin=0.14)
    while found.verdict == "no difference shown":
        found.add([Pair(Slot("task", 99), Played(0.5, 0.5, "a"), Played(0.8, 0.8, "a"))])
    assert found.verdict == "better" or not found.is_sure


def test_without_a_verdict_the_number_of_pairs_that_would_do_is_told() -> None:
    result = result_of(gate(*[0.2, -0.3] * 6), None)
    assert result.pairs_needed is not None
    assert result.pairs_needed > len(result.pairs)
    assert f"{result.pairs_needed:,} pairs" in verdict_text(result)
    assert result_of(gate(*[0.0] * 60), None).pairs_needed is None


def test_lost_pairs_are_counted_and_help_no_verdict() -> None:
    result = result_of(gate(*[0.0] * 60, lost=30), None)
    assert result.unknown == 30
    assert any("of which nobody judged 30" in line for line, _ in lines_of(result))


def test_causes_that_came_and_went_are_told() -> None:
    told_nobody = Cause(kind=CauseKind.NOT_SENT, agents=("agent/2",), certainty="proven", trials=("trial-1",))
    unpaired = Cause(kind=CauseKind.TOO_LATE, agents=("agent/3",), certainty="proven", trials=("trial-7",))
    silent = Cause(kind=CauseKind.NO_ANSWER, agents=("agent|1",), certainty="proven", count=4)
    found = gate(*[-0.4] * 40)
    found.old.append(row(verdict=blamed(told_nobody, unpaired), trials=[trial(task_id="task-0")]))
    found.new.append(row(verdict=blamed(silent)))
    result = result_of(found, None)
    lines = [line.strip() for line, _ in lines_of(result)]
    assert "Came: agent|1 gave no answer (4 times)" in lines
    assert "Went: agent/2 told nobody (once)" in lines
    assert not any("agent/3" in line for line in lines), "a cause in trials that were not played again"


def test_junit_has_a_failing_case_for_a_worse_version_and_an_error_for_none_that_is_sure(tmp_path: Path) -> None:
    for name, differences, expected in (
        ("worse", [-0.4] * 40, ("1", "0", "failure")),
        ("unsure", [0.0], ("0", "1", "error")),
        ("fine", [0.0] * 60, ("0", "0", None)),
    ):
        file = tmp_path / f"{name}.xml"
        write_junit(file, result_of(gate(*differences), None))
        suite = Xml.parse(file).getroot()  # noqa: S314 - our own
        told = [each.tag for each in suite[0]]
        assert (suite.get("failures"), suite.get("errors"), told[0] if told else None) == expected
        assert suite.get("tests") == str(len(suite))


def test_no_text_of_an_agent_is_markup_in_markdown(tmp_path: Path) -> None:
    cause = Cause(kind=CauseKind.CRITERION, part="<b>|@all [x](y)", certainty="judged")
    found = gate(*[-0.4] * 40)
    found.new.append(row(verdict=blamed(cause)))
    write_markdown(tmp_path / "check.md", result_of(found, None))
    text = (tmp_path / "check.md").read_text()
    assert text.startswith("### ❌ Worse")
    assert "<code>&lt;b&gt;&#124;@all [x](y): not met (once)</code>" in text
    assert "| <code>task-0</code> | 50 | 10 | -40 |" in text
