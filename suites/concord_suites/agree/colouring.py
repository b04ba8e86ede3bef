"""Colouring: every house is painted in a shade of its own list, and no two neighbours look alike."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import ClassVar, Final, TypeAlias

from pydantic import JsonValue

from concord.suite import Answers, Draw, Fact, Grade, Group, Neighbours, Part, SuiteTask, Value
from concord.suite.value import number
from concord_suites.answers import as_number, read_each
from concord_suites.family import Drawn, Setting, TextFamily, grammar_of, on_slip, setting_of
from concord_suites.grammar import Fresh, Statement

COLOUR_SIZE: Final = 1_000
"""Shades of seven digits are of one colour if their first four digits agree."""

LIST_LENGTH: Final = 12
"""Shades that each seat has."""

SHARED_FENCE: Final = 0.5
"""How often a fence that already excludes a shade of one neighbour excludes one of another's too, where it can."""

Shades: TypeAlias = Mapping[str, Sequence[int]]
"""Shades by seat."""

SHADE: Final = on_slip(
    Statement(
        "shade",
        "You have paint of shade {number:number}.",
        "Shade {number:number} is among your paints.",
        "One of your pots holds shade {number:number}.",
        "You could paint your house in shade {number:number}.",
    ),
    Statement(
        "shade on a slip",
        "You have paint of the shade on slip {slip:code}.",
        "The shade of slip {slip:code} is among your paints.",
        "One of your pots holds the shade that slip {slip:code} names.",
        "You could paint your house in the shade on slip {slip:code}.",
    ),
)
FENCE: Final = Statement(
    "fence",
    "A fence of yours is painted in {number:number}.",
    "You have a fence in shade {number:number}.",
    "The shade of one of your fences is {number:number}.",
    "Shade {number:number} is on one of your fences.",
)
GONE: Final = Statement(
    "shade that is gone",
    "Your pot of {number:number} has dried up.",
    "The paint merchant no longer sells {number:number}.",
    "A fence in {number:number} was torn down last year.",
    "Your grandmother liked {number:number}, of which no pot is left.",
)
_RULE: Final = (
    "Paint your house in one of your shades. Two shades have the same colour if their first four digits agree. Your "
    "house must not have the same colour as a fence or a house of a neighbour (a seat that you can send messages to). "
    "Your own fences do not matter to you."
)
QUESTION: Final = Statement(
    "question",
    f"Which shade does your house get? {_RULE} Answer with the number of the shade.",
    f"The whole village is painted anew. {_RULE} Answer with your shade's number.",
    f"Choose the shade of your house. {_RULE} Answer with its number.",
)


