"""The plan of an assessment: contact with every participant, the roster of their agents, and the trials."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import product
from typing import Final

from tenacity import AsyncRetrying, retry_if_exception, stop_after_delay, wait_exponential

from concord.a2a import AgentTimeoutError, AgentUnreachableError, CardSummary, RemoteError, fetch_card
from concord.a2a.client import NO_CREDENTIALS
from concord.assessment import AssessmentPlan, AssessmentRequest, Mode, TaskSpec
from concord.assessment.faults import unsuitable
from concord.assessment.result_row import InfrastructureFailure
from concord.assessment.task_spec import Exchange
from concord.files import did_you_mean
from concord.storage import ClosedTrace, TraceStore
from concord.trust.credentials import Credentials
from concord.trust.proxy_urls import observed_peers, proxy_url
from concord.trust.tokens import ClosedTrials
from concord.trust.urls import PeerUrls, UrlRefusedError, check_form, lies_under
from concord.wire.assignment import ASSIGNMENT_URI, CALLS_URI, TRACEABILITY_URI
from concord.wire.roster import RosterEntry, new_trace_id, normalise_url
from concord_gateway.assignments import Assignments, OpenCalls
from concord_gateway.intake import NotAnAssessmentError, Work
from concord_gateway.progress import Progress
from concord_gateway.proxy import Carrier

# The participants: how a run reaches and observes them, and how it closes a trial to them.


@dataclass(frozen=True, slots=True)
class Participants:
    """`proxy_base` is the proxy's URL for participants, None if they reach each other directly and unobserved.

    `peer_urls` says which addresses their cards may name besides the declared ones.
    """

    assignments: Assignments
    open_calls: OpenCalls
    carrier: Carrier
    proxy_base: str | None
    peer_urls: PeerUrls
    traces: TraceStore
    closed: ClosedTrials
    credentials: Credentials = NO_CREDENTIALS
    """What they are shown, by origin."""

    def peers(self, roster: list[RosterEntry]) -> list[RosterEntry]:
        """The roster as the registry gives it to participants."""
        return roster if self.proxy_base is None else observed_peers(roster, self.proxy_base)

    async def close(self, trace_id: str) -> ClosedTrace:
        """Closes a trial: revokes its tokens, and records and cancels the calls that have not ended.

        Raises StorageUnavailableError.
        """
        self.closed.add(trace_id)
        await self.carrier.calls.settle(trace_id)  # first, so that the closed trace holds all that was observed
        closed = await self.traces.close(trace_id)
        self.closed.notify(trace_id)
        return closed


# Contact: reaches every participant before the first trial, and reads its agent card.

logger = logging.getLogger(__name__)

RETRY_S: Final = 10.0
"""How long the gateway retries a participant that refuses connections: it may be starting up."""

_ONE_TRY_S: Final = 5.0
_TELL_S: Final = 2.0


@dataclass(slots=True)
class Contacts:
    """`cards` holds the card of each participant that was reached, None if unreadable; `missing` the reason for each
    other."""

    cards: dict[str, CardSummary | None] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)


async def contact(
    participants: Mapping[str, str],
    progress: Progress,
    peer_urls: PeerUrls | None = None,
    credentials: Credentials = NO_CREDENTIALS,
) -> Contacts:
    """Contacts all participants (id: URL) concurrently, with retries for `RETRY_S`.

    A participant that accepts a connection counts as reached, whatever it answers. A proxy's 502 to 504 counts as a
    refused connection. `peer_urls` restricts the addresses that may be contacted. `credentials`: what participants are
    shown.
    """
    found = Contacts()
    pending = {
        asyncio.create_task(_reach(name, url, found, peer_urls, credentials)): name
        for name, url in participants.items()
    }
    try:
        while pending:
            done, _ = await asyncio.wait(pending, timeout=_TELL_S, return_when=asyncio.ALL_COMPLETED)
            for task in done:
                task.result()
                del pending[task]
            if pending:
                await progress.tell(f"contacting participants: waiting for {', '.join(sorted(pending.values()))}")
    finally:
        for task in pending:
            task.cancel()
        await asyncio.gather(*pending, return_exceptions=True)
    return found


async def _reach(name: str, url: str, found: Contacts, peer_urls: PeerUrls | None, credentials: Credentials) -> None:
    card: CardSummary | None = None
    try:
        async for attempt in AsyncRetrying(
            retry=retry_if_exception(_accepted_no_connection),
            stop=stop_after_delay(RETRY_S),
            wait=wait_exponential(multiplier=0.1, max=2),
            reraise=True,
        ):
            with attempt:
                card = await fetch_card(url, timeout_s=_ONE_TRY_S, peer_urls=peer_urls, credentials=credentials)
    except (AgentUnreachableError, RemoteError) as error:
        if _accepted_no_connection(error):
            found.missing[name] = _reason(error)
            return
        logger.warning("participant %s: its card cannot be fetched: %s", name, error)
    found.cards[name] = card


def _accepted_no_connection(error: BaseException) -> bool:
    return isinstance(error, AgentUnreachableError) and not isinstance(error, AgentTimeoutError)


def _reason(error: BaseException) -> str:
    """The root cause of a failure: the exceptions above it only repeat which participant it was."""
    while error.__cause__ is not None:
        error = error.__cause__
    return str(error) or type(error).__name__


# The roster, and the trials.


class NoParticipantError(Exception):
    """Required participants cannot be reached; the text names each with its address and the reason."""


async def make_plan(
    work: Work, participants: Participants, progress: Progress, task_secret: bytes
) -> tuple[AssessmentPlan, list[InfrastructureFailure], dict[str, CardSummary]]:
    """Makes the plan of an assessment, lists as failures the participants that are missing from it, and returns the
    cards of the others by URL.

    Raises NoParticipantError if participants cannot be reached, unless `allow_missing` is set and the participants that
    receive the tasks and give the answers can be reached. Raises NotAnAssessmentError for calls that the gateway cannot
    observe, and for faults that no trial would have.
    """
    request, contacts = work.request, Contacts()
    if work.trials and request.mode is Mode.LIVE:
        urls = {name: str(url) for name, url in request.participants.items()}
        contacts = await contact(urls, progress, participants.peer_urls, participants.credentials)
    exchange = decided_exchange(contacts.cards, observed=participants.proxy_base is not None)
    if request.config.faults:
        exchange = Exchange.ROUNDS
    tasks = [with_exchange(task, exchange) for task in work.tasks]
    if participants.proxy_base is None and _by_calls(tasks):
        raise NotAnAssessmentError(
            "`exchange` is calls, which this gateway cannot observe: CONCORD_OBSERVE is off, or participants have no "
            "address of the gateway (--card-url, CONCORD_PROXY_URL)"
        )
    missing = {name: f"{name} ({request.participants[name]}): {why}" for name, why in contacts.missing.items()}
    plan = AssessmentPlan(
        assessment_id=new_trace_id(),
        started_at=datetime.now(UTC).replace(microsecond=0),
        mode=request.mode,
        # The plan holds each task once: every evaluation reads it.
        config=request.config.model_copy(update={"tasks": None, "task": None, "interaction_pattern": None}),
        tasks=tasks,
        roster=await make_roster(request, contacts.cards, participants.peer_urls, participants.proxy_base),
        trials=work.trials,
        missing=sorted(missing),
        task_secret=task_secret.hex() if any(task.is_generated for task in work.tasks) else None,
        planted_faults=len(request.config.faults),
        observed=participants.proxy_base is not None and request.mode is Mode.LIVE,
    )
    _check(plan, missing)
    _check_faults(plan)
    return (
        plan,
        [
            InfrastructureFailure(trial_id=None, stage="contact", message=f"could not be reached: {missing[name]}")
            for name in sorted(missing)
        ],
        {str(request.participants[name]): card for name, card in contacts.cards.items() if card is not None},
    )


def decided_exchange(cards: Mapping[str, CardSummary | None], *, observed: bool) -> Exchange:
    """The exchange of tasks that leave it to the cards: calls, if every participant's card announces them.

    Rounds work with any agent. Calls that the gateway does not carry are not observed, and `observed` is then false.
    """
    announced = [card is not None and CALLS_URI in card.extensions for card in cards.values()]
    return Exchange.CALLS if observed and announced and all(announced) else Exchange.ROUNDS


def with_exchange(task: TaskSpec, decided: Exchange) -> TaskSpec:
    """A task with the decided exchange, if it leaves it open."""
    if task.family is None or task.family.exchange is not Exchange.AUTO:
        return task
    return task.model_copy(update={"family": task.family.model_copy(update={"exchange": decided})})


def exchanges_of(plan: AssessmentPlan) -> str | None:
    """A sentence for the client on how the plan's teams exchange messages; None without such tasks."""
    exchanges = sorted({task.family.exchange.value for task in plan.tasks if task.family is not None})
    return f"the seats of a team exchange messages by: {', '.join(exchanges)}" if exchanges else None


