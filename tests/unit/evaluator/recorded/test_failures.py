"""What failed in a recorded run: each exception once, where it was raised, and what must not be blamed."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from concord.assessment.result_row import ResultRow
from concord.assessment.verdict import Cause, CauseKind
from concord.trace.attributes import RESPONSE_TEXT
from concord.trace.step import CallType
from concord.trace.stored_step import Step
from concord_evaluator import failures
from concord_evaluator.diagnosis import diagnose
from concord_evaluator.failures import failures_in, nature_of, thrown
from tests.unit.evaluator.recorded.planted import Recorder, gen_ai, openinference


def raised(kind: str, message: str = "") -> dict[str, Any]:
    """A span's exception, as OpenTelemetry records it."""
    return {
        "error": message or kind,
        "events": {"exception": {"exception.type": kind, "exception.message": message}},
    }


def told(row: ResultRow) -> list[tuple[str, str, str | None, str, bool]]:
    """Of each failure its place, agent, name and nature, and whether something handled it."""
    work = row.detail.trials[0].work
    assert work is not None
    return [(each.where, each.agent, each.name, each.nature, each.handled) for each in work.failures]


def causes(row: ResultRow) -> list[Cause]:
    assert row.detail.verdict is not None
    return list(row.detail.verdict.causes)


TRACEBACK = 'Traceback (most recent call last):\n  File "/srv/a/_retry.py", line 1'
CHAIN: dict[str, Any] = {"openinference.span.kind": "CHAIN"}
GUARDRAIL: dict[str, Any] = {"openinference.span.kind": "GUARDRAIL"}


def metadata(name: str, step: int) -> dict[str, Any]:
    """The metadata of what runs in LangGraph's node under OpenInference."""
    entries = {"langgraph_node": name, "langgraph_checkpoint_ns": f"{name}:{step}", "langgraph_step": step}
    return {"metadata": json.dumps(entries)}


def node(team: Recorder, root: str, name: str, step: int, *, thinks: bool = True, **failed: Any) -> None:  # noqa: ANN401 - attributes
    """Records a node of LangGraph in its step of the graph, with a call of a model if it `thinks`."""
    of = team.span("plain", name, parent=root, at=(3 * step, 3 * step + 2), **failed, **metadata(name, step), **CHAIN)
    if thinks:
        team.span("model", "gpt", "?", "said", parent=of, at=(3 * step, 3 * step + 1), **metadata(name, step))


