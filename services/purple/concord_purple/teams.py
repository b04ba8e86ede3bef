"""The teams as data, and the requests that their agents send each other, with the texts that go with them."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import groupby
from typing import Annotated, Any, Final

from pydantic import Field, JsonValue, TypeAdapter, ValidationError

from concord.files import first_fault
from concord.wire.roster import RosterEntry
from concord_purple.text_review.measure import Aspect, Findings
from concord_purple.text_review.review import review_text

# The requests that agents of a team send each other: a data part with a `kind`, and a line for people to read.
#
# A ping is the line alone.

MAX_TEXT: Final = 100_000
"""Limit of a text (characters), the same as for a task's text."""

PING: Final = "Are you there?"
"""A ping: plain text, which any agent can answer."""

_TEXT_FOLLOWS: Final = re.compile(r"^Text:\s*$", re.MULTILINE)


class RequestKind(StrEnum):
    """The kinds of requests. Plain text is a `ping` or a `task`; the other kinds come in data parts."""

    TASK = "task"
    RESEARCH = "research"
    SYNTHESIZE = "synthesize"
    REVIEW = "review"
    RELAY = "relay"
    CROSS_CHECK = "cross_check"
    CLARIFY = "clarify"
    EVIDENCE = "evidence"
    PING = "ping"

    @property
    def verb(self) -> str:
        """The kind as a verb phrase, for people."""
        return _VERBS[self]


_VERBS: Final = {
    RequestKind.TASK: "work on a task",
    RequestKind.RESEARCH: "research",
    RequestKind.SYNTHESIZE: "write the draft",
    RequestKind.REVIEW: "review the draft",
    RequestKind.RELAY: "do its part and pass it on",
    RequestKind.CROSS_CHECK: "cross-check the facts",
    RequestKind.CLARIFY: "clarify the facts",
    RequestKind.EVIDENCE: "give evidence",
    RequestKind.PING: "say that it is there",
}


@dataclass(frozen=True, slots=True)
class TeamRequest:
    """A request with everything that its answer needs, so that agents keep no state between messages."""

    kind: RequestKind
    text: Annotated[str, Field(min_length=1, max_length=MAX_TEXT)]
    aspects: Annotated[tuple[Aspect, ...], Field(min_length=1, max_length=len(Aspect))] = tuple(Aspect)
    findings: Findings = field(default_factory=Findings)
    instruction: Annotated[str, Field(max_length=MAX_TEXT)] = ""


@dataclass(frozen=True, slots=True)
class TeamReply:
    """The answer to a request: the findings that the agent added."""

    kind: RequestKind
    findings: Findings


class BadRequestError(ValueError):
    """A message that the agent cannot serve; the text says why."""


_REQUEST: Final = TypeAdapter(TeamRequest)
_REPLY: Final = TypeAdapter(TeamReply)


def request_in(text: str, data_parts: tuple[JsonValue, ...]) -> TeamRequest:
    """The request in a message: the data part with a `kind`, else the text as a ping or a task.

    Raises BadRequestError.
    """
    asked = [data for data in data_parts if isinstance(data, dict) and "kind" in data]
    try:
        request = _REQUEST.validate_python(asked[0]) if asked else _from_text(text)
    except ValidationError as error:
        raise BadRequestError(f"the request cannot be read: {first_fault(error)}") from error
    if not any(character.isalnum() for character in request.text):
        raise BadRequestError("the request contains no text to review")
    return request


def to_data(message: TeamRequest | TeamReply) -> JsonValue:
    """The data part of a request or a reply; None for a ping and its reply, which are text alone."""
    if message.kind is RequestKind.PING:
        return None
    adapter: TypeAdapter[Any] = _REQUEST if isinstance(message, TeamRequest) else _REPLY
    data: JsonValue = adapter.dump_python(message, mode="json")
    return data


