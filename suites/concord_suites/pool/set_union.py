"""Set union: the codes of all volumes that any seat has."""

from collections.abc import Sequence
from typing import ClassVar, Final

from concord.suite import Draw, Fact, Group, Neighbours, Part
from concord.suite.value import code
from concord_suites.answer_kinds import AS_LIST, ListFamily, ListKey
from concord_suites.family import Drawn, Setting, grammar_of, on_slip
from concord_suites.grammar import Fresh, Statement
from concord_suites.shared_draws import holders, with_copies

VOLUME: Final = on_slip(
    Statement(
        "volume",
        "Volume {value:code} stands on your shelf.",
        "You have volume {value:code}.",
        "On your shelf is volume {value:code}.",
        "Your shelf has volume {value:code}.",
    ),
    Statement(
        "volume with a slip",
        "The volume that slip {slip:code} names stands on your shelf.",
        "You have the volume that slip {slip:code} names.",
        "For one more volume on your shelf, see slip {slip:code}.",
        "Slip {slip:code} names a volume of your shelf.",
    ),
)
GONE: Final = Statement(
    "volume that is gone",
    "Volume {volume:code} was sold long ago.",
    "You once had volume {volume:code}, which was lost.",
    "Volume {volume:code} is ordered, and has not come.",
    "A reader asked for volume {volume:code}, which you do not have.",
)
QUESTION: Final = Statement(
    "question",
    f"Which volumes does the archive have now, on the shelves of all seats? List the code of each once. {AS_LIST}",
    f"Make a list of the codes of all volumes that stand on any seat's shelf now, each once. {AS_LIST}",
    f"Some volumes stand on the shelves of several seats. List the code of every volume that any seat has now, "
    f"each once. {AS_LIST}",
)


class SetUnion(ListFamily):
    """One seat has to list the volumes of all seats. Several seats may have the same volume."""

    name: ClassVar = "set-union"
    group: ClassVar = Group.POOL
    summary: ClassVar = "the codes of all volumes that any seat has"
    openings: ClassVar = (
        "You look after a shelf of an old archive.",
        "Your work is one shelf of the archive.",
        "The archive gave you a shelf to look after.",
    )
    statements: ClassVar = (*grammar_of(VOLUME), GONE, QUESTION)

    def draw(self, draw: Draw, fresh: Fresh, neighbours: Neighbours, difficulty: int) -> Drawn:
        """Volumes of each seat's own, and copies of others' volumes.

        Chance is 0: the answerer's own volumes count for nothing, and no other code can be guessed.
        """
        own = {seat: [fresh.code() for _ in range(3 + difficulty // 2)] for seat in neighbours}
        shelves = with_copies(draw, own, 1 + difficulty // 2)
        return Drawn(
            question=QUESTION.write(draw),
            sentences={
                seat: [
                    *(each for volume in shelf for each in VOLUME.write(draw, fresh, difficulty, value=volume)),
                    *(GONE.write(draw, volume=fresh.code()) for _ in range(difficulty - 1)),
                ]
                for seat, shelf in shelves.items()
            },
            facts=[Fact(f"volume {volume}", seats, code(volume)) for volume, seats in holders(shelves).items()],
            answerer=draw.choice(list(neighbours)),
        )

    def parts(self, drawn: Drawn, _neighbours: Neighbours) -> Sequence[Part]:
        """Each volume that the answerer does not have is a part of its own."""
        seat = drawn.answerer or ""
        return [Part(fact.value.text, seat, (fact.id,)) for fact in drawn.facts if seat not in fact.holders]

    def list_key(self, setting: Setting) -> ListKey:
        """All volumes of others, and those of the answerer as neutral."""
        [answerer] = setting.answerers
        stated = VOLUME.stated(setting)
        own = {record["value"] for seat, record in stated if seat == answerer}
        return ListKey(
            seat=answerer, wanted=sorted({record["value"] for _, record in stated} - own), neutral=sorted(own)
        )
