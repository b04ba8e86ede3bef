"""One request being served: what was asked, whom the wiring lets one ask in turn, and the work done oneself."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from operator import or_

from concord.a2a import AgentUnreachableError, RemoteError
from concord.agent.assignment import Assignment
from concord.agent.messenger import Messenger
from concord.assessment.roster import RosterEntry, normalise_url
from concord_purple.journal import Journal
from concord_purple.requests import BadRequestError, Kind, Request, reply_in, to_data
from concord_purple.teams import Consultation, Seat, Team, chosen, kinds_asked, rules_for, seat_of
from concord_purple.wording import request_line
from concord_purple.work import Aspect, Findings

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Job:
    """A request, who serves it, and the means to do so."""

    request: Request
    seat: Seat
    team: Team
    assignment: Assignment | None
    journal: Journal
    messenger: Messenger
    peers: Callable[[], Awaitable[list[RosterEntry]]]
    progress: Callable[[str], Awaitable[None]]

    def work(self, name: str, do: Callable[[], Findings]) -> Findings:
        """Does a piece of work oneself and leaves a TOOL step for it: the other end's word that the call took place."""
        with self.journal.tool(name):
            return do()

    @property
    def asks_for(self) -> list[Kind]:
        """What the wiring has the agent ask for, in order."""
        return kinds_asked(self.team.wiring, self.seat.function, self.request.kind)

    async def ask(self, kind: Kind, findings: Findings) -> Findings:
        """Asks everyone whom the wiring names, all at once, and joins what they found.

        Nobody's failure is raised: it becomes a note among the findings. Empty where there is nobody to ask.
        """
        rules = rules_for(self.team.wiring, self.seat.function, self.request.kind, kind)
        aspects = self._aspects(rules)
        if not aspects:
            return Findings()
        own_url = normalise_url(self.seat.url)
        others = [entry for entry in await self.peers() if normalise_url(entry.url) != own_url]
        asked = chosen(rules, self.seat, [seat for seat in map(seat_of, others) if seat is not None])
        if not asked:
            return Findings()
        await self.progress(f"asking {', '.join(seat.agent_id for seat in asked)} to {kind.verb}")
        answers = (
            self._ask_one(seat, Request(kind, self.request.text, share, findings, self.request.instruction))
            for seat, share in zip(asked, _shares(kind, aspects, len(asked)), strict=True)
        )
        return reduce(or_, await asyncio.gather(*answers))

    def _aspects(self, rules: Iterable[Consultation]) -> tuple[Aspect, ...]:
        """What these rules ask about."""
        named = {aspect for rule in rules for aspect in rule.aspects}
        return tuple(aspect for aspect in self.request.aspects if aspect in named)

    async def _ask_one(self, seat: Seat, request: Request) -> Findings:
        try:
            answer = await self.messenger.send(
                seat.url,
                text=request_line(request),
                data=to_data(request),
                assignment=self.assignment,
                callee_id=seat.agent_id,
            )
            if answer.succeeded:
                return reply_in(request.kind, answer.data_parts).findings
            reason = f"ended with {answer.state}"
        except (AgentUnreachableError, RemoteError, BadRequestError) as error:
            # Its text may hold the address, and the address of a proxy holds a token.
            reason = f"gave no usable answer ({type(error).__name__})"
        logger.warning("%s, asked to %s, %s", seat.agent_id, request.kind.verb, reason)
        return Findings(notes=(f"{seat.agent_id}, asked to {request.kind.verb}, {reason}.",))


def _shares(kind: Kind, aspects: tuple[Aspect, ...], n: int) -> list[tuple[Aspect, ...]]:
    """What each of `n` agents looks at: researchers share the aspects out, anyone else sees all of them."""
    if kind is not Kind.RESEARCH:
        return [aspects] * n
    return [aspects[place::n] or aspects[place % len(aspects) :][:1] for place in range(n)]
