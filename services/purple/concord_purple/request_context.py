"""The context in which an agent serves one request: its own work, and the requests that it sends to its peers."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from operator import or_

from concord.a2a import AgentUnreachableError, RemoteError
from concord.agent.messenger import Messenger
from concord.wire.assignment import Assignment
from concord.wire.roster import RosterEntry, normalise_url
from concord_purple.requests import BadRequestError, Kind, Request, reply_in, to_data
from concord_purple.step_recorder import StepRecorder
from concord_purple.teams import Consultation, Member, Team, choose_members, kinds_asked, member_of, rules_for
from concord_purple.text_review.findings import Aspect, Findings
from concord_purple.wording import request_line

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RequestContext:
    """A request, the member that serves it, and the member's resources."""

    request: Request
    member: Member
    team: Team
    assignment: Assignment | None
    steps: StepRecorder
    messenger: Messenger
    peers: Callable[[], Awaitable[list[RosterEntry]]]
    progress: Callable[[str], Awaitable[None]]

    def work(self, name: str, do: Callable[[], Findings]) -> Findings:
        """Does a piece of the agent's own work and records a TOOL step, which corroborates the incoming call."""
        with self.steps.tool(name):
            return do()

    @property
    def kinds_to_ask(self) -> list[Kind]:
        """The kinds of requests that the wiring has the agent send, in order."""
        return kinds_asked(self.team.wiring, self.member.function, self.request.kind)

    async def ask(self, kind: Kind, findings: Findings) -> Findings:
        """Sends requests of this kind to all peers that the wiring names, concurrently, and joins their findings.

        A peer's failure becomes a note among the findings. Without a peer to ask, the findings are empty.
        """
        rules = rules_for(self.team.wiring, self.member.function, self.request.kind, kind)
        aspects = self._aspects(rules)
        if not aspects:
            return Findings()
        own_url = normalise_url(self.member.url)
        others = [entry for entry in await self.peers() if normalise_url(entry.url) != own_url]
        asked = choose_members(rules, self.member, [member for member in map(member_of, others) if member is not None])
        if not asked:
            return Findings()
        await self.progress(f"asking {', '.join(member.agent_id for member in asked)} to {kind.verb}")
        answers = (
            self._ask_one(member, Request(kind, self.request.text, share, findings, self.request.instruction))
            for member, share in zip(asked, _shares(kind, aspects, len(asked)), strict=True)
        )
        return reduce(or_, await asyncio.gather(*answers))

    def _aspects(self, rules: Iterable[Consultation]) -> tuple[Aspect, ...]:
        """The request's aspects that these rules cover, in the request's order."""
        named = {aspect for rule in rules for aspect in rule.aspects}
        return tuple(aspect for aspect in self.request.aspects if aspect in named)

    async def _ask_one(self, member: Member, request: Request) -> Findings:
        try:
            answer = await self.messenger.send(
                member.url,
                text=request_line(request),
                data=to_data(request),
                assignment=self.assignment,
                callee_id=member.agent_id,
            )
            if answer.succeeded:
                return reply_in(request.kind, answer.data_parts).findings
            reason = f"ended with {answer.state}"
        except (AgentUnreachableError, RemoteError, BadRequestError) as error:
            # The error's text may hold a proxy URL, which contains a token.
            reason = f"gave no usable answer ({type(error).__name__})"
        logger.warning("%s, asked to %s, %s", member.agent_id, request.kind.verb, reason)
        return Findings(notes=(f"{member.agent_id}, asked to {request.kind.verb}, {reason}.",))


def _shares(kind: Kind, aspects: tuple[Aspect, ...], n: int) -> list[tuple[Aspect, ...]]:
    """The aspects for each of `n` agents: researchers divide them, all others get all of them."""
    if kind is not Kind.RESEARCH:
        return [aspects] * n
    return [aspects[place::n] or aspects[place % len(aspects) :][:1] for place in range(n)]