class Colouring(TextFamily):
    """A list colouring of the topology, part of which is coloured already. It has one solution."""

    name: ClassVar = "colouring"
    group: ClassVar = Group.AGREE
    summary: ClassVar = "a colour for each seat from a list of its own, different from all neighbours'"
    openings: ClassVar = (
        "Your village wants to look its best.",
        "You own a house in a small village.",
        "The painters come to your house tomorrow.",
    )
    statements: ClassVar = (*grammar_of(SHADE), FENCE, GONE, QUESTION)

    def draw(self, draw: Draw, fresh: Fresh, neighbours: Neighbours, difficulty: int) -> Drawn:
        """A list for each seat: its solution, a shade that a neighbour has to take, and shades that fences exclude.

        In a hidden order of the seats, the second shade is that of an earlier neighbour, if there is one: so the
        solution is unique. All colours of a list look alike to its seat, and none is on a fence of its own. So without
        messages, any choice is allowed by all fences with a probability of these one or two in `LIST_LENGTH`. `chance`
        is the mean of that: an upper bound, nearly reached if neighbours choose from different ends of their lists.
        """
        order = draw.shuffled(list(neighbours))
        solution = {seat: fresh.number(1_000, 9_999) for seat in order}
        fences: dict[str, list[int]] = {seat: [] for seat in neighbours}
        colours: dict[str, list[int]] = {}
        open_choices = 0
        for seat in order:
            taken = [solution[other] for other in neighbours[seat] if other in colours]
            colours[seat] = [solution[seat], *([draw.choice(taken)] if taken else [])]
            open_choices += len(colours[seat])
            while len(colours[seat]) < LIST_LENGTH:
                fence = fences[draw.choice(neighbours[seat])]
                usable = [colour for colour in fence if colour not in colours[seat]]
                if len(fence) < LIST_LENGTH - 1 and not (usable and draw.chance(SHARED_FENCE)):
                    fence.append(fresh.number(1_000, 9_999))
                    usable = fence[-1:]
                colours[seat] += [draw.choice(usable)] if usable else []
        shades = {seat: [_shade(fresh, colour) for colour in found] for seat, found in colours.items()}
        painted = {seat: [_shade(fresh, colour) for colour in fences[seat]] for seat in order}
        sentences = {
            seat: [
                *(text for each in shades[seat] for text in SHADE.write(draw, fresh, difficulty, number=each)),
                *(FENCE.write(draw, number=each) for each in painted[seat]),
                *(GONE.write(draw, number=_shade(fresh, draw.choice(colours[seat]))) for _ in range(difficulty - 1)),
            ]
            for seat in order
        }
        facts = [
            Fact(f"{kind} {each}", (seat,), number(each))
            for kind, found in (("shade", shades), ("fence", painted))
            for seat in neighbours
            for each in sorted(found[seat])
        ]
        return Drawn(QUESTION.write(draw), sentences, facts, chance=open_choices / (LIST_LENGTH * len(order)))

    def parts(self, drawn: Drawn, neighbours: Neighbours) -> Sequence[Part]:
        """A seat's shade follows from its list, the fences that exclude some of it, and its neighbours' choices."""
        shades: dict[str, list[int]] = {seat: [] for seat in neighbours}
        fences: dict[str, list[int]] = {seat: [] for seat in neighbours}
        for fact in drawn.facts:
            kind = shades if fact.id.startswith("shade") else fences
            kind[fact.holders[0]].append(int(fact.value.text))
        needs: dict[str, dict[str, None]] = {}
        for seat, _, dependent in _elimination(shades, fences, neighbours):
            own = {_colour(each) for each in shades[seat]}
            needs[seat] = {f"shade {each}": None for each in shades[seat]} | {
                f"fence {each}": None for other in neighbours[seat] for each in fences[other] if _colour(each) in own
            }
            for other in dependent:
                needs[seat] |= needs[other]
        return [Part(seat, seat, tuple(needs[seat])) for seat in neighbours]

    def solve(self, setting: Setting) -> Answers:
        """The only colouring."""
        shades, fences = SHADE.numbers(setting), _fences(setting)
        solution = {seat: shade for seat, shade, _ in _elimination(shades, fences, setting.neighbours)}
        return {seat: solution[seat] for seat in setting.neighbours}

    def key(self, setting: Setting) -> JsonValue:
        """For each seat the shades that no fence excludes, and the neighbours that have one of the same colour."""
        allowed = _allowed(SHADE.numbers(setting), _fences(setting), setting.neighbours)
        colours = {seat: set(map(_colour, found)) for seat, found in allowed.items()}
        return {
            seat: {
                "allowed": list(found),
                "rivals": [other for other in setting.neighbours[seat] if colours[seat] & colours[other]],
            }
            for seat, found in allowed.items()
        }

    def grade(self, answers: Answers, key: JsonValue) -> Grade:
        """1 for each seat with an allowed shade of another colour than its neighbours' allowed shades, else 0."""
        fields = {seat: each for seat, each in key.items() if isinstance(each, dict)} if isinstance(key, dict) else {}
        shades, unreadable = read_each(answers, fields, as_number)
        colours = dict[str, int]()
        for seat, shade in shades.items():
            allowed = fields[seat]["allowed"]
            if isinstance(allowed, list) and shade in allowed:
                colours[seat] = _colour(shade)
        parts = dict[str, float]()
        for seat, each in fields.items():
            rivals = each["rivals"]
            others = {colours.get(str(other)) for other in rivals} if isinstance(rivals, list) else set()
            parts[seat] = float(seat in colours and colours[seat] not in others)
        return Grade(parts, unreadable)

    def partial_results(self, task: SuiteTask, known: Collection[Fact]) -> Mapping[Value, frozenset[str]]:
        """A seat's shade stands for all that it follows from."""
        ids = {fact.id for fact in known}
        complete = [part for part in task.parts if ids.issuperset(part.needs)]
        solution = self.solve(setting_of(self, task)) if complete else {}
        return {number(int(str(solution[part.seat]))): frozenset(part.needs) for part in complete}


def _colour(shade: int) -> int:
    return shade // COLOUR_SIZE


def _shade(fresh: Fresh, colour: int) -> int:
    return fresh.number(colour * COLOUR_SIZE, colour * COLOUR_SIZE + COLOUR_SIZE - 1)


def _fences(setting: Setting) -> Shades:
    found: dict[str, list[int]] = {seat: [] for seat in setting.neighbours}
    for seat, record in setting.stated(FENCE.name):
        found[seat].append(record.number("number"))
    return found


def _allowed(shades: Shades, fences: Shades, neighbours: Neighbours) -> dict[str, list[int]]:
    colours = {seat: set(map(_colour, found)) for seat, found in fences.items()}
    return {
        seat: [each for each in found if not any(_colour(each) in colours[other] for other in neighbours[seat])]
        for seat, found in shades.items()
    }


def _elimination(shades: Shades, fences: Shades, neighbours: Neighbours) -> Iterator[tuple[str, int, list[str]]]:
    """Each seat once it has only one shade left, that shade, and the neighbours whose choice excluded another."""
    open_shades = _allowed(shades, fences, neighbours)
    causes: dict[str, list[str]] = {seat: [] for seat in neighbours}
    ready = [seat for seat, left in open_shades.items() if len(left) == 1]
    for seat in ready:
        [shade] = open_shades[seat]
        yield seat, shade, causes[seat]
        for other in neighbours[seat]:
            left = [each for each in open_shades[other] if _colour(each) != _colour(shade)]
            if len(left) < len(open_shades[other]):
                open_shades[other] = left
                causes[other].append(seat)
                if len(left) == 1:
                    ready.append(other)
