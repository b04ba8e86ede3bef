"""A team's day: the offices of its people with one work in them, as scenarios to be played and as a team task."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from itertools import count
from typing import Final

from pydantic import JsonValue

from concord.assessment.task_spec import TEAM_DAY
from concord.suite import Answers, Bound, Draw, Fact, Grade, Group, Kind, Neighbours, Part, Suite, SuiteTask, Value
from concord.suite.task import Family
from concord_assistant.office.days import FIRST_DAY, scenario_of
from concord_assistant.office.noise import add_noise
from concord_assistant.office.plan import DayPlan, Errand
from concord_assistant.office.teams.families import TEAMS
from concord_assistant.office.teams.grading import PartKey, TeamKey, grade_team
from concord_assistant.office.teams.work import NotUniqueError, TeamWork
from concord_assistant.office.world import Office
from concord_assistant.scenario.schema import ScenarioConfig

SEATS: Final = range(3, 9)
"""The people of a team: the best of all choices of a budget is found by trying them."""

_KINDS: Final = {"number": Kind.NUMBER, "code": Kind.CODE}
"""The kinds of the facts that people of a team tell each other."""


@dataclass(frozen=True, slots=True)
class Team:
    """The days of a team's people, in the order of its seats, and what they have to do together."""

    days: Sequence[ScenarioConfig]
    plans: Sequence[DayPlan]
    work: TeamWork


def team(secret: bytes, family: str, seats: int, mails: int | None = None) -> Team:
    """The team's day of a secret. The same arguments give the same day.

    `mails`: those of each person that nobody needs. Raises KeyError for an unknown family, ValueError for a number of
    seats outside `SEATS`.
    """
    if seats not in SEATS:
        raise ValueError(f"a team in the office has {SEATS.start} to {SEATS.stop - 1} seats, not {seats}")
    for attempt in count():
        draw = Draw(secret + attempt.to_bytes(4))
        began = FIRST_DAY + timedelta(weeks=draw.below(200), days=draw.below(3))
        first = Office(draw, datetime.combine(began, time(8), UTC))
        offices = [first, *(first.of_colleague() for _ in range(seats - 1))]
        try:
            work = TEAMS[family](offices)
        except NotUniqueError:
            continue
        for office in offices:
            add_noise(office, mails)
        return _team(family, offices, work)
    raise AssertionError("the numbers of attempts do not end")


def _team(family: str, offices: Sequence[Office], work: TeamWork) -> Team:
    facts = [fact for office in offices for fact in office.facts_known()]
    free = [each.fact_id for each in (*(fact for told in work.told for fact in told), *work.named)]
    last = max(step.turn for errand in work.errands for step in errand.oracle)
    plans = [
        DayPlan(
            user=[office.user.email, office.user.phone],
            team=[each.user.email for each in offices if each is not office],
            facts=facts,
            desks=office.desks,
            errands=[_in_team(errand, office, offices, free)],
            last_turn=last,
        )
        for office, errand in zip(offices, work.errands, strict=True)
    ]
    name = f"{TEAM_DAY}{family}".replace("-", "_")
    days = [scenario_of(office, name, plan) for office, plan in zip(offices, plans, strict=True)]
    return Team(days, plans, work)


def _in_team(errand: Errand, office: Office, offices: Sequence[Office], free: Sequence[str]) -> Errand:
    """The errand of a person who knows the others of the team, and may tell them these facts."""
    mates = [each.user for each in offices if each is not office]
    named = ", ".join(f"{each.name} ({each.email})" for each in mates)
    return errand.model_copy(
        update={
            "prompt": f"{errand.prompt} We are {named} and me; each of us has an assistant of our own, who reads our "
            "mail, and whose mail we get within the hour.",
            "receivers": {**errand.receivers, **{each.email: list(free) for each in mates}},
        }
    )


def team_task(made: Team, family: str, neighbours: Neighbours) -> SuiteTask:
    """The day as a task of a team: whose seat holds which fact, what each part needs, and the key."""
    seats, work = list(neighbours), made.work
    holders = dict[str, list[str]]()
    facts = {each.fact_id: each for told in work.told for each in told}
    for seat, told in zip(seats, work.told, strict=True):
        for each in told:
            holders.setdefault(each.fact_id, []).append(seat)
    parts = [
        PartKey(
            part_id=each.part_id,
            seat=seats[each.seat],
            errand=work.errands[each.seat].errand_id,
            desk=each.desk,
            values=dict(each.values),
        )
        for each in work.parts
    ]
    key = TeamKey(parts=parts, once=list(work.once), prices=dict(work.prices), limit=work.limit)
    return SuiteTask(
        family=f"{TEAM_DAY}{family}",
        difficulty=1,
        neighbours=neighbours,
        question=work.question,
        briefs={seat: _brief(day, plan) for seat, day, plan in zip(seats, made.days, made.plans, strict=True)},
        answerers=tuple(seats),
        key=key.model_dump(mode="json"),
        facts=tuple(
            Fact(name, tuple(holders[name]), Value(_KINDS[each.kind], each.text)) for name, each in facts.items()
        ),
        parts=tuple(Part(each.part_id, key.seat, each.needs) for each, key in zip(work.parts, parts, strict=True)),
        fewest_messages=work.fewest_messages,
        fewest_rounds=Bound(2, exact=True, proof="what one round tells, the next one can use"),
        chance=work.chance,
    )


def _brief(day: ScenarioConfig, plan: DayPlan) -> str:
    """What a person asks for, and the messages that the assistant must read."""
    mails = day.initial_state["scenario"]["environment"]["modality_states"]["email"]["emails"]
    return "\n\n".join([day.user_prompt, *(mails[each]["body_text"] for each in plan.errands[0].carriers)])


@dataclass(frozen=True, slots=True)
class OfficeTeam:
    """The days of one kind as a family of team tasks, whose answers are the seats' end states."""

    kind: str

    @property
    def name(self) -> str:
        """See `Family`."""
        return f"{TEAM_DAY}{self.kind}"

    @property
    def group(self) -> Group:
        """See `Family`."""
        return Group.POOL if self.kind == "report" else Group.ALL_TO_ALL

    @property
    def seats(self) -> range:
        """See `Family`."""
        return SEATS

    @property
    def summary(self) -> str:
        """See `Family`."""
        return f"assistants of several people in an office: {self.kind}"

    def generate(self, secret: bytes, neighbours: Neighbours, difficulty: int) -> SuiteTask:  # noqa: ARG002 - one of all
        """See `Family`. Raises ValueError for other neighbours than all: everybody knows all addresses."""
        if any(len(each) < len(neighbours) - 1 for each in neighbours.values()):
            raise ValueError("in the office everybody can write to everybody: the topology is complete")
        return team_task(team(secret, self.kind, len(neighbours)), self.kind, neighbours)

    def grade(self, answers: Answers, key: JsonValue) -> Grade:
        """See `Family`."""
        return grade_team(answers, key)

    def partial_results(self, task: SuiteTask, known: Collection[Fact]) -> Mapping[Value, frozenset[str]]:  # noqa: ARG002
        """See `Family`: facts are told as they are."""
        return {}

    def implied(self, task: SuiteTask, known: Collection[Fact], stated: Collection[Value]) -> frozenset[str]:  # noqa: ARG002
        """See `Family`: facts are told as they are."""
        return frozenset()


_FAMILIES: Final[Mapping[str, Family]] = {f"{TEAM_DAY}{kind}": OfficeTeam(kind) for kind in TEAMS}

SUITE: Final = Suite(_FAMILIES)
"""The families of teams in the office, by name."""