def _by_calls(tasks: Iterable[TaskSpec]) -> bool:
    return any(task.family is not None and task.family.exchange is Exchange.CALLS for task in tasks)


def _check(plan: AssessmentPlan, missing: Mapping[str, str]) -> None:
    asked = [entry.id for entry in plan.recipients]
    needed = {name for task in plan.tasks for name in task.answer_from or plan.config.answer_from or asked}
    if missing and (not plan.config.allow_missing or not asked or needed & missing.keys()):
        raise NoParticipantError("; ".join(missing[name] for name in sorted(missing)))


def _check_faults(plan: AssessmentPlan) -> None:
    """Raises NotAnAssessmentError for faults that no trial of the plan would have."""
    if not plan.config.faults or not plan.trials:
        return
    teams = [task for task in plan.tasks if task.family is not None]
    if not teams:
        raise NotAnAssessmentError("`faults` are planted in team tasks (`suite`), of which there are none")
    exchanges = {task.family.exchange for task in teams if task.family is not None}
    for fault, exchange in product(plan.config.faults, exchanges):
        if (why := unsuitable(fault, by_calls=exchange is Exchange.CALLS)) is not None:
            raise NotAnAssessmentError(f"`faults`: {why}")
    seats = {seat.id for task in teams for seat in plan.agents(task.id)}
    named = {seat for fault in plan.config.faults for seat in fault.seats}
    if strangers := sorted(named - seats):
        meant = ", ".join(f"{name!r}{did_you_mean(name, seats)}" for name in strangers)
        raise NotAnAssessmentError(f"`faults` names no seat: {meant}")


