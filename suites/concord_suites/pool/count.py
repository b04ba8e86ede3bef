"""Count: how many candles lie in all crates of a given status."""

from collections.abc import Collection, Mapping
from typing import ClassVar, Final

from concord.suite import Answers, Draw, Fact, Group, Neighbours, SuiteTask, Value
from concord.suite.value import number
from concord_suites.family import Drawn, OneAnswerFamily, Setting, grammar_of, on_slip
from concord_suites.grammar import Fresh, Statement

STATUSES: Final = ("sealed", "damp", "cracked", "unlabelled", "borrowed")
CRATE: Final = on_slip(
    Statement(
        "crate",
        "Crate {crate:code} is {status:word} and holds {value:number} candles.",
        "{value:number} candles lie in crate {crate:code}, which is {status:word}.",
        "You have crate {crate:code} ({status:word}) with {value:number} candles.",
        "In your crate {crate:code}, which is {status:word}, you counted {value:number} candles.",
    ),
    Statement(
        "crate with a slip",
        "Crate {crate:code} is {status:word}, and slip {slip:code} says how many candles it holds.",
        "You have crate {crate:code} ({status:word}) with as many candles as slip {slip:code} says.",
        "For the number of candles in crate {crate:code}, which is {status:word}, see slip {slip:code}.",
        "Slip {slip:code} gives the candles in crate {crate:code}, which is {status:word}.",
    ),
)
QUESTION: Final = Statement(
    "question",
    "How many candles lie in {status:word} crates, of all seats together? Answer with the number.",
    "Each seat has some crates of candles. Count the candles in all crates that are {status:word}, and answer with "
    "the number.",
    "What is the number of candles in all {status:word} crates of the workshop? Answer with that number.",
)


class Count(OneAnswerFamily):
    """One seat has to count the candles in the crates of one status, of which each seat has some."""

    name: ClassVar = "count"
    group: ClassVar = Group.POOL
    summary: ClassVar = "how many candles all crates of one status hold"
    openings: ClassVar = (
        "You store candles for a workshop.",
        "Candles are your trade.",
        "You run one store of a candle maker.",
    )
    statements: ClassVar = (*grammar_of(CRATE), QUESTION)

    def draw(self, draw: Draw, fresh: Fresh, neighbours: Neighbours, difficulty: int) -> Drawn:
        """Crates of the status at each seat, and as noise crates of other statuses.

        Chance is 0: every other seat adds a number of six digits.
        """
        status, facts, sentences = draw.choice(STATUSES), list[Fact](), dict[str, list[str]]()
        others = [each for each in STATUSES if each != status]
        for seat in neighbours:
            crates = [(fresh.code(), status, fresh.number(100_000, 999_999)) for _ in range(1 + (difficulty + 1) // 2)]
            facts += [Fact(f"crate {crate}", (seat,), number(candles)) for crate, _, candles in crates]
            crates += [(fresh.code(), draw.choice(others), fresh.number(100_000, 999_999)) for _ in range(difficulty)]
            sentences[seat] = [
                sentence
                for crate, its_status, candles in crates
                for sentence in CRATE.write(draw, fresh, difficulty, value=candles, crate=crate, status=its_status)
            ]
        return Drawn(
            question=QUESTION.write(draw, status=status),
            sentences=sentences,
            facts=facts,
            answerer=draw.choice(list(neighbours)),
        )

    def solve(self, setting: Setting) -> Answers:
        """The sum over all crates of the status."""
        status = setting.asked(QUESTION.name)["status"]
        total = sum(record.number("value") for _, record in CRATE.stated(setting) if record["status"] == status)
        return dict.fromkeys(setting.answerers, total)

    def partial_results(self, task: SuiteTask, known: Collection[Fact]) -> Mapping[Value, frozenset[str]]:
        """The sum of what one seat holds stands for that, and the sum of all that is known for all."""
        by_seat = [[fact for fact in known if fact.holders == (seat,)] for seat in task.seats]
        return {
            number(sum(int(fact.value.text) for fact in facts)): frozenset(fact.id for fact in facts)
            for facts in [*by_seat, list(known)]
            if len(facts) > 1
        }
