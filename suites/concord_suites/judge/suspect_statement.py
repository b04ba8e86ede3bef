"""Suspect statement: the only witness whose statement is false, as loads that several seats saw show together."""

from collections.abc import Collection, Mapping
from typing import ClassVar, Final

from concord.suite import Draw, Fact, Group, Neighbours, SuiteTask, Value
from concord.suite.value import name, number
from concord_suites.answer_kinds import ChoiceFamily
from concord_suites.family import Drawn, ReferableStatement, Setting, grammar_of
from concord_suites.grammar import Fresh, Statement

LOAD: Final = ReferableStatement(
    Statement(
        "load",
        "You saw a barge of convoy {convoy:name} unload {sacks:number} sacks.",
        "A barge of convoy {convoy:name} brought {sacks:number} sacks to your quay.",
        "At your quay, convoy {convoy:name} unloaded {sacks:number} sacks from a barge.",
        "You counted {sacks:number} sacks on a barge of convoy {convoy:name}.",
    ),
    Statement(
        "load of a barge",
        "You saw barge {barge:code} unload {sacks:number} sacks.",
        "Barge {barge:code} brought {sacks:number} sacks to your quay.",
        "At your quay, {sacks:number} sacks were unloaded from barge {barge:code}.",
        "You counted {sacks:number} sacks on barge {barge:code}.",
    ),
    Statement(
        "convoy of a barge",
        "Barge {barge:code} sailed in convoy {convoy:name}.",
        "Barge {barge:code} belonged to convoy {convoy:name}.",
        "To convoy {convoy:name} belonged barge {barge:code}.",
        "Convoy {convoy:name} had barge {barge:code} with it.",
    ),
)
CLAIM: Final = Statement(
    "claim",
    "{witness:name} states that convoy {convoy:name} carried {relation:word} than {sacks:number} sacks.",
    "According to {witness:name}, convoy {convoy:name} had {relation:word} than {sacks:number} sacks on board.",
    "The statement of {witness:name} says {relation:word} than {sacks:number} sacks for convoy {convoy:name}.",
    "Convoy {convoy:name} carried {relation:word} than {sacks:number} sacks, as {witness:name} states.",
)
RETRACTED: Final = Statement(
    "retracted claim",
    "{witness:name} took back a statement about {relation:word} than {sacks:number} sacks of convoy {convoy:name}.",
    "A rumour that convoy {convoy:name} had {relation:word} than {sacks:number} sacks goes back to {witness:name}.",
    "Before the trip, {witness:name} expected {relation:word} than {sacks:number} sacks from convoy {convoy:name}.",
    "{witness:name} was ready to bet on {relation:word} than {sacks:number} sacks for convoy {convoy:name}.",
)
ORDER: Final = Statement(
    "order",
    "From convoy {convoy:name}, a merchant had ordered {sacks:number} sacks.",
    "A merchant hoped to buy {sacks:number} sacks from convoy {convoy:name}.",
    "On another journey, {sacks:number} sacks came with convoy {convoy:name}.",
    "There would have been room for {sacks:number} sacks in convoy {convoy:name}.",
)
_RULE: Final = (
    "Each convoy had {barges:number} barges, and carried what they unloaded at all quays together. Rumours, guesses "
    "and statements that were taken back do not count."
)
QUESTION: Final = Statement(
    "question",
    f"Exactly one witness makes a false statement. Which one? {_RULE} Answer with the name.",
    f"All witnesses but one state the truth about what convoys carried. {_RULE} Answer with that one's name.",
    f"Find the one witness whose statement is false. {_RULE} Answer with the name of the witness.",
)