class TestAnExceptionIsBlamedOnceWhereItWasRaised:
    def test_a_tools_exception_is_its_agents_through_every_frame(self) -> None:
        team = Recorder(gen_ai)
        down = raised("ValueError", "database is down")
        root = team.span("plain", "team", at=(0, 10), **down)
        lead = team.span("agent", "lead", "Plan.", parent=root, at=(1, 9), **down)
        researcher = team.span("agent", "researcher", parent=lead, at=(2, 8), **down)
        tools = team.span("plain", "tools", parent=researcher, at=(3, 7), **down)
        team.span("tool", "bad", parent=tools, at=(4, 6), **down)
        row = team.row()
        assert told(row) == [("tool", "researcher", "bad", "error", False)]
        [cause] = causes(row)
        assert (cause.kind, cause.agents, cause.part, cause.points) == (
            CauseKind.TOOL_FAILED,
            ("researcher",),
            "bad",
            100,
        )
        assert cause.evidence[0].text == "ValueError: database is down"

    def test_the_trial_says_the_exception_without_its_traceback_and_local_paths(self) -> None:
        team = Recorder(gen_ai)
        trace = (
            "ValueError('no /home/me/data/x.csv')Traceback (most recent call last):\n  File \"/home/me/a.py\", line 1"
        )
        team.span("agent", "lead", "Go.", error=trace)
        assert team.row().detail.trials[0].error == "ValueError: no x.csv"

    def test_a_run_outside_of_any_agent_has_the_name_of_its_span(self) -> None:
        team = Recorder(gen_ai)
        root = team.span("plain", "POST /run", at=(0, 10), **raised("KeyError", "'plan'"))
        team.span("agent", "lead", "Go.", "Done.", parent=root, at=(1, 2))
        assert told(team.row()) == [("run", "POST /run", None, "error", False)]

    def test_an_exception_that_a_wrapper_quotes_is_that_exception(self) -> None:
        team = Recorder(gen_ai)
        lead = team.span("agent", "lead", "Go.", at=(0, 9), **raised("UserError", "Error running tool price: no route"))
        team.span("tool", "price", parent=lead, at=(1, 2), **raised("KeyError", "no route"))
        assert told(team.row()) == [("tool", "lead", "price", "error", False)]

    def test_a_group_of_exceptions_is_the_one_inside(self) -> None:
        team = Recorder(gen_ai)
        group = raised("ExceptionGroup", "unhandled errors in a TaskGroup (1 sub-exception)")
        lead = team.span("agent", "lead", "Go.", at=(0, 9), **group)
        team.span("agent", "north", parent=lead, at=(1, 3), **raised("OSError", "no chart"))
        assert told(team.row()) == [("call", "north", "lead", "error", False)]

    def test_a_frame_that_says_only_that_it_failed_is_on_the_way(self) -> None:
        team = Recorder(openinference)
        lead = team.span("agent", "lead", "Go.", at=(0, 9), error="error")
        team.span("model", "gpt", parent=lead, at=(1, 2), error="429 Too Many Requests")
        assert told(team.row()) == [("model", "lead", "gpt", "error", False)]

    def test_a_frame_between_that_says_nothing_hides_nothing(self) -> None:
        team = Recorder(gen_ai)
        root = team.span("agent", "lead", "Go.", at=(0, 9), **raised("OSError", "disk full"))
        between = team.span("plain", "executor", parent=root, at=(1, 8))
        team.span("tool", "save", parent=between, at=(2, 3), **raised("OSError", "disk full"))
        assert told(team.row()) == [("tool", "lead", "save", "error", False)]

    def test_the_last_of_attempts_that_all_failed_ended_the_run(self) -> None:
        team = Recorder(gen_ai)
        locked = raised("OSError", "index is locked")
        lead = team.span("agent", "lead", "Go.", at=(0, 9), **locked)
        for number in range(3):
            team.span("tool", "index", parent=lead, at=(1 + number, 1.5 + number), **locked)
        row = team.row()
        assert told(row) == [("tool", "lead", "index", "error", False), ("tool", "lead", "index", "error", True)]
        assert causes(row)[0].steps == (f"{4:016x}",)

    def test_the_first_of_parallel_branches_ended_the_run(self) -> None:
        team = Recorder(gen_ai)
        lead = team.span("agent", "lead", "Go.", at=(0, 9), **raised("OSError", "no network"))
        team.span("agent", "east", parent=lead, at=(1, 5), **raised("OSError", "no network"))
        team.span("agent", "west", parent=lead, at=(1, 3), **raised("OSError", "no network"))
        assert causes(team.row())[0].agents == ("west",)

    def test_a_call_by_two_agents_failed_once(self) -> None:
        team = Recorder(openinference)
        locked = "index is locked\n\nError: index is locked\n    at run (file:///srv/app/a.mjs:1:2)"
        root = team.span("plain", "trip", at=(0, 19), error=locked, **CHAIN)
        for step, name in ((1, "planner"), (2, "coast"), (2, "hills")):
            node(team, root, name, step)
        node(team, root, "merger", 3, error=locked)
        assert told(team.row()) == [("call", "merger", "coast", "error", False)]
        assert [each.agents for each in diagnose(team.trace()).observations] == [["coast"]]