def reply_in(kind: RequestKind, data_parts: tuple[JsonValue, ...]) -> TeamReply:
    """The reply to a request of this kind in an answer's data parts. Raises BadRequestError if there is none.

    Any answer is a reply to a ping.
    """
    if kind is RequestKind.PING:
        return TeamReply(kind, Findings())
    try:
        return _REPLY.validate_python(data_parts[0] if data_parts else None)
    except ValidationError as error:
        raise BadRequestError(f"the reply cannot be read: {first_fault(error)}") from error


def _from_text(text: str) -> TeamRequest:
    text = text.strip()
    if text == PING:
        return TeamRequest(RequestKind.PING, text)
    instruction, text = _split_instruction(text)
    return _REQUEST.validate_python({"kind": RequestKind.TASK, "text": text, "instruction": instruction})


def _split_instruction(text: str) -> tuple[str, str]:
    """Splits a task's text into the instruction and the text to work on.

    The first line that consists of `Text:` separates them. Without such a line, a first paragraph that ends with a
    colon is the instruction. If either side is empty, there is no instruction.
    """
    if (line := _TEXT_FOLLOWS.search(text)) is not None:
        before, after = text[: line.start()].strip(), text[line.end() :].strip()
        if before and after:
            return before, after
    first, _, rest = (part.strip() for part in text.partition("\n\n"))
    return (first, rest) if first.endswith(":") and rest else ("", text)


# The texts that go with the data of requests and replies.


_REQUESTS: Final = {
    RequestKind.RESEARCH: "Please measure {aspects} in the attached text of {characters} characters.",
    RequestKind.SYNTHESIZE: "Please draft a review of the attached text from these {facts} facts.",
    RequestKind.REVIEW: "Please check the {statements} statements of this draft against the text and the facts, and "
    "say which do not stand.",
    RequestKind.RELAY: "Please add your part to this review, which has {facts} facts and {statements} statements so "
    "far, and pass it on.",
    RequestKind.CROSS_CHECK: "Please measure these {facts} facts anew and say which do not hold.",
    RequestKind.CLARIFY: "Please say, for the weak spots that you found, how the writer could mend each.",
    RequestKind.EVIDENCE: "Please say which of these {statements} statements you can vouch for.",
    RequestKind.PING: PING,
}

_FOUND: Final = "Found {facts} facts, {weak} of them weak spots."
_DRAFTED: Final = "Drafted {statements} statements on {unrefuted} facts."
_CHECKED: Final = "{checks} checks, {objections} objections.{reasons}"
_REPLIES: Final = {
    RequestKind.RESEARCH: _FOUND,
    RequestKind.SYNTHESIZE: _DRAFTED,
    RequestKind.REVIEW: _CHECKED,
    RequestKind.RELAY: f"{_FOUND} {_DRAFTED} {_CHECKED}",
    RequestKind.CROSS_CHECK: _CHECKED,
    RequestKind.CLARIFY: "Advice on {advice} weak spots.",
    RequestKind.EVIDENCE: _CHECKED,
    RequestKind.PING: "Yes.",
}


def request_line(request: TeamRequest) -> str:
    """A request in one sentence."""
    if request.kind is RequestKind.TASK:
        return request.instruction or "Please review this text."
    aspects, characters = " and ".join(request.aspects), len(request.text)
    return _REQUESTS[request.kind].format(aspects=aspects, characters=characters, **_counts(request.findings))


def reply_text(kind: RequestKind, findings: Findings) -> str:
    """A reply in prose: the review for a task, a summary for a peer's request, a yes for a ping."""
    if kind is RequestKind.TASK and findings.statements:
        return review_text(findings)
    if kind is RequestKind.TASK:
        lines = (*(fact.claim for fact in findings.facts), *findings.notes)
        return "\n".join(("What can be measured", *(f"- {line}" for line in lines)))
    reasons = "".join(f" {subject}: {reason}." for subject, reason in findings.refuted.items())
    return " ".join((_REPLIES[kind].format(reasons=reasons, **_counts(findings)), *findings.notes))


