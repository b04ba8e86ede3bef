"""The work that a trace from a file tells of, for display: the conversation with folded tools, uses, and failures."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from concord.assessment.recorded_work import RecordedUse, RecordedWork, SaidStep
from concord_cli.display_text import counted, on_one_line, visible
from concord_cli.number_text import duration
from concord_cli.report.calls import CallName
from concord_cli.row_view.recorded import failure_text

LONG: Final = 400
"""A longer text (characters) is folded."""


@dataclass(frozen=True, slots=True)
class TextView:
    """A text of a step; `label`: what it is. Long ones are folded."""

    label: str
    text: str
    folded: bool


@dataclass(frozen=True, slots=True)
class StepView:
    """A call, or the use of a tool or a model. `call`: the row of the call in the table, if it has one."""

    title: str
    facts: str
    texts: list[TextView]
    error: str | None
    call: CallName | None


@dataclass(frozen=True, slots=True)
class TurnView:
    """A call between agents, or what an agent did by itself between two calls: folded, as `summary`."""

    summary: str | None
    failed: bool
    steps: list[StepView]


@dataclass(frozen=True, slots=True)
class WorkView:
    """The work of one trial, safe to display."""

    task: str | None
    failures: list[tuple[str, int]]
    failures_omitted: int
    turns: list[TurnView]
    omitted: int
    shortened: bool
    uses: Sequence[RecordedUse]


def work_view(work: RecordedWork, calls: dict[str, CallName]) -> WorkView:
    """The work for display; `calls`: the listed calls by step id."""
    return WorkView(
        task=visible(work.task).strip() or None,
        failures=[(failure_text(each), each.count) for each in work.failures],
        failures_omitted=work.failures_omitted,
        turns=list(_turns(work.said, calls)),
        omitted=work.said_omitted,
        shortened=work.shortened,
        uses=work.uses,
    )


def _turns(said: Sequence[SaidStep], calls: dict[str, CallName]) -> Iterable[TurnView]:
    """The steps in their order: each call alone, and what one agent did between two calls together."""
    for (kind, _), group in groupby(said, key=lambda step: (step.kind == "call", step.agent)):
        steps = list(group)
        views = [_step(each, calls) for each in steps]
        failed = any(each.error is not None for each in steps)
        if kind:
            yield from (TurnView(None, view.error is not None, [view]) for view in views)
        else:
            yield TurnView(_summary(steps), failed, views)


def _summary(steps: Sequence[SaidStep]) -> str:
    """`searcher: search 5 times, gpt-4o once`."""
    counts = Counter(on_one_line(step.name) for step in steps)
    times = ", ".join(f"{name} {'once' if n == 1 else f'{n} times'}" for name, n in counts.items())
    failed = sum(step.error is not None for step in steps)
    return f"{on_one_line(steps[0].agent)}: {times}" + (f"; {failed} failed" if failed else "")


def _step(step: SaidStep, calls: dict[str, CallName]) -> StepView:
    asked, answered = {
        "call": ("asked", "answered"),
        "tool": ("arguments", "result"),
        "model": ("asked", "answered"),
    }[step.kind]
    arrow = "→" if step.kind == "call" else "used"
    facts = [duration(step.start_ms)] if step.start_ms is not None else []
    if step.duration_ms is not None:
        facts.append(f"for {duration(step.duration_ms)}")
    if step.tokens is not None:
        facts.append(counted(step.tokens, "token"))
    texts = [(asked, step.input), (answered, step.output)]
    return StepView(
        title=f"{on_one_line(step.agent)} {arrow} {on_one_line(step.name)}",
        facts=", ".join(facts),
        texts=[_text(label, text) for label, text in texts if text.strip() and text != step.error],
        error=None if step.error is None else on_one_line(step.error),
        call=calls.get(step.step_id),
    )


def _text(label: str, text: str) -> TextView:
    shown = visible(text).strip()
    return TextView(label, shown, len(shown) > LONG or shown.count("\n") > 8)
