"""Dedupe: how many different birds all seats caught, where several seats caught the same."""

from typing import ClassVar, Final

from concord.suite import Answers, Draw, Fact, Group, Kind, Neighbours
from concord.suite.value import code
from concord_suites.family import Drawn, OneAnswerFamily, Setting, grammar_of, on_slip
from concord_suites.grammar import Fresh, Statement
from concord_suites.shared_draws import dealt, holders, with_copies

BIRD: Final = on_slip(
    Statement(
        "bird",
        "You caught the bird with ring {value:code}.",
        "The bird with ring {value:code} flew into your net.",
        "Ring {value:code} was on a bird in your net.",
        "In your net sat a bird with ring {value:code}.",
    ),
    Statement(
        "bird with a slip",
        "You caught the bird whose ring is on slip {slip:code}.",
        "For the ring of one more bird in your net, see slip {slip:code}.",
        "A bird flew into your net, and you put its ring on slip {slip:code}.",
        "Slip {slip:code} names the ring of a bird in your net.",
    ),
)
OTHER: Final = Statement(
    "bird that was not caught",
    "Last spring you caught a bird with ring {ring:code}.",
    "Ring {ring:code} is still in its box.",
    "A walker saw a bird with ring {ring:code}.",
    "The book names a bird with ring {ring:code}, which did not come.",
)
QUESTION: Final = Statement(
    "question",
    "How many different birds did you all catch this autumn? Several seats may have caught the same bird. Answer "
    "with the number.",
    "Each seat caught birds with rings this autumn, and some birds were caught by several seats. Count each bird "
    "once, and answer with the number of birds.",
    "Over the nets of all seats, how many different rings were read this autumn? Answer with the number.",
)
SPREAD: Final = 14
"""How many numbers of birds are equally likely."""


class Dedupe(OneAnswerFamily):
    """One seat has to count the birds of all seats. A bird that several seats caught counts once."""

    name: ClassVar = "dedupe"
    group: ClassVar = Group.POOL
    summary: ClassVar = "how many different birds all seats caught"
    openings: ClassVar = (
        "You put up a net at a bird station.",
        "You watch one net of a bird station.",
        "At the bird station, one net is yours.",
    )
    statements: ClassVar = (*grammar_of(BIRD), OTHER, QUESTION)
    result: ClassVar = Kind.NUMBER

    def draw(self, draw: Draw, fresh: Fresh, neighbours: Neighbours, difficulty: int) -> Drawn:
        """Birds of each net, and birds that other nets caught too.

        How many birds the answerer did not catch is drawn from `SPREAD` numbers, whatever the answerer's brief says:
        chance is 1 / `SPREAD`.
        """
        answerer, copies = draw.choice(list(neighbours)), 1 + difficulty // 2
        others = [seat for seat in neighbours if seat != answerer]
        fewest = 2 * len(others) + copies
        new = [fresh.code() for _ in range(draw.between(fewest, fewest + SPREAD - 1))]
        own = [fresh.code() for _ in range(2 + difficulty // 2)]
        nets = with_copies(draw, dealt(draw, new, others) | {answerer: own}, copies)
        return Drawn(
            question=QUESTION.write(draw),
            sentences={
                seat: [
                    *(each for ring in net for each in BIRD.write(draw, fresh, difficulty, value=ring)),
                    *(OTHER.write(draw, ring=fresh.code()) for _ in range(difficulty - 1)),
                ]
                for seat, net in nets.items()
            },
            facts=[Fact(f"ring {ring}", seats, code(ring)) for ring, seats in holders(nets).items()],
            chance=1 / SPREAD,
            answerer=answerer,
        )

    def solve(self, setting: Setting) -> Answers:
        """The number of different rings."""
        return dict.fromkeys(setting.answerers, len({record["value"] for _, record in BIRD.stated(setting)}))
