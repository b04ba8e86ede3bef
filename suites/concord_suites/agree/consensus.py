"""Consensus: every seat names the same radio channel, proposed by some seat and disturbed at none."""

from collections.abc import Collection, Mapping
from typing import ClassVar, Final

from pydantic import JsonValue

from concord.suite import Draw, Fact, Group, Neighbours, SuiteTask, Value
from concord.suite.value import number
from concord_suites.answer_kinds import MajorityFamily
from concord_suites.answers import as_number
from concord_suites.family import Drawn, Setting, grammar_of, on_slip, setting_of
from concord_suites.grammar import Fresh, Statement

DISTANCE: Final = 25
"""A disturbance makes all channels unusable that are less than this away from it."""

PROPOSAL: Final = on_slip(
    Statement(
        "proposal",
        "Your hut proposes channel {number:number}.",
        "You put forward channel {number:number}.",
        "Channel {number:number} is a proposal of your hut.",
        "Your hut would like to use channel {number:number}.",
    ),
    Statement(
        "proposal on a slip",
        "Your hut proposes the channel on slip {slip:code}.",
        "You put forward the channel that slip {slip:code} names.",
        "The channel on slip {slip:code} is a proposal of your hut.",
        "Your hut would like to use the channel of slip {slip:code}.",
    ),
)
DISTURBANCE: Final = on_slip(
    Statement(
        "disturbance",
        "At your hut there is a disturbance at {number:number}.",
        "Your receiver picks up a disturbance at {number:number}.",
        "A disturbance at {number:number} reaches your hut.",
        "You hear noise at {number:number}, which is a disturbance.",
    ),
    Statement(
        "disturbance on a slip",
        "Slip {slip:code} tells where there is a disturbance at your hut.",
        "Your receiver picks up the disturbance that slip {slip:code} names.",
        "The disturbance of slip {slip:code} reaches your hut.",
        "You hear the disturbance noted on slip {slip:code}.",
    ),
)
WITHDRAWN: Final = Statement(
    "withdrawn proposal",
    "Your hut has withdrawn its proposal of {number:number}.",
    "You no longer propose {number:number}.",
    "Last year, {number:number} was proposed by your hut.",
    "Channel {number:number} was once discussed, and nobody proposes it now.",
)
PAST: Final = Statement(
    "past disturbance",
    "A disturbance at {number:number} ended last week.",
    "There used to be a disturbance at {number:number}.",
    "The source of a disturbance at {number:number} has been switched off.",
    "In spring you heard noise at {number:number}, which has stopped.",
)
_RULE: Final = (
    f"A channel is usable if some hut proposes it now and it is at least {DISTANCE} away from every disturbance that "
    "any hut has now. Your answers count only if more than half of the seats name the same usable channel."
)
QUESTION: Final = Statement(
    "question",
    f"All huts need one common radio channel. {_RULE} Answer with the number of the channel.",
    f"Agree on one usable channel for all huts. {_RULE} Answer with the channel's number.",
    f"Which channel do all huts use from now on? {_RULE} Answer with its number.",
)


class Consensus(MajorityFamily):
    """All seats have to agree on a proposal that no seat's disturbance makes unusable."""

    name: ClassVar = "consensus"
    group: ClassVar = Group.AGREE
    summary: ClassVar = "one value that some seat proposes and no seat's observation excludes, from all seats"
    openings: ClassVar = (
        "You are the warden of a mountain hut.",
        "Your hut stands high in the mountains.",
        "You run the radio of a mountain hut.",
    )
    statements: ClassVar = (*grammar_of(PROPOSAL, DISTURBANCE), WITHDRAWN, PAST, QUESTION)

    def draw(self, draw: Draw, fresh: Fresh, neighbours: Neighbours, difficulty: int) -> Drawn:
        """As many disturbances as proposals, of which all but one or two proposals are hit.

        Chance is 0: a usable proposal stands in one brief only, and more than half of the seats have to name it.
        """
        owners = [seat for seat in neighbours for _ in range(1 + difficulty // 3)]
        places = draw.sample(range(100, 1000), len(owners))  # hundreds: a disturbance near one is far from all others
        proposals = [fresh.number(100 * place + 30, 100 * place + 70) for place in places]
        hit = proposals[: -2 if len(proposals) > 3 else -1]
        targets = [*hit, *(draw.choice(hit) for _ in range(len(owners) - len(hit)))]
        disturbances = [_near(fresh, target) for target in targets]
        proposed = list(zip(draw.shuffled(owners), proposals, strict=True))
        disturbed = list(zip(draw.shuffled(owners), disturbances, strict=True))
        sentences: dict[str, list[str]] = {seat: [] for seat in neighbours}
        for statement, stated in ((PROPOSAL, proposed), (DISTURBANCE, disturbed)):
            for seat, value in stated:
                sentences[seat] += statement.write(draw, fresh, difficulty, number=value)
        for seat in neighbours:
            for _ in range(difficulty - 1):
                sentences[seat].append(WITHDRAWN.write(draw, number=fresh.number()))
                sentences[seat].append(PAST.write(draw, number=_near(fresh, draw.choice(proposals))))
        return Drawn(
            question=QUESTION.write(draw),
            sentences=sentences,
            facts=[
                *(Fact(f"proposal {at}", (seat,), number(value)) for at, (seat, value) in enumerate(proposed, 1)),
                *(Fact(f"disturbance {at}", (seat,), number(value)) for at, (seat, value) in enumerate(disturbed, 1)),
            ],
        )

    def options(self, setting: Setting) -> list[str]:
        """All proposals."""
        return sorted(record["number"] for _, record in PROPOSAL.stated(setting))

    def right(self, setting: Setting) -> list[str]:
        """The usable proposals."""
        disturbances = [record.number("number") for _, record in DISTURBANCE.stated(setting)]
        return [
            option
            for option in self.options(setting)
            if all(abs(int(option) - disturbance) >= DISTANCE for disturbance in disturbances)
        ]

    def read_answer(self, answer: JsonValue, options: tuple[str, ...]) -> str:
        """One of the proposed channels, or no text for any other number."""
        channel = as_number(answer)
        return next((option for option in options if int(option) == channel), "")

    def partial_results(self, task: SuiteTask, known: Collection[Fact]) -> Mapping[Value, frozenset[str]]:
        """A usable channel stands for all facts, once all are known: any fact may still exclude it."""
        if len(known) < len(task.facts):
            return {}
        ids = frozenset(fact.id for fact in known)
        return {number(int(option)): ids for option in self.right(setting_of(self, task))}


def _near(fresh: Fresh, channel: int) -> int:
    return fresh.number(channel - DISTANCE + 5, channel + DISTANCE - 5)