class SuspectStatement(ChoiceFamily):
    """One seat has to name the witness whose statement the observations of several seats contradict."""

    name: ClassVar = "suspect-statement"
    group: ClassVar = Group.JUDGE
    summary: ClassVar = "the only witness whose statement is false, as loads seen by several seats show"
    openings: ClassVar = (
        "You are the warden of a quay.",
        "Your quay is one of several in a harbour.",
        "You watch over a quay where barges unload.",
    )
    statements: ClassVar = (*grammar_of(LOAD), CLAIM, RETRACTED, ORDER, QUESTION)

    def draw(self, draw: Draw, fresh: Fresh, neighbours: Neighbours, difficulty: int) -> Drawn:
        """As many convoys as seats, each with barges at two to four quays, and a witness that yet another seat heard.

        Each statement is so close to its convoy's total that it takes all loads to judge it. Chance is 0: the answerer
        has not heard the false witness.
        """
        ring = draw.shuffled(list(neighbours))
        barges = min(len(ring), 2 + difficulty // 2)
        convoys = [fresh.name() for _ in ring]
        sentences: dict[str, list[str]] = {seat: [] for seat in neighbours}
        facts = list[Fact]()
        for at, convoy in enumerate(convoys):
            quays, hearer = [ring[(at + step) % len(ring)] for step in range(barges)], ring[(at + barges) % len(ring)]
            loads, witness = [fresh.number(20_000, 90_000) for _ in quays], fresh.name()
            for seat, sacks in zip(quays, loads, strict=True):
                sentences[seat] += LOAD.write(draw, fresh, difficulty, convoy=convoy, sacks=sacks)
            is_false, relation = not facts, draw.choice(("more", "less"))
            claimed = _claimed(fresh, sum(loads), is_above=(relation == "less") != is_false)
            sentences[hearer].append(
                CLAIM.write(draw, witness=witness, convoy=convoy, relation=relation, sacks=claimed)
            )
            if is_false:
                facts = [
                    Fact(f"load {each}", (seat,), number(sacks))
                    for each, (seat, sacks) in enumerate(zip(quays, loads, strict=True), start=1)
                ]
                facts.append(Fact("statement", (hearer,), number(claimed), anchor=name(witness)))
        for seat in neighbours:
            for _ in range(difficulty - 1):
                about, relation = draw.choice(convoys), draw.choice(("more", "less"))
                sentences[seat] += [
                    ORDER.write(draw, convoy=about, sacks=fresh.number()),
                    RETRACTED.write(draw, witness=fresh.name(), convoy=about, relation=relation, sacks=fresh.number()),
                ]
        answerer = draw.choice([seat for seat in ring if seat not in facts[-1].holders])
        return Drawn(QUESTION.write(draw, barges=barges), sentences, facts, answerer=answerer)

    def options(self, setting: Setting) -> list[str]:
        """All witnesses."""
        return sorted(record["witness"] for _, record in setting.stated(CLAIM.name))

    def right(self, setting: Setting) -> str:
        """The witness whose statement all of a convoy's loads together contradict."""
        barges = setting.asked(QUESTION.name).number("barges")
        loads: dict[str, list[int]] = {}
        for _, record in LOAD.stated(setting):
            loads.setdefault(record["convoy"], []).append(record.number("sacks"))
        [false] = [
            record["witness"]
            for _, record in setting.stated(CLAIM.name)
            if len(carried := loads.get(record["convoy"], [])) == barges
            and (sum(carried) > record.number("sacks")) != (record["relation"] == "more")
        ]
        return false

    def partial_results(self, task: SuiteTask, known: Collection[Fact]) -> Mapping[Value, frozenset[str]]:
        """The sum of known loads stands for them, and the witness for all facts."""
        loads = [fact for fact in known if fact.anchor is None]
        total = {number(sum(int(fact.value.text) for fact in loads)): frozenset(fact.id for fact in loads)}
        return {**(total if len(loads) > 1 else {}), **super().partial_results(task, known)}


def _claimed(fresh: Fresh, total: int, *, is_above: bool) -> int:
    """A number 1,000 to 9,000 away from a convoy's total.

    Each load is at least that far from the least and the greatest number of five digits, so that a statement can be
    true or false as long as one load is unknown.
    """
    return fresh.number(total + 1_000, total + 9_000) if is_above else fresh.number(total - 9_000, total - 1_000)
