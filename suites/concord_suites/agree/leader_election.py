"""Leader election: every seat names the badge of the highest rank among those with enough hours."""

from collections.abc import Collection, Mapping
from typing import ClassVar, Final

from pydantic import JsonValue

from concord.suite import Draw, Fact, Group, Neighbours, SuiteTask, Value
from concord.suite.value import name, number
from concord_suites.answer_kinds import MajorityFamily
from concord_suites.answers import as_word
from concord_suites.family import Drawn, Setting, grammar_of, on_slip
from concord_suites.grammar import Fresh, Statement

RANK: Final = on_slip(
    Statement(
        "rank",
        "Your badge {badge:name} has rank {number:number}.",
        "{badge:name} is your badge, of rank {number:number}.",
        "You wear badge {badge:name} with rank {number:number}.",
        "Rank {number:number} belongs to your badge {badge:name}.",
    ),
    Statement(
        "rank on a slip",
        "Your badge {badge:name} has the rank on slip {slip:code}.",
        "{badge:name} is your badge, and slip {slip:code} gives its rank.",
        "You wear badge {badge:name}, whose rank is on slip {slip:code}.",
        "The rank on slip {slip:code} belongs to your badge {badge:name}.",
    ),
)
HOURS: Final = on_slip(
    Statement(
        "hours",
        "The log counts {number:number} hours for {badge:name}.",
        "{badge:name} has {number:number} hours in the log.",
        "With badge {badge:name}, {number:number} hours have been logged.",
        "The hours of {badge:name} add up to {number:number}.",
    ),
    Statement(
        "hours on a slip",
        "The log counts the hours on slip {slip:code} for {badge:name}.",
        "{badge:name} has the hours that slip {slip:code} gives.",
        "With badge {badge:name}, the hours on slip {slip:code} have been logged.",
        "For the hours of {badge:name}, see slip {slip:code}.",
    ),
)
MINIMUM: Final = Statement(
    "minimum",
    "The harbour rules ask a chief pilot for at least {number:number} hours.",
    "Nobody becomes chief pilot with fewer than {number:number} hours.",
    "A chief pilot needs {number:number} hours or more.",
    "You have a copy of the rules, which set {number:number} hours as the least for a chief pilot.",
)
RETIRED: Final = Statement(
    "retired pilot",
    "Badge {badge:name} of a retired pilot had rank {number:number}.",
    "A pilot who left wore {badge:name}, with rank {number:number}.",
    "The old badge {badge:name} of rank {number:number} is in the museum.",
    "Rank {number:number} went with {badge:name}, a badge that nobody wears now.",
)
_RULE: Final = (
    "Each seat is a pilot with a badge. The chief is the pilot with the highest rank among those who have logged at "
    "least the hours that the harbour rules ask for; one of you knows that minimum. The election is valid, and your "
    "answers count, only if more than half of the seats name the right badge."
)
QUESTION: Final = Statement(
    "question",
    f"Elect the chief pilot. {_RULE} Answer with the name of the chief's badge.",
    f"Who of you is chief pilot? {_RULE} Answer with the name on the badge.",
    f"The harbour elects a chief pilot. {_RULE} Answer with the badge's name.",
)


class LeaderElection(MajorityFamily):
    """All seats have to name the same leader: the highest priority among the eligible."""

    name: ClassVar = "leader-election"
    group: ClassVar = Group.AGREE
    summary: ClassVar = "the highest rank among the eligible, named by every seat"
    openings: ClassVar = (
        "You are a pilot of a busy harbour.",
        "You bring ships into the harbour.",
        "Your work is to pilot ships.",
    )
    statements: ClassVar = (*grammar_of(RANK, HOURS), MINIMUM, RETIRED, QUESTION)

    def draw(self, draw: Draw, fresh: Fresh, neighbours: Neighbours, difficulty: int) -> Drawn:
        """A rank and hours for each seat, and a minimum that one seat knows. The highest rank has too few hours.

        Chance is 0: the leader's badge stands in its own brief only, and more than half of the seats have to name it.
        """
        seats = draw.shuffled(list(neighbours))  # by rank, the highest first
        ranks = sorted((fresh.number() for _ in seats), reverse=True)
        minimum = fresh.number(40_000, 69_999)
        eligible = [False, True, *(draw.chance(0.5) for _ in seats[2:])]
        informed = draw.choice(seats)
        facts, sentences = [Fact("minimum", (informed,), number(minimum))], dict[str, list[str]]()
        for seat, rank, enough in zip(seats, ranks, eligible, strict=True):
            badge = fresh.name()
            hours = fresh.number(minimum + 1, 99_999) if enough else fresh.number(10_000, minimum - 1)
            sentences[seat] = [
                *RANK.write(draw, fresh, difficulty, number=rank, badge=badge),
                *HOURS.write(draw, fresh, difficulty, number=hours, badge=badge),
                *(RETIRED.write(draw, badge=fresh.name(), number=fresh.number()) for _ in range(difficulty - 1)),
            ]
            facts.append(Fact(f"rank of {seat}", (seat,), number(rank), anchor=name(badge)))
            facts.append(Fact(f"hours of {seat}", (seat,), number(hours), anchor=name(badge)))
        sentences[informed].append(MINIMUM.write(draw, number=minimum))
        return Drawn(question=QUESTION.write(draw), sentences=sentences, facts=facts)

    def options(self, setting: Setting) -> list[str]:
        """All badges."""
        return sorted(record["badge"] for _, record in RANK.stated(setting))

    def right(self, setting: Setting) -> list[str]:
        """The badge of the highest rank with enough hours."""
        [(_, minimum)] = setting.stated(MINIMUM.name)
        hours = {record["badge"]: record.number("number") for _, record in HOURS.stated(setting)}
        ranks = {record["badge"]: record.number("number") for _, record in RANK.stated(setting)}
        able = (badge for badge in ranks if hours[badge] >= minimum.number("number"))
        return [max(able, key=lambda each: ranks[each])]

    def read_answer(self, answer: JsonValue, options: tuple[str, ...]) -> str:
        """One of the badges."""
        return as_word(answer, options)

    def partial_results(self, task: SuiteTask, known: Collection[Fact]) -> Mapping[Value, frozenset[str]]:
        """With the minimum known, the best badge so far stands for all known ranks and hours.

        With all facts known, it stands for the minimum too.
        """
        minimum = next((int(fact.value.text) for fact in known if fact.id == "minimum"), None)
        if minimum is None:
            return {}
        ranks, hours = dict[Value, int](), dict[Value, int]()
        for fact in known:
            if fact.anchor is not None:
                (ranks if fact.id.startswith("rank") else hours)[fact.anchor] = int(fact.value.text)
        eligible = [badge for badge in ranks if hours.get(badge, 0) >= minimum]
        if not eligible:
            return {}
        complete = len(known) == len(task.facts)
        stands_for = frozenset(fact.id for fact in known if complete or (fact.anchor in ranks and fact.anchor in hours))
        return {max(eligible, key=lambda badge: ranks[badge]): stands_for}
