"""Top k: the heaviest pumpkins of all seats."""

from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar, Final

from concord.suite import Draw, Fact, Group, Neighbours, Part, SuiteTask, Value
from concord.suite.value import number
from concord_suites.answer_kinds import ListFamily, ListKey
from concord_suites.family import Drawn, Setting, grammar_of, on_slip
from concord_suites.grammar import Fresh, Statement
from concord_suites.shared_draws import dealt

PUMPKIN: Final = on_slip(
    Statement(
        "pumpkin",
        "One of your pumpkins weighs {value:number} grams.",
        "You grew a pumpkin of {value:number} grams.",
        "{value:number} grams is the weight of a pumpkin of yours.",
        "On your scales a pumpkin came to {value:number} grams.",
    ),
    Statement(
        "pumpkin with a slip",
        "One of your pumpkins weighs as many grams as slip {slip:code} says.",
        "You grew a pumpkin whose grams are on slip {slip:code}.",
        "For the grams of one more pumpkin of yours, see slip {slip:code}.",
        "Slip {slip:code} gives the grams of a pumpkin of yours.",
    ),
)
OTHER: Final = Statement(
    "other weight",
    "A pumpkin of last year weighed {value:number} grams.",
    "You sold a pumpkin of {value:number} grams before the show.",
    "A melon that you grew weighs {value:number} grams.",
    "Your neighbour guessed {value:number} grams for a pumpkin, and was wrong.",
)
QUESTION: Final = Statement(
    "question",
    "What do the {count:number} heaviest pumpkins in the show weigh, over all seats? Answer with a JSON list of "
    "their grams.",
    "Each seat shows some pumpkins. Find the {count:number} heaviest of all, and answer with a JSON list of their "
    "weights in grams.",
    "There are prizes for the {count:number} heaviest pumpkins of all seats. List their weights in grams, as a "
    "JSON list of numbers.",
)


class TopK(ListFamily):
    """One seat has to list the k highest of all weights."""

    name: ClassVar = "top-k"
    group: ClassVar = Group.POOL
    summary: ClassVar = "the weights of the k heaviest pumpkins"
    openings: ClassVar = (
        "You show pumpkins at the harvest fair.",
        "You grow pumpkins for the fair.",
        "Your stand at the fair is full of pumpkins.",
    )
    statements: ClassVar = (*grammar_of(PUMPKIN), OTHER, QUESTION)

    def draw(self, draw: Draw, fresh: Fresh, neighbours: Neighbours, difficulty: int) -> Drawn:
        """Some weights per seat, and how many are asked for.

        Chance is 0: none of the answerer's is among the highest, and no number of six digits can be guessed.
        """
        answerer, count = draw.choice(list(neighbours)), draw.between(2, 4)
        each_has = max(2 + difficulty // 2, 8 // len(neighbours))
        weights = sorted((fresh.number(100_000, 999_999) for _ in range(each_has * len(neighbours))), reverse=True)
        own = draw.sample(weights[count:], each_has)
        rest = [each for each in weights if each not in own]
        stands = dealt(draw, rest, [seat for seat in neighbours if seat != answerer]) | {answerer: own}
        return Drawn(
            question=QUESTION.write(draw, count=count),
            sentences={
                seat: [
                    *(each for grams in stand for each in PUMPKIN.write(draw, fresh, difficulty, value=grams)),
                    *(OTHER.write(draw, value=fresh.number(100_000, 999_999)) for _ in range(difficulty - 1)),
                ]
                for seat, stand in stands.items()
            },
            facts=[
                Fact(f"pumpkin {place} of {seat}", (seat,), number(grams))
                for seat in neighbours
                for place, grams in enumerate(stands[seat], start=1)
            ],
            answerer=answerer,
        )

    def parts(self, drawn: Drawn, _neighbours: Neighbours) -> Sequence[Part]:
        """Each of the highest weights is a part, and follows from all weights."""
        ids = tuple(fact.id for fact in drawn.facts)
        return [
            Part(fact.value.text, drawn.answerer or "", ids)
            for fact in _highest(drawn.facts)[: self._count(drawn.question)]
        ]

    def list_key(self, setting: Setting) -> ListKey:
        """The highest weights."""
        [answerer] = setting.answerers
        weights = sorted((record.number("value") for _, record in PUMPKIN.stated(setting)), reverse=True)
        return ListKey(seat=answerer, wanted=list(map(str, weights[: setting.asked(QUESTION.name).number("count")])))

    def partial_results(self, task: SuiteTask, known: Collection[Fact]) -> Mapping[Value, frozenset[str]]:
        """The lowest of the k highest so far stands for all that are lower."""
        count = self._count(task.question)
        ranked = _highest(known)
        return {ranked[count - 1].value: frozenset(fact.id for fact in ranked[count - 1 :])} if ranked[count:] else {}

    def _count(self, question: str) -> int:
        return self.setting(question).asked(QUESTION.name).number("count")


def _highest(facts: Collection[Fact]) -> list[Fact]:
    return sorted(facts, key=lambda fact: int(fact.value.text), reverse=True)