def _counts(findings: Findings) -> dict[str, int]:
    counted = {name: len(getattr(findings, name)) for name in ("facts", "advice", "statements", "checks")}
    weak = sum(fact.flaw is not None for fact in findings.facts)
    return counted | {"weak": weak, "unrefuted": len(findings.unrefuted_facts), "objections": len(findings.refuted)}


# The teams as data: the calls of each member, the team that fills gaps, and the team that forges its reports.


class Function(StrEnum):
    """An agent's function in its team; the order is that of a chain."""

    COORDINATOR = "coordinator"
    RESEARCHER = "researcher"
    SYNTHESIZER = "synthesizer"
    REVIEWER = "reviewer"


class TeamName(StrEnum):
    """The teams that Concord ships."""

    MESH = "mesh"
    HUB_SPOKE = "hub_spoke"
    CHAIN = "chain"
    BAD = "bad"
    FORGING = "forging"


class Choice(StrEnum):
    """Which of the candidates a rule selects: all, the first by id, those after the asker, or the next one only."""

    ALL = "all"
    FIRST = "first"
    LATER = "later"
    NEXT = "next"


@dataclass(frozen=True, slots=True)
class TeamMember:
    """An agent of a team: its id, its function, and its URL."""

    agent_id: str
    function: Function
    url: str = ""

    @property
    def rank(self) -> tuple[int, str]:
        """The sort key of a team's members: function, then id."""
        return list(Function).index(self.function), self.agent_id


@dataclass(frozen=True, slots=True)
class Consultation:
    """While an `asker` serves a request of kind `serving`, it sends requests of kind `kind` to agents of `asked`.

    The requests cover those aspects of its own request that are among `aspects`.
    """

    asker: Function
    serving: RequestKind
    kind: RequestKind
    asked: tuple[Function, ...]
    choice: Choice = Choice.ALL
    aspects: tuple[Aspect, ...] = tuple(Aspect)


Wiring = tuple[Consultation, ...]
"""A team's consultations. The coordinator carries its own out in this order."""


@dataclass(frozen=True, slots=True)
class Team:
    """How a team works together.

    `fills_gaps`: each agent first does the work that others should have done before its own part, and did not.
    `forges`: the agents do not report their real calls, and report calls that never took place.
    """

    wiring: Wiring
    fills_gaps: bool = True
    forges: bool = False


_RESEARCH: Final = Consultation(Function.COORDINATOR, RequestKind.TASK, RequestKind.RESEARCH, (Function.RESEARCHER,))
_SYNTHESIZE: Final = Consultation(
    Function.COORDINATOR, RequestKind.TASK, RequestKind.SYNTHESIZE, (Function.SYNTHESIZER,), Choice.FIRST
)
_REVIEW: Final = Consultation(
    Function.COORDINATOR, RequestKind.TASK, RequestKind.REVIEW, (Function.REVIEWER,), Choice.FIRST
)
_COORDINATION: Final[Wiring] = (_RESEARCH, _SYNTHESIZE, _REVIEW)

_MESH: Final[Wiring] = (
    *_COORDINATION,
    Consultation(
        Function.RESEARCHER, RequestKind.RESEARCH, RequestKind.CROSS_CHECK, (Function.RESEARCHER,), Choice.LATER
    ),
    Consultation(Function.SYNTHESIZER, RequestKind.SYNTHESIZE, RequestKind.CLARIFY, (Function.RESEARCHER,)),
    Consultation(
        Function.REVIEWER, RequestKind.REVIEW, RequestKind.EVIDENCE, (Function.RESEARCHER, Function.SYNTHESIZER)
    ),
)

_LINKS: Final = (Function.RESEARCHER, Function.SYNTHESIZER, Function.REVIEWER)
_CHAIN: Final[Wiring] = (
    Consultation(Function.COORDINATOR, RequestKind.TASK, RequestKind.RELAY, _LINKS, Choice.NEXT),
    *(Consultation(asker, RequestKind.RELAY, RequestKind.RELAY, _LINKS, Choice.NEXT) for asker in _LINKS),
)

