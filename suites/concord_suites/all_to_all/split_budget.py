"""Split budget: which requests of all seats a budget grants in the order of their priorities."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import ClassVar, Final

from pydantic import JsonValue

from concord.suite import Answers, Draw, Fact, Grade, Group, Neighbours, SuiteTask, Value
from concord.suite.value import code, number
from concord_suites.answers import as_list, read_each
from concord_suites.family import Drawn, ReferableStatement, Setting, TextFamily, grammar_of
from concord_suites.grammar import Fresh, Statement

FEWEST_REQUESTS: Final = 10

REQUEST: Final = ReferableStatement(
    Statement(
        "request",
        "Your request {request:code} over {amount:number} crowns has priority {priority:number}.",
        "You ask for {amount:number} crowns in request {request:code}, with priority {priority:number}.",
        "Request {request:code} is yours: {amount:number} crowns, priority {priority:number}.",
        "With priority {priority:number}, you handed in request {request:code} for {amount:number} crowns.",
    ),
    Statement(
        "request with a note",
        "Your request {request:code} has priority {priority:number} and a note with the amount.",
        "You ask for what the note says in request {request:code}, with priority {priority:number}.",
        "Request {request:code} is yours: amount as in its note, priority {priority:number}.",
        "With priority {priority:number}, you handed in request {request:code}, with its amount on a note.",
    ),
    Statement(
        "note",
        "The note to request {request:code} says {amount:number} crowns.",
        "{amount:number} crowns stand on the note to request {request:code}.",
        "The amount on the note to request {request:code} is {amount:number} crowns.",
        "On the note to request {request:code} you wrote {amount:number} crowns.",
    ),
)
WITHDRAWN: Final = Statement(
    "withdrawn",
    "You withdrew request {request:code} over {amount:number} crowns with priority {priority:number}.",
    "Last year, request {request:code} with priority {priority:number} brought you {amount:number} crowns.",
    "A draft of request {request:code} over {amount:number} crowns had priority {priority:number}.",
    "Priority {priority:number} was that of request {request:code} in spring, for {amount:number} crowns.",
)
_RULE: Final = (
    "The requests are decided in the order of their priorities, the highest number first. A request is granted if its "
    "amount is at most what is left of the budget, which then has less by that amount; otherwise it is refused."
)
_FORM: Final = "Answer with a JSON list of the codes of all granted requests of the other seats; leave out your own."
QUESTION: Final = Statement(
    "question",
    f"A school has {{budget:number}} crowns for the clubs' requests. {_RULE} Which are granted? {_FORM}",
    f"Split a school's budget of {{budget:number}} crowns among the requests of its clubs. {_RULE} {_FORM}",
    f"The clubs of a school share {{budget:number}} crowns. {_RULE} Who gets something? {_FORM}",
)


@dataclass(frozen=True, slots=True)
class BudgetRequest:
    """A seat's request. `amount` is in crowns."""

    seat: str
    code: str
    amount: int
    priority: int


class SplitBudget(TextFamily):
    """Every seat has to say which requests of the other seats are granted by a rule."""

    name: ClassVar = "split-budget"
    group: ClassVar = Group.ALL_TO_ALL
    summary: ClassVar = "the requests of all other seats that a budget grants by priority"
    openings: ClassVar = (
        "You lead a club of your school.",
        "Your club needs money.",
        "The school's clubs hand in their requests.",
    )
    statements: ClassVar = (*grammar_of(REQUEST), WITHDRAWN, QUESTION)

    def draw(self, draw: Draw, fresh: Fresh, neighbours: Neighbours, difficulty: int) -> Drawn:
        """Equally many requests per seat. About half are granted, among them the first two, of different seats.

        Requests that are refused take nothing from others, so only granted ones are facts. Chance is 0: no seat's brief
        states another seat's request.
        """
        order = draw.shuffled(list(neighbours))
        each = max(1 + difficulty // 2, -(-FEWEST_REQUESTS // len(order)))
        owners = [order[0], order[1], *draw.shuffled([*order[:2] * (each - 1), *order[2:] * each])]
        priorities = sorted((fresh.number(100, 999) for _ in owners), reverse=True)
        requests = [
            BudgetRequest(seat, fresh.code(), fresh.number(), priority)
            for seat, priority in zip(owners, priorities, strict=True)
        ]
        total = sum(request.amount for request in requests)
        budget = max(total * draw.between(45, 65) // 100, requests[0].amount + requests[1].amount)
        sentences: dict[str, list[str]] = {seat: [] for seat in neighbours}
        for request in requests:
            sentences[request.seat] += REQUEST.write(
                draw, fresh, difficulty, request=request.code, amount=request.amount, priority=request.priority
            )
        for seat in neighbours:
            for _ in range(difficulty - 1):
                key, amount, priority = fresh.code(), fresh.number(), draw.between(100, 999)
                sentences[seat].append(WITHDRAWN.write(draw, request=key, amount=amount, priority=priority))
        facts = [
            Fact(f"request {each.code}", (each.seat,), number(each.amount), code(each.code))
            for each in _granted(requests, budget)
        ]
        return Drawn(QUESTION.write(draw, budget=budget), sentences, facts)

    def solve(self, setting: Setting) -> Answers:
        """The granted requests of all seats but the one that answers."""
        granted = _granted(_requests(setting), setting.asked(QUESTION.name).number("budget"))
        return {seat: list[JsonValue](each.code for each in granted if each.seat != seat) for seat in setting.answerers}

    def key(self, setting: Setting) -> JsonValue:
        """The granted requests of each seat."""
        granted = _granted(_requests(setting), setting.asked(QUESTION.name).number("budget"))
        return {seat: [each.code for each in granted if each.seat == seat] for seat in setting.answerers}

    def grade(self, answers: Answers, key: JsonValue) -> Grade:
        """For each seat, the right requests less the wrong ones, as a part of all right ones; at least 0."""
        fields = key if isinstance(key, dict) else {}
        granted = {seat: set(map(str, each)) for seat, each in fields.items() if isinstance(each, list)}
        everything = set[str]().union(*granted.values())
        lists, unreadable = read_each(answers, granted, as_list)
        parts = dict.fromkeys(granted, 0.0)
        for seat, items in lists.items():
            named, right = {each.upper() for each in items}, everything - granted[seat]
            parts[seat] = max(0, len(named & right) - len(named - right)) / len(right)
        return Grade(parts, unreadable)

    def implied(self, task: SuiteTask, known: Collection[Fact], stated: Collection[Value]) -> frozenset[str]:
        """The first granted requests follow from their codes and from what is left of the budget after them."""
        left = self.setting(task.question).asked(QUESTION.name).number("budget")
        ids, done = {fact.id for fact in known}, list[str]()
        found = frozenset[str]()
        for fact in takewhile(lambda fact: fact.id in ids and fact.anchor in stated, task.facts):
            left, done = left - int(fact.value.text), [*done, fact.id]
            if number(left) in stated:
                found = frozenset(done)
        return found


def _requests(setting: Setting) -> list[BudgetRequest]:
    return [
        BudgetRequest(seat, record["request"], record.number("amount"), record.number("priority"))
        for seat, record in REQUEST.stated(setting)
    ]


def _granted(requests: Sequence[BudgetRequest], budget: int) -> list[BudgetRequest]:
    """The requests that the rule grants, in its order."""
    granted = []
    for request in sorted(requests, key=lambda each: each.priority, reverse=True):
        if request.amount <= budget:
            budget -= request.amount
            granted.append(request)
    return granted