class TestWhatMustNotBeBlamed:
    def test_an_exception_that_was_caught_and_followed_by_another(self) -> None:
        team = Recorder(gen_ai)
        desk = team.span("agent", "desk", "When?", at=(0, 12), **raised("KeyError", "'route'"))
        timetable = team.span("agent", "timetable", said="09:40", parent=desk, at=(1, 7))
        team.span("tool", "live", parent=timetable, at=(2, 4), **raised("TimeoutError", "no answer in 2 s"))
        team.span("model", "m", parent=timetable, at=(4, 6))
        booking = team.span("agent", "booking", parent=desk, at=(8, 11), **raised("KeyError", "'route'"))
        team.span("tool", "price", parent=booking, at=(9, 10), **raised("KeyError", "'route'"))
        row = team.row()
        assert told(row) == [
            ("tool", "booking", "price", "error", False),
            ("tool", "timetable", "live", "timeout", True),
        ]
        assert [(each.agents, each.points) for each in causes(row)] == [(("booking",), 100)]

    def test_a_tools_error_before_an_answer(self) -> None:
        team = Recorder(gen_ai)
        desk = team.span("agent", "desk", "When?", "At 09:40.", at=(0, 12))
        team.span("tool", "live", parent=desk, at=(2, 4), **raised("TimeoutError", "no answer"))
        row = team.row()
        assert (told(row), causes(row)) == ([("tool", "desk", "live", "timeout", True)], [])
        assert row.detail.trials[0].state == "completed"

    def test_an_attempt_before_one_that_succeeded(self) -> None:
        team = Recorder(gen_ai)
        root = team.span("plain", "graph", at=(0, 9))
        for number in range(3):
            failed = raised("TimeoutError", "timed out") if number < 2 else {}
            team.span("agent", "researcher", parent=root, at=(number, number + 0.5), **failed)
        row = team.row()
        assert [each[-1] for each in told(row)] == [True]
        assert row.detail.trials[0].work is not None
        assert row.detail.trials[0].work.failures[0].count == 2

    @pytest.mark.parametrize("kind", ["CancelledError", "asyncio.exceptions.CancelledError", "AbortError", "Cancelled"])
    def test_siblings_that_were_cancelled_because_one_failed(self, kind: str) -> None:
        team = Recorder(gen_ai)
        desk = team.span("agent", "desk", "Go.", at=(0, 12), **raised("FileNotFoundError", "sea chart missing"))
        team.span("agent", "north", parent=desk, at=(1, 4), **raised("FileNotFoundError", "sea chart missing"))
        for name in ("south", "east"):
            team.span("agent", name, parent=desk, at=(1, 5), **raised(kind, "cancelled"))
        assert told(team.row()) == [("call", "north", "desk", "error", False)]

    def test_a_child_that_was_cancelled_by_a_timeout_around_it(self) -> None:
        team = Recorder(gen_ai)
        lead = team.span("agent", "lead", "Go.", at=(0, 6), **raised("TimeoutError"))
        fetch = team.span("tool", "fetch", parent=lead, at=(1, 5), **raised("TimeoutError"))
        team.span("plain", "GET", parent=fetch, at=(2, 5), **raised("CancelledError"))
        assert told(team.row()) == [("tool", "lead", "fetch", "timeout", False)]

    @pytest.mark.parametrize(
        "kind", ["ParentCommand", "langgraph.errors.ParentCommand", "GraphInterrupt", "NodeInterrupt"]
    )
    def test_control_flow_of_a_graph(self, kind: str) -> None:
        team = Recorder(gen_ai)
        lead = team.span("agent", "alice", "Go.", at=(0, 9), **raised(kind, "Command(goto='bob')"))
        team.span("plain", "tools", parent=lead, at=(1, 2), **raised(kind, "Command(goto='bob')"))
        assert told(team.row()) == []


