"""The agent as A2A sees it: takes a message, has its duty done, answers with findings and the steps they took."""

from datetime import UTC, datetime
from typing import Any

from concord.a2a import IncomingMessage, TaskHandle
from concord.agent.assignment import Assignment
from concord.agent.extensions import TIMESTAMP_KEY, TIMESTAMP_URI, TRACEABILITY_KEY, TRACEABILITY_URI
from concord.agent.messenger import Messenger
from concord.agent.peers import PeerDiscovery
from concord.agent.reporter import TraceReporter
from concord.assessment.roster import RosterEntry
from concord.llm import LLMSettings
from concord_purple.duties import Duty, duty_of
from concord_purple.forgery import denied, forged_calls
from concord_purple.job import Job
from concord_purple.journal import Journal
from concord_purple.phrasing import phrased
from concord_purple.requests import BadRequestError, Kind, Reply, Request, request_in, to_data
from concord_purple.settings import Mode, PurpleSettings
from concord_purple.teams import TEAMS, Seat
from concord_purple.wording import reply_text
from concord_purple.work import Findings, answer_json


class PurpleAgent:
    """Serves messages by its function in its team. Anybody may ask; only an assignment makes it report."""

    def __init__(
        self, settings: PurpleSettings, llm: LLMSettings, discovery: PeerDiscovery, reporter: TraceReporter
    ) -> None:
        self._settings = settings
        self._llm = llm
        self._discovery = discovery
        self._reporter = reporter

    async def __call__(self, message: IncomingMessage, task: TaskHandle, /) -> None:
        """Works on one message and ends its task: completed, or rejected where it asks for nothing that can be done."""
        assignment = Assignment.from_metadata(message.metadata)
        journal = Journal(assignment, self._reporter)
        if self._settings.mode is Mode.ECHO:
            with journal.tool("echo"):
                said = message.text
            await _answer(task, journal, said, None)
            return
        try:
            request = request_in(message.text, message.data_parts)
            duty = duty_of(self._settings.function, request.kind)
        except BadRequestError as error:
            await task.reject(str(error))
            return
        findings = await self._serve(request, duty, assignment, journal, task)
        text = reply_text(request.kind, findings)
        if request.kind is Kind.TASK:
            text = await phrased(text, request.instruction, self._llm, assignment, journal)
            text = f"{text}\n\n{answer_json(findings)}"
        await _answer(task, journal, text, Reply(request.kind, findings))

    async def _serve(
        self, request: Request, duty: Duty, assignment: Assignment | None, journal: Journal, task: TaskHandle
    ) -> Findings:
        own_id = self._settings.own_id if assignment is None else assignment.agent_id

        async def peers() -> list[RosterEntry]:
            return await self._discovery.peers(assignment)

        team = TEAMS[self._settings.team]
        on_step = denied if team.forges else journal.add
        async with Messenger(on_step, timeout_s=self._settings.call_timeout_s) as messenger:
            findings = await duty(
                Job(
                    request=request,
                    seat=Seat(own_id, self._settings.function, self._settings.own_url),
                    team=team,
                    assignment=assignment,
                    journal=journal,
                    messenger=messenger,
                    peers=peers,
                    progress=task.working,
                )
            )
        if team.forges and assignment is not None:
            for step in forged_calls(assignment, await peers()):
                journal.add(step, assignment)
        return findings


async def _answer(task: TaskHandle, journal: Journal, text: str, reply: Reply | None) -> None:
    metadata: dict[str, Any] = {TIMESTAMP_KEY: datetime.now(UTC).isoformat()} | journal.metadata()
    extensions = (TIMESTAMP_URI, TRACEABILITY_URI) if TRACEABILITY_KEY in metadata else (TIMESTAMP_URI,)
    data = None if reply is None else to_data(reply)
    await task.complete(text, data=data, metadata=metadata, extensions=extensions)
