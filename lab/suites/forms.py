"""`python -m lab.suites.forms`: which forms of answers and messages each family reads; fails if one is read wrongly."""

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from rich.console import Console

from concord.suite import Kind
from concord_evaluator.information.recogniser import Recogniser
from concord_suites import FAMILIES
from concord_suites.family import TextFamily
from lab.benchmarks.tables import ResultTable, write_section
from tests.kit.answer_forms import COMMITTING, DENYING, NOTATIONS, Form
from tests.kit.suite_tasks import make, right_answers

DOCUMENT: Final = Path(__file__).parents[2] / "docs/tasks.md"
SEATS: Final = 3
ATTEMPTS: Final = (1, 4)
"""Which tasks of a family: of different topologies and difficulties."""


def main() -> int:
    """Reads the arguments and tries all forms. Returns 1 if a form is read wrongly."""
    parser = argparse.ArgumentParser("lab.suites.forms", description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write the table into {DOCUMENT.name}")
    arguments = parser.parse_args()
    forms = {
        **{f"{name}: `{form('X')}`": (form, True) for name, form in COMMITTING.items()},
        **{f"denied, {name}: `{form('X')}`": (form, False) for name, form in DENYING.items()},
    }
    rows = [_row(name.replace("\n", " "), form, commits=commits) for name, (form, commits) in forms.items()]
    rows += [_notation(name, write) for name, write in NOTATIONS.items()]
    table = ResultTable(
        "Forms by families",
        f"How many of the {len(FAMILIES)} families read a form as it is meant, as an answer and as a message with "
        "a fact that has no anchor. `python -m lab.suites.forms --write` tried the forms.",
        ("form", "answers", "messages"),
        [(name, *(f"{good} of {of}" for good, of in counts)) for name, *counts in rows],
    )
    Console().print(table.rich())
    if arguments.write:
        write_section(DOCUMENT, "forms", [table])
    return int(any(good < of for _, *counts in rows for good, of in counts))


Count = tuple[int, int]
"""How many families read a form as it is meant, and of how many that it was tried on."""


def _row(name: str, form: Form, *, commits: bool) -> tuple[str, Count, Count]:
    answers = [_answer_is_read(family, form) if commits else _answer_is_denied(family, form) for family in FAMILIES]
    told = [list(_tells(family, form)) for family in FAMILIES]
    messages = [all(tells is commits for tells in each) for each in told if each]
    return name, (sum(answers), len(answers)), (sum(messages), len(messages))


def _notation(name: str, write: Callable[[int], str]) -> tuple[str, Count, Count]:
    answers, messages = list[bool](), list[bool]()
    for family in FAMILIES:
        for attempt in ATTEMPTS[:1]:
            task = make(family, SEATS, attempt)
            right = right_answers(family, task)
            if all(isinstance(each, int) and each >= 10_000 for each in right.values()):
                written = {seat: write(each) for seat, each in right.items() if isinstance(each, int)}
                answers.append(family.grade(written, task.key).outcome == 1)
            recogniser = Recogniser(task)
            numbers = [fact for fact in task.facts if fact.anchor is None and fact.value.kind is Kind.NUMBER]
            if numbers:
                texts = {fact.id: write(int(fact.value.text)) for fact in numbers}
                messages.append(all(fact in recogniser.stated(text).facts for fact, text in texts.items()))
    return f"a number in {name}: `{write(48213)}`", (sum(answers), len(answers)), (sum(messages), len(messages))


def _outcomes(family: TextFamily, form: Form) -> Iterator[float]:
    for attempt in ATTEMPTS:
        task = make(family, SEATS, attempt)
        yield family.grade({seat: form(each) for seat, each in right_answers(family, task).items()}, task.key).outcome


def _answer_is_read(family: TextFamily, form: Form) -> bool:
    return all(outcome == 1 for outcome in _outcomes(family, form))


def _answer_is_denied(family: TextFamily, form: Form) -> bool:
    return all(outcome == 0 for outcome in _outcomes(family, form))


def _tells(family: TextFamily, form: Form) -> Iterator[bool]:
    """Whether a message of this form tells a fact, for each fact without an anchor."""
    for attempt in ATTEMPTS:
        task = make(family, SEATS, attempt)
        recogniser = Recogniser(task)
        for fact in task.facts:
            if fact.anchor is None:
                yield fact.id in recogniser.stated(form(fact.value.text)).facts


if __name__ == "__main__":
    sys.exit(main())
