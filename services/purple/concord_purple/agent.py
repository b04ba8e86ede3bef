"""The A2A handler: runs the handler of a request, and answers with the findings and the steps taken for them."""

from datetime import UTC, datetime
from typing import Any

from concord.a2a import IncomingMessage, TaskHandle
from concord.agent.messenger import Messenger
from concord.agent.peers import PeerDiscovery
from concord.agent.reporter import TraceReporter
from concord.llm import LLMSettings
from concord.wire.assignment import Assignment
from concord.wire.extensions import TIMESTAMP_KEY, TIMESTAMP_URI, TRACEABILITY_KEY, TRACEABILITY_URI
from concord.wire.roster import RosterEntry
from concord_purple.forgery import discard_step, forged_calls
from concord_purple.handlers import Handler, handler_for
from concord_purple.request_context import RequestContext
from concord_purple.requests import BadRequestError, Kind, Reply, Request, request_in, to_data
from concord_purple.settings import Mode, PurpleSettings
from concord_purple.step_recorder import StepRecorder
from concord_purple.teams import TEAMS, Member
from concord_purple.text_review.findings import Findings
from concord_purple.text_review.rendering import answer_json
from concord_purple.wording import reply_text, reword_review


class PurpleAgent:
    """Serves messages by the agent's function in its team. It reports steps only for a message with an assignment."""

    def __init__(
        self, settings: PurpleSettings, llm: LLMSettings, discovery: PeerDiscovery, reporter: TraceReporter
    ) -> None:
        self._settings = settings
        self._llm = llm
        self._discovery = discovery
        self._reporter = reporter

    async def __call__(self, message: IncomingMessage, task: TaskHandle, /) -> None:
        """Serves one message and ends its task: completed, or rejected if the agent cannot do what is asked."""
        assignment = Assignment.from_metadata(message.metadata)
        steps = StepRecorder(assignment, self._reporter)
        if self._settings.mode is Mode.ECHO:
            with steps.tool("echo"):
                text = message.text
            await _answer(task, steps, text, None)
            return
        try:
            request = request_in(message.text, message.data_parts)
            handler = handler_for(self._settings.function, request.kind)
        except BadRequestError as error:
            await task.reject(str(error))
            return
        findings = await self._serve(request, handler, assignment, steps, task)
        text = reply_text(request.kind, findings)
        if request.kind is Kind.TASK:
            text = await reword_review(text, request.instruction, self._llm, assignment, steps)
            text = f"{text}\n\n{answer_json(findings)}"
        await _answer(task, steps, text, Reply(request.kind, findings))

    async def _serve(
        self, request: Request, handler: Handler, assignment: Assignment | None, steps: StepRecorder, task: TaskHandle
    ) -> Findings:
        own_id = self._settings.own_id if assignment is None else assignment.agent_id

        async def peers() -> list[RosterEntry]:
            return await self._discovery.peers(assignment)

        team = TEAMS[self._settings.team]
        on_step = discard_step if team.forges else steps.add
        async with Messenger(on_step, timeout_s=self._settings.call_timeout_s) as messenger:
            findings = await handler(
                RequestContext(
                    request=request,
                    member=Member(own_id, self._settings.function, self._settings.own_url),
                    team=team,
                    assignment=assignment,
                    steps=steps,
                    messenger=messenger,
                    peers=peers,
                    progress=task.working,
                )
            )
        if team.forges and assignment is not None:
            for step in forged_calls(assignment, await peers()):
                steps.add(step, assignment)
        return findings


async def _answer(task: TaskHandle, steps: StepRecorder, text: str, reply: Reply | None) -> None:
    metadata: dict[str, Any] = {TIMESTAMP_KEY: datetime.now(UTC).isoformat()} | steps.metadata()
    extensions = (TIMESTAMP_URI, TRACEABILITY_URI) if TRACEABILITY_KEY in metadata else (TIMESTAMP_URI,)
    data = None if reply is None else to_data(reply)
    await task.complete(text, data=data, metadata=metadata, extensions=extensions)