_REPORTING: Final = frozenset({ASSIGNMENT_URI, TRACEABILITY_URI})
_MAX_READ: Final = 64
"""Limit on the URLs and skills read from one card."""


async def make_roster(
    request: AssessmentRequest,
    cards: Mapping[str, CardSummary | None],
    peer_urls: PeerUrls,
    proxy_base: str | None = None,
) -> list[RosterEntry]:
    """Builds the roster: ids and URLs as declared, aliases and functions from the configuration and the cards (by id).

    With `proxy_base`, an agent's address behind the proxy, without a token, is one of its aliases. An unreadable card
    costs its agent only the aliases and functions that the card would have added. A URL in a card counts if it lies
    under the declared URL or `peer_urls` allows it, and no other agent has or claims it.
    """
    declared = [_declared(name, str(url), request, proxy_base) for name, url in request.participants.items()]
    read = [cards.get(entry.id) for entry in declared]
    claims = await asyncio.gather(*map(_allowed, declared, read, [peer_urls] * len(declared)))
    holders: defaultdict[str, set[str]] = defaultdict(set)
    for entry, urls in zip(declared, claims, strict=True):
        for name in (entry.id, entry.url, *entry.aliases, *urls):
            holders[normalise_url(name)].add(entry.id)
    contested = {name for name, ids in holders.items() if len(ids) > 1}
    return [_with_card(*each, contested) for each in zip(declared, read, claims, strict=True)]


def _declared(name: str, url: str, request: AssessmentRequest, proxy_base: str | None) -> RosterEntry:
    told = next((entry for entry in request.config.roster if entry.id == name), None)
    proxied = () if proxy_base is None else (proxy_url(proxy_base, name),)
    return RosterEntry(
        id=name,
        url=url,
        aliases=(*(told.aliases if told is not None else ()), *proxied),
        agentbeats_id=request.config.agentbeats_ids.get(name) or (told.agentbeats_id if told is not None else None),
        functions=told.functions if told is not None else (),
    )


async def _allowed(entry: RosterEntry, card: CardSummary | None, peer_urls: PeerUrls) -> list[str]:
    """The URLs in an agent's card that may become its aliases."""
    allowed = []
    for url in card.urls[:_MAX_READ] if card is not None else ():
        try:
            check_form(url)
            if not lies_under(url, entry.url):
                await peer_urls.pin(url)
        except UrlRefusedError as error:
            logger.warning("participant %s: ignoring a URL in its card: %s", entry.id, error)
        else:
            allowed.append(url)
    return allowed


def _with_card(
    entry: RosterEntry, card: CardSummary | None, urls: list[str], contested: Collection[str]
) -> RosterEntry:
    if card is None:
        return entry
    own = [url for url in urls if url != entry.url and normalise_url(url) not in contested]
    if len(own) < len([url for url in urls if url != entry.url]):
        logger.warning("participant %s: its card claims the address of another participant", entry.id)
    return entry.model_copy(
        update={
            "aliases": tuple(dict.fromkeys((*entry.aliases, *own))),
            "functions": entry.functions or card.skill_ids[:_MAX_READ],
            "reports": not _REPORTING.isdisjoint(card.extensions),
        }
    )
