"""Reliability: of contradicting measurements, the one by the most reliable surveyor."""

from collections.abc import Collection, Mapping
from typing import ClassVar, Final

from concord.suite import Answers, Draw, Fact, Group, Neighbours, SuiteTask, Value
from concord.suite.value import number
from concord_suites.family import Drawn, OneAnswerFamily, ReferableStatement, Setting, grammar_of
from concord_suites.grammar import Fresh, Statement

REPORT: Final = ReferableStatement(
    Statement(
        "report",
        "{surveyor:name} measured a depth of {depth:number} millimetres.",
        "{surveyor:name} reports that the lake is {depth:number} millimetres deep.",
        "According to {surveyor:name}, the depth is {depth:number} millimetres.",
        "A depth of {depth:number} millimetres was found by {surveyor:name}.",
    ),
    Statement(
        "report of a boat",
        "From boat {boat:code}, a depth of {depth:number} millimetres was measured.",
        "The surveyor on boat {boat:code} found the lake {depth:number} millimetres deep.",
        "Boat {boat:code} reports a depth of {depth:number} millimetres.",
        "According to boat {boat:code}, the depth is {depth:number} millimetres.",
    ),
    Statement(
        "boat",
        "Boat {boat:code} carried {surveyor:name}.",
        "{surveyor:name} was the surveyor on boat {boat:code}.",
        "On board of boat {boat:code} was {surveyor:name}.",
        "{surveyor:name} went out with boat {boat:code}.",
    ),
)
RATING: Final = Statement(
    "rating",
    "{surveyor:name} has {points:number} points for precision.",
    "For precision, {surveyor:name} holds {points:number} points.",
    "The precision of {surveyor:name} is rated with {points:number} points.",
    "{points:number} points for precision belong to {surveyor:name}.",
)
OTHER_LAKE: Final = Statement(
    "report on another lake",
    "Of another lake, {surveyor:name} gave the depth as {depth:number} millimetres.",
    "In the neighbouring lake, {surveyor:name} had found {depth:number} millimetres.",
    "{surveyor:name} has plumbed {depth:number} millimetres in a lake far away.",
    "A pond of {depth:number} millimetres was plumbed by {surveyor:name}.",
)
OLD_RATING: Final = Statement(
    "old rating",
    "Last year {surveyor:name} had {points:number} points.",
    "In an older list, {surveyor:name} stands with {points:number} points.",
    "The former rating of {surveyor:name} was {points:number} points.",
    "{surveyor:name} once had {points:number} points, which no longer count.",
)
_RULE: Final = "Right is the report by the surveyor who now has the most points of all who reported on this lake."
QUESTION: Final = Statement(
    "question",
    f"How deep is the lake, in millimetres? The reports differ. {_RULE} Answer with the number.",
    f"Surveyors disagree about the depth of the lake. {_RULE} Answer with the right depth in millimetres.",
    f"Which depth of the lake is right? {_RULE} Answer with that number of millimetres.",
)


class Reliability(OneAnswerFamily):
    """One seat has to name the value that the most reliable source reports.

    No seat knows the rating of a surveyor whose report it holds.
    """

    name: ClassVar = "reliability"
    group: ClassVar = Group.JUDGE
    summary: ClassVar = "of contradicting reports, the one by the most reliable source"
    openings: ClassVar = (
        "You help to map a lake.",
        "Your office draws the map of a lake.",
        "You collect papers about a lake.",
    )
    statements: ClassVar = (*grammar_of(REPORT), RATING, OTHER_LAKE, OLD_RATING, QUESTION)

    def draw(self, draw: Draw, fresh: Fresh, neighbours: Neighbours, difficulty: int) -> Drawn:
        """Two or three reports, and as many ratings, per seat. The surveyors with the most points sent no report.

        Chance is 0: the right report is never the answerer's.
        """
        ring = draw.shuffled(list(neighbours))
        sources = list[tuple[str, str]]()  # the seats that hold the report, and the rating
        for _ in range(2 + difficulty // 3):
            shift = draw.between(1, len(ring) - 1)
            sources += [(seat, ring[(at + shift) % len(ring)]) for at, seat in enumerate(ring)]
        unheard = 1 + difficulty // 2
        points = sorted(fresh.number() for _ in range(len(sources) + unheard))
        sources = draw.shuffled(sources)
        sentences: dict[str, list[str]] = {seat: [] for seat in neighbours}
        facts = list[Fact]()
        for at, ((reports, rates), rating) in enumerate(zip(sources, points, strict=False), start=1):
            surveyor, depth = fresh.name(), fresh.number()
            sentences[reports] += REPORT.write(draw, fresh, difficulty, surveyor=surveyor, depth=depth)
            sentences[rates].append(RATING.write(draw, surveyor=surveyor, points=rating))
            facts += [
                Fact(f"report {at}", (reports,), number(depth)),
                Fact(f"rating {at}", (rates,), number(rating)),
            ]
        for rating in points[len(sources) :]:
            surveyor, (rates, reports) = fresh.name(), draw.sample(ring, 2)
            sentences[rates].append(RATING.write(draw, surveyor=surveyor, points=rating))
            sentences[reports].append(OTHER_LAKE.write(draw, surveyor=surveyor, depth=fresh.number()))
        for seat in neighbours:
            for _ in range(difficulty - 1):
                sentences[seat].append(OTHER_LAKE.write(draw, surveyor=fresh.name(), depth=fresh.number()))
                sentences[seat].append(OLD_RATING.write(draw, surveyor=fresh.name(), points=fresh.number()))
        answerer = draw.choice([seat for seat in ring if seat != sources[-1][0]])
        return Drawn(QUESTION.write(draw), sentences, facts, answerer=answerer)

    def solve(self, setting: Setting) -> Answers:
        """The depth that the surveyor with the highest rating of all with a report reports."""
        depths = {record["surveyor"]: record.number("depth") for _, record in REPORT.stated(setting)}
        points = {record["surveyor"]: record.number("points") for _, record in setting.stated(RATING.name)}
        best = max(depths.keys() & points.keys(), key=lambda surveyor: points[surveyor])
        return dict.fromkeys(setting.answerers, depths[best])

    def partial_results(self, _task: SuiteTask, known: Collection[Fact]) -> Mapping[Value, frozenset[str]]:
        """The best report so far stands for all sources of which report and rating are known."""
        values = {fact.id: fact.value for fact in known}
        sources = [at for kind, at in map(str.split, values) if kind == "report" and f"rating {at}" in values]
        if not sources:
            return {}
        best = max(sources, key=lambda at: int(values[f"rating {at}"].text))
        return {values[f"report {best}"]: frozenset(f"{kind} {at}" for at in sources for kind in ("report", "rating"))}
