"""Route: a journey whose legs different seats know."""

from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar, Final

from pydantic import JsonValue

from concord.suite import Answers, Draw, Fact, Group, Neighbours, Part, SuiteTask, Value
from concord.suite.value import number
from concord_suites.family import Drawn, ObjectFamily, Setting, grammar_of, on_slip
from concord_suites.grammar import Fresh, Statement

MAX_STOPS: Final = 4
"""Places that the question asks about."""

LEG: Final = on_slip(
    Statement(
        "leg",
        "From {origin:name} the ferry goes to {goal:name} and takes {number:number} crowns.",
        "The ferry that leaves {origin:name} calls at {goal:name} next, for {number:number} crowns.",
        "A passenger who boards at {origin:name} pays {number:number} crowns and lands at {goal:name}.",
        "Between {origin:name} and the next stop, {goal:name}, the ferry costs {number:number} crowns.",
    ),
    Statement(
        "leg on a slip",
        "From {origin:name} the ferry goes to {goal:name} and takes the crowns on slip {slip:code}.",
        "The ferry that leaves {origin:name} calls at {goal:name} next, for the fare on slip {slip:code}.",
        "A passenger who boards at {origin:name} pays the fare of slip {slip:code} and lands at {goal:name}.",
        "Between {origin:name} and the next stop, {goal:name}, the fare is that of slip {slip:code}.",
    ),
)
OLD: Final = Statement(
    "old leg",
    "Until spring, a ferry went from {origin:name} to {goal:name} for {number:number} crowns.",
    "A ferry that sailed from {origin:name} to {goal:name} for {number:number} crowns has been scrapped.",
    "In an old timetable, {number:number} crowns bring you from {origin:name} to {goal:name}.",
    "There are plans for a ferry from {origin:name} to {goal:name}, at {number:number} crowns.",
)
STOP: Final = Statement(
    "stop",
    "One of these places is {stop:name}.",
    "We want to know the sum at {stop:name}.",
    "State the sum for {stop:name}.",
    "A place in question is {stop:name}.",
)
_RULE: Final = "Exactly one ferry leaves each place now, and you always take it to its next stop."
_FORM: Final = "Answer with a JSON object from each place in question to the sum."
QUESTION: Final = Statement(
    "question",
    f"You start at {{start:name}}. {_RULE} How many crowns have you paid in all by some later places? {_FORM}",
    f"A journey begins at {{start:name}}. {_RULE} What have the ferries cost together by some places? {_FORM}",
    f"What does it cost to go from {{start:name}} to some places by ferry? {_RULE} Add up all fares. {_FORM}",
)


class Route(ObjectFamily):
    """One seat has to say what a journey has cost by several of its stops."""

    name: ClassVar = "route"
    group: ClassVar = Group.PIPELINE
    summary: ClassVar = "the costs of a journey up to several stops, with its legs known to different seats"
    openings: ClassVar = (
        "You sell ferry tickets.",
        "The archipelago is served by many ferries.",
        "You know some of the ferries by heart.",
    )
    statements: ClassVar = (*grammar_of(LEG), OLD, STOP, QUESTION)

    def draw(self, draw: Draw, fresh: Fresh, neighbours: Neighbours, difficulty: int) -> Drawn:
        """One or two legs per seat. Ferries that join the journey from elsewhere, and old ones, are noise.

        Chance is 0: every sum holds the fare of the first leg, which the answerer's brief does not state.
        """
        legs_each = 1 if len(neighbours) > 4 and difficulty < 3 else 2
        owners = draw.shuffled([seat for seat in neighbours for _ in range(legs_each)])
        places = [fresh.name() for _ in range(len(owners) + 1)]
        fares = [fresh.number() for _ in owners]
        sentences: dict[str, list[str]] = {seat: [] for seat in neighbours}
        for at, seat in enumerate(owners):
            ends = {"origin": places[at], "goal": places[at + 1]}
            sentences[seat] += LEG.write(draw, fresh, difficulty, number=fares[at], **ends)
        for seat in neighbours:
            for _ in range(difficulty):
                ends = {"origin": fresh.name(), "goal": draw.choice(places)}
                sentences[seat] += LEG.write(draw, fresh, difficulty, number=fresh.number(), **ends)
            for _ in range(difficulty - 1):
                ends = {"origin": draw.choice(places), "goal": fresh.name()}
                sentences[seat].append(OLD.write(draw, number=fresh.number(), **ends))
        last = len(owners)
        many = min(MAX_STOPS, last)
        stops = [places[last * at // many] for at in range(1, many + 1)]
        question = [QUESTION.write(draw, start=places[0]), *(STOP.write(draw, stop=stop) for stop in stops)]
        return Drawn(
            question=" ".join(question),
            sentences=sentences,
            facts=[
                Fact(f"leg to {goal}", (seat,), number(fare))
                for seat, goal, fare in zip(owners, places[1:], fares, strict=True)
            ],
            answerer=draw.choice([seat for seat in neighbours if seat != owners[0]]),
        )

    def parts(self, drawn: Drawn, _neighbours: Neighbours) -> Sequence[Part]:
        """The sum at a stop follows from all legs up to there."""
        ids = [fact.id for fact in drawn.facts]
        stops = [record["stop"] for record in self.setting(drawn.question).each_asked(STOP.name)]
        return [Part(stop, drawn.answerer or "", tuple(ids[: ids.index(f"leg to {stop}") + 1])) for stop in stops]

    def solve(self, setting: Setting) -> Answers:
        """The sums at the stops in question, as far as the legs are known."""
        legs = {record["origin"]: record for _, record in LEG.stated(setting)}
        place, total = setting.asked(QUESTION.name)["start"], 0
        sums: dict[str, JsonValue] = {}
        for _ in range(len(legs)):
            if place not in legs:
                break
            total += legs[place].number("number")
            place = legs[place]["goal"]
            sums[place] = total
        stops = [record["stop"] for record in setting.each_asked(STOP.name)]
        return {seat: {stop: sums[stop] for stop in stops if stop in sums} for seat in setting.answerers}

    def partial_results(self, task: SuiteTask, known: Collection[Fact]) -> Mapping[Value, frozenset[str]]:
        """The sum of all legs from the first of a known run stands for these legs."""
        ids = {fact.id for fact in known}
        found = dict[Value, frozenset[str]]()
        run: list[Fact] = []
        for fact in task.facts:
            run = [*run, fact] if fact.id in ids else []
            if len(run) > 1:
                total = sum(int(each.value.text) for each in run)
                found[number(total)] = frozenset(each.id for each in run)
        return found
