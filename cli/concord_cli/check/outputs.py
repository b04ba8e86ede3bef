"""The result of a check for the terminal, for test reports (JUnit XML), and for pull requests (Markdown)."""

from collections.abc import Iterator
from html import escape
from io import BytesIO
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as Xml  # nosec B405 - only written

from concord_cli.check.gate import CheckResult
from concord_cli.compare.changes import came_and_went, known_efforts
from concord_cli.display_text import counted, printable
from concord_cli.exits import INCOMPLETE, WORSE
from concord_cli.output_files import output_file, write_text
from concord_evaluator.statistics import fewest_tasks

MAX_TASKS: Final = 10
"""Tasks that terminal and Markdown show, the greatest losses first."""

_STYLES: Final = {"better": "bold green", "not worse": "bold green"}
_MARKS: Final = {"better": "✅", "not worse": "✅"}


def verdict_text(result: CheckResult) -> str:
    """The verdict in a sentence: `Not worse: the new version loses no more than 10 points`."""
    margin = f"{result.margin:g} points"
    too_low = f"{result.score or 0:.1f}, below {result.least_score or 0:g}"
    return {
        "better": "Better: the new version is shown to be better than the old one",
        "not worse": f"Not worse: the new version is shown not to be worse by more than {margin}",
        "worse": "Worse: the new version is shown to be worse than the old one",
        "below the least score": f"Too low: the new version scores {too_low}",
        "no difference shown": f"No difference shown, and no loss of more than {margin} excluded{_needed(result)}",
        "too few tasks": f"Too few tasks: a verdict takes at least {fewest_tasks()}",
        "observability differs": "Observability differs: calls could be seen of one version only",
    }[result.verdict]


def _needed(result: CheckResult) -> str:
    if result.pairs_needed is not None:
        return f": a verdict would take about {result.pairs_needed:,} pairs like these"
    if not result.finished:
        return ": more pairs like these would not tell"
    return (
        f", because {counted(result.unknown, 'trial')} without a score may be worth anything" if result.unknown else ""
    )


def difference_text(result: CheckResult) -> str:
    """By how much, and over which pairs: `-12.0 points (shown: -20 to -4) over 48 pairs of 24 tasks`."""
    mean = "no pair was judged" if result.difference is None else f"{result.difference:+.1f} points"
    unknown = f", of which nobody judged {result.unknown}" if result.unknown and not result.finished else ""
    could = "" if result.detectable is None else f" About {result.detectable:.0f} points would probably be found."
    over = f"over {counted(len(result.pairs), 'pair')} of {counted(len(result.tasks), 'task')}{unknown}."
    if result.finished:
        return f"{mean} (95 %: {result.low:+.1f} to {result.high:+.1f}) {over}{could}"
    return f"{mean} (shown: {result.low:+.1f} to {result.high:+.1f}) {over}{could} The claim covers these tasks."


def lines_of(result: CheckResult) -> Iterator[tuple[str, str]]:
    """The result for the terminal, each line with its style."""
    yield verdict_text(result), _STYLES.get(result.verdict, "bold red" if result.exit_code == WORSE else "bold yellow")
    if result.pairs:
        yield difference_text(result), ""
    for task in result.tasks[:MAX_TASKS]:
        if task.difference:
            yield f"  {task.task}: {task.old:.0f} before, {task.new:.0f} now, {counted(task.pairs, 'pair')}", ""
    for heading, causes in came_and_went(result.causes):
        for cause in causes:
            yield f"  {heading}: {cause.text}", ""
    yield from ((f"  {effort.text}", "") for effort in known_efforts(result.efforts))


def write_junit(path: Path, result: CheckResult) -> None:
    """Writes a JUnit report: a case for the verdict, and one for each task, which tells its scores and never fails.

    Raises AssessmentError.
    """
    suite = Xml.Element("testsuite", name="concord check", tests=str(1 + len(result.tasks)))
    case = Xml.SubElement(suite, "testcase", classname="concord.check", name="the new version is not worse")
    failed, unsure = result.exit_code == WORSE, result.exit_code == INCOMPLETE
    suite.set("failures", str(int(failed)))
    suite.set("errors", str(int(unsure)))
    if failed or unsure:
        told = Xml.SubElement(case, "failure" if failed else "error", message=verdict_text(result), type=result.verdict)
        told.text = "\n".join(printable(line) for line, _ in lines_of(result))
    for task in result.tasks:
        each = Xml.SubElement(suite, "testcase", classname="concord.check.tasks", name=printable(task.task))
        Xml.SubElement(each, "system-out").text = f"{task.old:.1f} before, {task.new:.1f} now, {task.pairs} pairs"
    written = BytesIO()
    Xml.ElementTree(suite).write(written, encoding="utf-8", xml_declaration=True)
    with output_file(path) as file:
        file.write(written.getvalue())


def write_markdown(path: Path, result: CheckResult) -> None:
    """Writes a summary for a pull request. Raises AssessmentError."""
    write_text(path, "\n".join(_markdown(result)) + "\n")


def _markdown(result: CheckResult) -> Iterator[str]:
    yield f"### {_MARKS.get(result.verdict, '❌' if result.exit_code == WORSE else '❔')} {verdict_text(result)}"
    if result.pairs:
        yield f"\n{difference_text(result)}\n"
    changed = [task for task in result.tasks if task.difference][:MAX_TASKS]
    if changed:
        yield "| Task | Before | Now | Difference | Pairs |\n|---|---:|---:|---:|---:|"
        for task in changed:
            yield f"| {_code(task.task)} | {task.old:.0f} | {task.new:.0f} | {task.difference:+.0f} | {task.pairs} |"
        yield ""
    for heading, causes in came_and_went(result.causes):
        yield f"**{heading}:**\n"
        yield from (f"- {_code(cause.text)}" for cause in causes)
        yield ""
    yield from (f"- {effort.text}" for effort in known_efforts(result.efforts))


def _code(text: str) -> str:
    """A text of an agent as code, in which nothing is a link, a mention or the end of a table's cell."""
    return f"<code>{escape(printable(text)).replace('|', '&#124;')}</code>"