class TestAnErrorThatNothingHandled:
    def test_of_a_guardrail_ends_the_run_without_an_answer(self) -> None:
        team = Recorder(openinference)
        triage = team.span("agent", "Triage", at=(0, 9))
        turn = team.span(
            "plain", "turn", parent=triage, at=(1, 8), error="Guardrail tripwire triggered: {'guardrail': 'g'}"
        )
        team.span("plain", "g", parent=turn, at=(1, 7), **GUARDRAIL)
        team.span("model", "gpt", "my homework", "hello", parent=turn, at=(1, 6))
        row = team.row()
        [cause] = causes(row)
        assert (cause.kind, cause.agents, cause.part) == (CauseKind.GUARDRAIL, ("Triage",), "g")
        assert (row.detail.trials[0].state, row.detail.trials[0].answer) == ("failed", None)

    def test_names_the_guardrail_inside_if_the_error_does_not(self) -> None:
        team = Recorder(openinference)
        lead = team.span("agent", "lead", "Go.", at=(0, 9), **raised("InputGuardrailTripwireTriggered", "stopped"))
        team.span("plain", "no_homework", parent=lead, at=(1, 2), **GUARDRAIL)
        assert told(team.row()) == [("run", "lead", "no_homework", "guardrail", False)]

    def test_in_a_cut_trace_leaves_the_outcome_unknown_and_warns(self) -> None:
        team = Recorder(gen_ai)
        team.span("agent", "researcher", "Look.", parent="e" * 16, at=(0, 1), **raised("TimeoutError", "timed out"))
        row = team.row()
        assert (row.score, told(row)) == (None, [("step", "researcher", None, "timeout", False)])
        assert any("cut" in warning for warning in row.detail.warnings)

    def test_of_a_node_without_a_model_makes_it_an_agent_of_the_team(self) -> None:
        team = Recorder(openinference)
        late = "TimeoutError('endpoint timed out')Traceback (most recent call last):\n  File \"/home/a.py\""
        root = team.span("plain", "LangGraph", at=(0, 19), error=late, **CHAIN)
        node(team, root, "researcher", 1)
        node(team, root, "calculator", 2)
        node(team, root, "writer", 3, thinks=False, error=late)
        row = team.row()
        assert told(row) == [("call", "writer", "calculator", "timeout", False)]
        assert [each.id for each in row.detail.agents] == ["calculator", "researcher", "writer"]
        assert any("called no model" in warning for warning in row.detail.warnings)


@pytest.mark.parametrize(
    ("error", "stated", "text", "nature"),
    [
        (f"ValueError('down'){TRACEBACK}, in timeout", "", "ValueError: down", "error"),
        (f"{TRACEBACK}, in f\n    g()\nKeyError: 'route'\n", "", "KeyError: 'route'", "error"),
        ("no\n\nError: no\n    at run (file:///srv/app/a.mjs:1:2)", "", "no", "error"),
        ("no\n\nTypeError: no\n    at run (file:///srv/app/a.mjs:1:2)", "", "TypeError: no", "error"),
        ("no\n\nTypeError: no\n    at run (file:///srv/app/timeout.mjs:1:2)", "Error", "TypeError: no", "error"),
        ("no\nway\n\nAbortError: no\nway\n    at run (a.mjs:1:2)", "", "AbortError: no", "cancelled"),
        ("TypeError: fetch failed\n    at node:internal/timeout:1:2", "", "TypeError: fetch failed", "error"),
        ("DOMException [TimeoutError]: no reply", "", "TimeoutError: no reply", "timeout"),
        ("TypeError [ERR_TIMEOUT_VALUE]: bad value", "", "TypeError: bad value", "error"),
        ("Uncaught TypeError: x is no function", "", "TypeError: x is no function", "error"),
        ("Client Request timed out", "httpx.ReadTimeout", "ReadTimeout: Client Request timed out", "timeout"),
        ("", "504", "504", "timeout"),
        ("TimeoutError", "TimeoutError", "TimeoutError", "timeout"),
        ("DEADLINE_EXCEEDED", "", "DEADLINE_EXCEEDED", "timeout"),
        ("This operation was aborted", "", "This operation was aborted", "cancelled"),
        ("connection aborted", "ConnectionAbortedError", "ConnectionAbortedError: connection aborted", "error"),
        ("openai.RateLimitError: 429 slow down", "", "RateLimitError: 429 slow down", "error"),
        ("bad route", "500", "500: bad route", "error"),
    ],
)  # fmt: skip
def test_an_error_is_told_by_its_type_and_one_line(error: str, stated: str, text: str, nature: str) -> None:
    what = thrown(error, stated)
    assert (what.text, nature_of(what)) == (text, nature)