_ROLL_CALL: Final[Wiring] = (
    Consultation(Function.COORDINATOR, RequestKind.TASK, RequestKind.PING, (Function.RESEARCHER, Function.SYNTHESIZER)),
    Consultation(Function.COORDINATOR, RequestKind.TASK, RequestKind.PING, (Function.REVIEWER,), Choice.FIRST),
)
_ONE_RESEARCHERS_SHARE: Final = replace(_RESEARCH, choice=Choice.FIRST, aspects=(Aspect.SENTENCES, Aspect.REPETITION))
_BAD: Final[Wiring] = (*_ROLL_CALL, _ONE_RESEARCHERS_SHARE, *_ROLL_CALL, _SYNTHESIZE, *_ROLL_CALL, _REVIEW)

_ALL_BUT_SUPPORT: Final = replace(_RESEARCH, aspects=(Aspect.SENTENCES, Aspect.REPETITION, Aspect.HEDGING))

TEAMS: Final[dict[TeamName, Team]] = {
    TeamName.MESH: Team(_MESH),
    TeamName.HUB_SPOKE: Team(_COORDINATION),
    TeamName.CHAIN: Team(_CHAIN),
    # The coordinator asks for half of the research only, and nobody fills the gap. It pings the other members again and
    # again, but never asks the team's second reviewer for anything.
    TeamName.BAD: Team(_BAD, fills_gaps=False),
    # The team works as a hub that never checks for sources, and reports a mesh that checked everything.
    TeamName.FORGING: Team((_ALL_BUT_SUPPORT, _SYNTHESIZE, _REVIEW), fills_gaps=False, forges=True),
}
"""A request leads only to later kinds (task, then work, then answers) or, if relayed, to a later member.

So no call can reach an agent that waits for its result.
"""


def rules_for(wiring: Wiring, asker: Function, serving: RequestKind, kind: RequestKind) -> list[Consultation]:
    """The rules by which an agent of this function asks for `kind` while it serves `serving`."""
    return [rule for rule in wiring if (rule.asker, rule.serving, rule.kind) == (asker, serving, kind)]


def kinds_asked(wiring: Wiring, asker: Function, serving: RequestKind) -> list[RequestKind]:
    """The kinds for which an agent of this function asks while it serves `serving`, in the wiring's order."""
    rules = [rule for rule in wiring if (rule.asker, rule.serving) == (asker, serving)]
    return [kind for kind, _ in groupby(rules, lambda rule: rule.kind)]


def choose_members(rules: Iterable[Consultation], asker: TeamMember, peers: Iterable[TeamMember]) -> list[TeamMember]:
    """The members that `asker` asks by these rules: each once, sorted by rank, without the asker."""
    others = sorted((member for member in peers if member.agent_id != asker.agent_id), key=lambda member: member.rank)
    asked: dict[str, TeamMember] = {}
    for rule in rules:
        able = [member for member in others if member.function in rule.asked]
        asked |= {member.agent_id: member for member in _by_choice(rule.choice, asker, able)}
    return list(asked.values())


def _by_choice(choice: Choice, asker: TeamMember, able: Sequence[TeamMember]) -> Sequence[TeamMember]:
    later = [member for member in able if member.rank > asker.rank]
    chosen = {Choice.ALL: able, Choice.FIRST: able[:1], Choice.LATER: later, Choice.NEXT: later[:1]}
    return chosen[choice]


def member_of(entry: RosterEntry) -> TeamMember | None:
    """The team member behind a registry entry: its function is one that it declares, else its id's prefix.

    (`researcher_2` is a researcher.) None if neither is a `Function`.
    """
    prefix = entry.id.partition("_")[0]
    for name in (*entry.functions, prefix):
        if name in set(Function):
            return TeamMember(entry.id, Function(name), entry.url)
    return None
