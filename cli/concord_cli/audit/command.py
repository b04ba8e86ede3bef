"""`concord audit`, once its arguments are parsed."""

import json
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import typer

from concord.llm import LLM, LLMClient, LLMSettings
from concord_cli.audit.checklist import ITEMS, answered
from concord_cli.audit.flaws import FLAWS, Flaw, Outcome, Status
from concord_cli.audit.obeying import OBEYING, ObeyingModel
from concord_cli.audit.playing import Audited, audited
from concord_cli.audit.targets import targets_of
from concord_cli.display_text import counted, printable
from concord_cli.errors import AssessmentError

EARNED: Final = "EARNED"


@dataclass(frozen=True, slots=True)
class AuditArguments:
    """The arguments of the command. `scenarios`: the folder of assistants' scenarios that a scenario file names."""

    targets: Sequence[str]
    scenarios: Path
    instances: int
    as_json: bool
    verbose: bool


async def audit(arguments: AuditArguments) -> None:
    """Audits the targets and prints what was found.

    Raises UsageError; AssessmentError if an attack earns points, or a right answer does not.
    """
    targets = [target for named in arguments.targets for target in targets_of(named, arguments.scenarios)]
    found: list[Audited] = []
    async with AsyncExitStack() as stack:
        model, name = await _model(stack)
        async for each in audited(targets, model, name, arguments.instances, _note):
            found.append(each)
            if not arguments.as_json:
                typer.echo("\n".join(map(printable, _lines(each, verbose=arguments.verbose))))
    if arguments.as_json:
        typer.echo(json.dumps([_document(each) for each in found], ensure_ascii=False, indent=1))
    failed = [each.name for each in found if not each.passes]
    if failed:
        raise AssessmentError(f"{counted(len(failed), 'target')} of {len(found)} failed: {', '.join(failed)}")


async def _model(stack: AsyncExitStack) -> tuple[LLM, str]:
    """The model to which injections are sent: the configured one, else one that obeys."""
    settings = LLMSettings()
    if not settings.available:
        return ObeyingModel(), OBEYING
    return await stack.enter_async_context(LLMClient(settings, lambda *_: None)), settings.model


def _note(text: str) -> None:
    typer.echo(printable(text), err=True)


def _lines(found: Audited, *, verbose: bool) -> Iterator[str]:
    """What a terminal shows of a target."""
    verdict = "passed" if found.passes else "FAILED"
    yield f"{found.name}: {verdict}"
    for flaw, words in FLAWS.items():
        yield f"  {flaw.value}  {_summary(found, flaw):<38}{words}"
        shown = [each for each in found.tried if each.attack.flaw is flaw]
        for each in shown if verbose else [each for each in shown if each.outcome is Outcome.EARNED]:
            points = "" if each.points is None else f" {each.points:.0f} points"
            outcome = EARNED if each.outcome is Outcome.EARNED else each.outcome.value
            yield f"      {outcome}{points}: {each.attack.name}, {each.subject}: {each.shown}"
    items = list(answered(found.tried, found.shown))
    for status in (*Status, Outcome.NOT_APPLICABLE):
        of_status = [each for each in items if each.status is status]
        if of_status:
            yield f"  {status.value}: {', '.join(each.id for each in of_status)}"
        if verbose or status is Status.NOT_MET:
            yield from (f"      {each.id} {ITEMS[each.id]}: {each.by}" for each in of_status)


def _summary(found: Audited, flaw: Flaw) -> str:
    outcomes = [each.outcome for each in found.tried if each.attack.flaw is flaw]
    counts = {outcome: outcomes.count(outcome) for outcome in Outcome}
    return ", ".join(f"{count} {outcome.value}" for outcome, count in counts.items() if count) or "nothing to try"


def _document(found: Audited) -> dict[str, Any]:
    """What is found of a target, as JSON."""
    return {
        "target": found.name,
        "passed": found.passes,
        "attacks": [
            {
                "attack": each.attack.name,
                "class": each.attack.flaw.value,
                "items": list(each.attack.items),
                "subject": each.subject,
                "outcome": each.outcome.value,
                "points": each.points,
                "shown_by": each.shown,
            }
            for each in found.tried
        ],
        "checklist": [
            {"item": each.id, "asks": ITEMS[each.id], "status": each.status.value, "shown_by": each.by}
            for each in answered(found.tried, found.shown)
        ],
    }
