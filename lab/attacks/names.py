"""Names and texts that could become markup, headers or log lines."""

import json
import re
from typing import Final

import httpx

from concord.a2a import IncomingMessage, TaskHandle
from concord.assessment.result_row import ResultRow
from concord.wire.assignment import Assignment
from concord_cli.report.renderer import render
from concord_cli.row_view.metrics import installed_definitions
from lab.attacks.attack import NotTriedError, expect
from lab.attacks.client import client_of, honest_participant
from lab.attacks.target import Target
from tests.kit.collectors import batch, bearer_of, step
from tests.kit.serving import served_agent

MARK: Final = "pwned"
MARKUP: Final = (
    f"<script>{MARK}()</script>",
    f'"><img src=x onerror={MARK}()>',
    f"</script><svg onload={MARK}()>",
    f"javascript:{MARK}()",
    f"{{{{ {MARK} }}}}",
)
LINES: Final = ("a\r\nset-cookie: x=y", "a\nb", "a\x00b", "a\x1b[31mb", "../../etc/passwd", "a\u202eb")


async def names_of_participants(target: Target) -> str:
    """Names participants and tasks with markup, line breaks, escapes and paths."""
    async with honest_participant(target) as url, client_of(target) as client:
        for name in (*MARKUP, *LINES):
            assessed = await client.assess({name: url})
            expect(assessed.state == "rejected", f"the name {name!r}: {assessed.state}")
            raw = await client.http.post(f"{target.gateway}/", content=json.dumps(name))
            expect("set-cookie" not in raw.headers, "a name became a header")
    return f"{len(MARKUP) + len(LINES)} names, each rejected"


async def report_page(target: Target) -> str:
    """Sends markup in all its answers and reports, and searches the report page for it."""
    markup = " ".join(MARKUP)

    async def answer_with_markup(incoming: IncomingMessage, task: TaskHandle) -> None:
        assignment = Assignment.from_metadata(incoming.metadata)
        if assignment is not None and assignment.token is not None:
            stranger = {"agent_invocation": {"agent_name": markup[:200], "agent_url": "http://192.0.2.1/"}}
            tool = {"tool_invocation": {"tool_name": markup[:200], "parameters": {markup[:200]: markup}}}
            reported = batch(
                step("s1", trace_id=assignment.trace_id, name=markup[:200], step_action=stranger),
                step("s2", trace_id=assignment.trace_id, call_type="TOOL", error={"message": markup}, step_action=tool),
                trace_id=assignment.trace_id,
            )
            headers = bearer_of(assignment.token)
            async with httpx.AsyncClient() as http:
                receipts.append(await http.post(f"{target.collector}/traces", json=reported, headers=headers))
        await task.complete(markup, data={markup: markup}, status=markup, artifact_name=markup)

    receipts: list[httpx.Response] = []
    async with (
        served_agent(answer_with_markup, name=markup, host=target.host) as loud,
        served_agent(answer_with_markup, name=markup, host=target.host) as louder,
        client_of(target) as client,
    ):
        row = (await client.assess({"loud": loud, "louder": louder})).row
    expect({each.status_code for each in receipts} == {202}, f"the reports: {[each.text for each in receipts]}")
    page = render(ResultRow.model_validate(row), None, installed_definitions())
    expect(MARK in page, "none of the texts is on the page")
    tags = re.findall(rf"<[^>]*{MARK}[^>]*>|<script>{MARK}", page)
    expect(not tags, f"on the page as markup: {tags[:1]}")
    return f"on the page {page.count(MARK)} times, never as markup"


async def lines_in_logs(target: Target) -> str:
    """Sends texts in the form of log lines, and checks that none becomes a line of a log."""
    if target.inside is None:
        raise NotTriedError("it takes access to the stack's logs")
    forged = 'x\n{"event": "forged", "level": "critical"}\r\n{"event": "forged"}\n'

    async def fail_with_log_lines(_: IncomingMessage, task: TaskHandle) -> None:
        await task.fail(forged)

    async with served_agent(fail_with_log_lines, name=forged, host=target.host) as url, client_of(target) as client:
        await client.assess({"loud": url})
        await client.assess_with(forged)
        await client.assess({forged: url})
        await client.http.post(f"{target.collector}/traces", content=forged, headers={"x-request-id": "forged"})
    lines = target.inside.logs().splitlines()
    expect("forged" in target.inside.logs(), "the logs do not mention the forged texts at all")
    expect(not any(line.startswith('{"event": "forged') for line in lines), "a forged line is in a log")
    return f"{len(lines)} lines, none of them forged"


async def injected(_: Target) -> str:
    """Asks the judge for points."""
    raise NotTriedError("it takes a language model; `python -m lab.benchmarks defences` has gullible ones")
