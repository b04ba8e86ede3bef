"""Teams one of whose seats proposes answers, to which the others object by facts, or agree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

from pydantic import JsonValue

from concord.assessment.results import TurnRecord
from concord.suite import Fact
from concord_gateway.rounds.exchange import Rounds
from concord_gateway.rounds.reply import Reply
from tests.kit.players.play import reply
from tests.kit.players.teams import ScriptedTeam, Telling
from tests.kit.players.writings import answer_of


class Acceptance(Enum):
    """What a seat says that has no objection."""

    WITH_FACTS = auto()
    """Its facts, and the answer."""
    BY_NAME = auto()
    """That it accepts the answer, which it names."""
    IN_SILENCE = auto()
    """That it does not object."""
    BY_BOUND = auto()
    """That all it has is lower than the value on which the answer rests."""
    BY_ROUND_BOUND = auto()
    """The same of the next full thousand."""


@dataclass
class ProposingTeam(ScriptedTeam):
    """The seat at the root of the plan's tree proposes what follows from all that it knows, and says what that is.

    A proposal goes down the tree, and what the seats say to it comes up. A seat objects if something else follows from
    its facts and those behind the proposal. It then tells its facts, and the root makes another proposal. When nobody
    objects, the answers go down the tree.
    """

    partial_results: float = 0.0
    acceptance: Acceptance = Acceptance.WITH_FACTS
    _begun: int = 0
    """The round in which the last proposal was made; 0 before the first."""
    _grounds: tuple[Fact, ...] = ()
    """The facts behind the proposal."""
    _proposal: Mapping[str, JsonValue] = field(default_factory=dict)
    _agreed: bool = False
    _raised: dict[str, set[str]] = field(default_factory=dict)
    """By seat, the ids of the facts that it has to tell upwards."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._depths = {seat: len(self.plan.route(seat)) - 1 for seat in self.mind.task.seats}
        self._deepest = max(self._depths.values())
        [self._root] = [seat for seat, depth in self._depths.items() if depth == 0]

    def replies(self, rounds: Rounds) -> Mapping[str, Reply | TurnRecord]:
        """What goes down or up the tree in this round."""
        self._learn(rounds)
        if not self._begun or rounds.round == self._begun + 2 * self._deepest:
            self._propose(rounds.round)
        passed = rounds.round - self._begun
        replies: dict[str, Reply | TurnRecord] = {}
        for seat, depth in self._depths.items():
            messages = list[tuple[str, str]]()
            if depth == passed:
                messages = [(child, self._downwards(rounds.round, seat, child)) for child in self._children(seat)]
            if depth and 2 * self._deepest - depth == passed and not self._agreed:
                messages.append((self.plan.parents[seat], self._upwards(rounds.round, seat)))
            replies[seat] = reply(messages, self._proposal.get(seat) if self._agreed and depth <= passed else None)
        return replies

    def _children(self, seat: str) -> Sequence[str]:
        return [other for other, parent in self.plan.parents.items() if parent == seat]

    def _propose(self, number: int) -> None:
        known = tuple(self._believed[self._root])
        self._agreed = bool(self._proposal) and known == self._grounds
        self._begun, self._grounds, self._raised = number, known, {}
        if not self._agreed:
            self._proposal = self.mind.concluded(known)

    def _downwards(self, number: int, seat: str, child: str) -> str:
        telling = self._telling(number, seat, child, frozenset(fact.id for fact in self._grounds))
        below = [each for each in self._proposal if child in self.plan.route(each)] or list(self._proposal)[:1]
        answers = [answer_of(each, self._proposal[each]) for each in below]
        self._say(telling, text := self.written([*telling.facts, *answers]) or "What do you know?")
        return text

    def _upwards(self, number: int, seat: str) -> str:
        own = [fact for fact in self.mind.task.facts if seat in fact.holders and fact not in self._grounds]
        raised = self._raised.setdefault(seat, set())
        if self.acceptance is Acceptance.WITH_FACTS or self._objects(own):
            raised |= {fact.id for fact in own}
        telling = self._telling(number, seat, self.plan.parents[seat], frozenset(raised))
        text = self.written(telling.facts) if telling.facts else self._agreement(seat)
        self._say(telling, text)
        return text

    def _say(self, telling: Telling, text: str) -> None:
        self._on_the_way.append((telling, text))

    def _objects(self, own: Sequence[Fact]) -> bool:
        return bool(own) and (not self._proposal or self.mind.concluded([*self._grounds, *own]) != self._proposal)

    def _believe(self, telling: Telling) -> None:
        super()._believe(telling)
        if self.plan.parents.get(telling.sender) == telling.receiver:
            self._raised.setdefault(telling.receiver, set()).update(fact.id for fact in telling.facts)

    def _agreement(self, seat: str) -> str:
        """What a seat says that neither objects nor passes an objection on."""
        if not self._proposal:
            return "I have nothing to add."
        match self.acceptance:
            case Acceptance.BY_BOUND | Acceptance.BY_ROUND_BOUND:
                bound = self._bound()
                if self.acceptance is Acceptance.BY_ROUND_BOUND:
                    bound = -(-bound // 1000) * 1000
                alone = not self._children(seat) and not any(seat in fact.holders for fact in self._grounds)
                return f"{'Mine are' if alone else 'All others that I know are'} lower than {bound:,}."
            case Acceptance.IN_SILENCE:
                return "No objection."
            case _:
                named = seat if seat in self._proposal else next(iter(self._proposal))
                return f"Accepted. {self.written([answer_of(named, self._proposal[named])])}"

    def _bound(self) -> int:
        """The lowest number that may still be a part of the answer, as far as is known."""
        ranked = sorted((int(fact.value.text) for fact in self._grounds), reverse=True)
        places = {"maximum": 1, "second-price": 2}.get(self.mind.family.name) or len(self.mind.task.parts)
        return ranked[min(places, len(ranked)) - 1]