class TestWhatExplainSays:
    def test_is_the_cause_that_the_verdict_names(self) -> None:
        team = Recorder(gen_ai)
        lead = team.span("agent", "lead", "Go.", at=(0, 9), **raised("OSError", "disk full"))
        team.span("tool", "save", parent=lead, at=(1, 2), **raised("OSError", "disk full"))
        found = diagnose(team.trace())
        assert (found.outcome, found.causes) == (0.0, causes(team.row()))

    def test_names_a_task_that_was_passed_to_and_fro(self) -> None:
        team = Recorder(gen_ai)
        within = team.span("agent", "manager", at=(0, 20))
        for number in range(8):
            to = ("writer", "manager")[number % 2]
            within = team.span(
                "agent", to, "write the note", parent=within, at=(0.1 * (number + 1), 20 - 0.1 * (number + 1))
            )
        [found] = diagnose(team.trace()).observations
        assert (found.kind, found.agents, found.count) == ("to_and_fro", ["manager", "writer"], 8)

    def test_names_the_same_call_again_and_the_limit_of_turns_that_it_ran_into(self) -> None:
        team = Recorder(gen_ai)
        lead = team.span("agent", "solver", "Go.", at=(0, 20), **raised("MaxTurnsExceeded", "Max turns (10) exceeded"))
        for number in range(10):
            team.span("tool", "search", '{"q": "same"}', "no results", parent=lead, at=(number, number + 0.5))
        kinds = {each.kind: each.count for each in diagnose(team.trace()).observations}
        assert kinds == {"turn_limit": 1, "same_call": 10}

    @pytest.mark.parametrize(("task", "brought", "expected"), [
        ("How much?", "", ["412.90"]),
        ("How much is 412.90?", "", []),
        ("How much?", "412.90", []),
    ])  # fmt: skip
    def test_names_a_value_that_nobody_brought_after_an_empty_answer(
        self, task: str, brought: str, expected: list[str]
    ) -> None:
        team = Recorder(gen_ai)
        host = team.span("agent", "host", task, "They total 412.90.", at=(0, 9))
        orders = team.span("agent", "orders", parent=host, at=(1, 5))
        team.span("tool", "search", '{"customer": "?"}', brought, parent=orders, at=(2, 3))
        assert [each.about for each in diagnose(team.trace()).observations] == expected

    def test_puts_the_step_that_failed_before_all_others(self) -> None:
        team = Recorder(gen_ai)
        host = team.span("agent", "host", "Weather?", "It is 24 degrees.", at=(0, 9))
        failed = team.span(
            "agent", "weather", parent=host, at=(1, 5), error="Request timed out", error__type="httpx.ReadTimeout"
        )
        team.span("model", "m", "?", "24 degrees, it is warm and sunny today.", parent=host, at=(6, 8))
        assert diagnose(team.trace()).reading[0].step_id == failed

    def test_puts_the_first_to_say_a_value_before_those_with_many_new_words(self) -> None:
        team = Recorder(gen_ai)
        root = team.span("agent", "lead", "When?", "It arrives at 16:20.", at=(0, 9))
        team.span("agent", "talker", "Talk.", "Many other words that nobody wrote before.", parent=root, at=(1, 2))
        first = team.span("agent", "calculator", "When?", "Arrival is 16:20.", parent=root, at=(3, 4))
        [read, *_] = diagnose(team.trace()).reading
        assert (read.step_id, read.reason) == (first, "is the first to say 16:20")


def looks_below(monkeypatch: pytest.MonkeyPatch, n: int) -> int:
    """How many steps are looked at below others, where `n` tools fail under an agent that answers at its end."""
    below, seen = failures._Run._below, list[Step]()

    def counted(run: Any, step: Step) -> Iterator[Step]:  # noqa: ANN401 - private
        for each in below(run, step):
            seen.append(each)
            yield each

    began = datetime(2026, 1, 1, tzinfo=UTC)
    said = {"call_type": "HOST", RESPONSE_TEXT: "the report"}
    end = began + timedelta(hours=9)
    steps = [Step("root", "t", CallType.TOOL, additional_attributes=said, start_time=began, end_time=end)]
    for number in range(n):
        at = began + timedelta(seconds=number)
        told = {"error": "no answer"}
        steps.append(
            Step(f"{number}", "t", CallType.TOOL, "root", additional_attributes=told, start_time=at, end_time=at)
        )
    with monkeypatch.context() as patched:
        patched.setattr(failures._Run, "_below", counted)
        assert len(failures_in(steps).by_step) == n
    return len(seen)


def test_what_is_looked_at_grows_as_the_trace_does(monkeypatch: pytest.MonkeyPatch) -> None:
    assert 0 < looks_below(monkeypatch, 400) <= 3 * looks_below(monkeypatch, 200)
