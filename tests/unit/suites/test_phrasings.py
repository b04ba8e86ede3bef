"""Generated messages state the given facts and no others, and generated answers keep their content."""

import datetime
import json
import re
import unicodedata
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from concord.suite import Bound, Draw, Fact, Kind, SuiteTask, Topology, Value, instance_secret, neighbours_in
from concord.suite.value import code, date, name, number, word
from concord_suites import FAMILIES
from concord_suites.family import setting_of
from tests.kit.players.phrasings import answer_text, chatter, distort, state, state_partial

TEAM = [f"agent/{number}" for number in range(1, 6)]
CANDIDATES = tuple(word(text) for text in ("torvald", "mavra", "oskel", "well"))


def invented_task() -> SuiteTask:
    """A task with facts of every kind, with and without an anchor. A word of its domain stands in many messages."""
    facts = (
        Fact("minimum", ("agent/1",), number(48213)),
        Fact("parcel of agent/2", ("agent/2", "agent/3"), code("KX-44718")),
        Fact("guest of agent/3", ("agent/3",), name("Quorvath")),
        Fact("departure of agent/4", ("agent/4",), date(datetime.date(2031, 3, 14))),
        Fact("return of agent/4", ("agent/4",), date(datetime.date(2031, 4, 2))),
        Fact("ballot 1", ("agent/1",), word("torvald"), code("LM-10382"), CANDIDATES),
        Fact("ballot 2", ("agent/5",), word("well"), code("BD-59120"), CANDIDATES),
        Fact("rank of agent/5", ("agent/5",), number(90417), name("Dresevane")),
        Fact("hours of agent/5", ("agent/5",), number(1203456), name("Dresevane")),
    )
    briefs = {
        "agent/1": "You count. The minimum is 48,213 points. Ballot LM-10382 names torvald. It is not 12345.",
        "agent/2": "You carry parcel KX-44718. Last year it was parcel KX-44719.",
        "agent/3": "Your guest is Quorvath. The parcel next door is KX-44718.",
        "agent/4": "You leave on 14 March 2031. You return on April 2, 2031. You left on 2031-03-15 before.",
        "agent/5": "Ballot BD-59120 names well. Badge Dresevane has rank 90417. Dresevane has 1,203,456 hours.",
    }
    return SuiteTask(
        family="invented",
        difficulty=1,
        neighbours=neighbours_in(Topology.COMPLETE, TEAM, Draw(b"team")),
        question="Who goes where, and when?",
        briefs=briefs,
        answerers=("agent/1",),
        key={"agent/1": 1},
        facts=facts,
        parts=(),
        fewest_messages=Bound(1, False, ""),
        fewest_rounds=Bound(1, False, ""),
        chance=0.0,
    )


def generated_task(family: str) -> SuiteTask:
    """A task of a shipped family for five seats."""
    secret = instance_secret(bytes(32), family, "trial", 1)
    [found] = [each for each in FAMILIES if each.name == family]
    return found.generate(secret, neighbours_in(Topology.RING, TEAM, Draw(secret)), 3)


TASKS = {"invented": invented_task()} | {family.name: generated_task(family.name) for family in FAMILIES}
ANY_TASK = st.sampled_from(list(TASKS)).map(TASKS.__getitem__)
SECRETS = st.binary(min_size=1, max_size=8)
MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
DATE_PATTERNS = (
    r"(?P<y>\d{4})-(?P<m>\d\d)-(?P<d>\d\d)",
    r"(?P<d>\d\d?)(?:st|nd|rd|th)?(?: of)? (?P<m>MONTH)[a-z]* (?P<y>\d{4})",
    r"(?P<m>MONTH)[a-z]* (?P<d>\d\d?)(?:st|nd|rd|th)?, (?P<y>\d{4})",
    r"(?P<d>\d\d)[./](?P<m>\d\d)[./](?P<y>\d{4})",
    r"(?P<m>\d\d)/(?P<d>\d\d)/(?P<y>\d{4})",
)


def dates(text: str) -> set[str]:
    """Every day in a text in lower case, as ISO 8601."""
    found = set[str]()
    patterns = [pattern.replace("MONTH", "|".join(MONTHS)) for pattern in DATE_PATTERNS]
    for each in (match for pattern in patterns for match in re.finditer(rf"(?<!\w){pattern}(?!\w)", text)):
        month = MONTHS.index(each["m"]) + 1 if each["m"] in MONTHS else int(each["m"])
        if month <= 12:
            found.add(datetime.date(int(each["y"]), month, int(each["d"])).isoformat())
    return found


def holds(text: str, value: Value) -> bool:
    """Whether the value stands in a text, however it is spelled: letters and digits decide."""
    text = unicodedata.normalize("NFKC", text).casefold()
    match value.kind:
        case Kind.DATE:
            return value.text in dates(text)
        case Kind.NUMBER:
            pattern = r"[^\w\d]?_?".join(value.text)
        case Kind.CODE:
            pattern = value.text.casefold().replace("-", r"\W?")
        case _:
            pattern = re.escape(value.text.casefold())
    return re.search(rf"(?<![a-z0-9]){pattern}(?![a-z0-9])", text) is not None


def states(text: str, fact: Fact) -> bool:
    """Whether the text holds the fact's value, in a sentence or line with its anchor if it has one."""
    if fact.anchor is None:
        return holds(text, fact.value)
    sentences = re.split(r"\n|(?<=[.!?]) ", text)
    return any(holds(each, fact.value) and holds(each, fact.anchor) for each in sentences)


def some_facts(draw: Draw, task: SuiteTask) -> list[Fact]:
    """One to four facts of a task."""
    return draw.sample(task.facts, draw.between(1, min(4, len(task.facts))))


def seeds(count: int) -> list[Draw]:
    """Different draws, the same in every run."""
    return [Draw(b"phrasing %d" % number) for number in range(count)]


@given(task=ANY_TASK, secret=SECRETS)
def test_a_message_states_its_facts_and_no_other(task: SuiteTask, secret: bytes) -> None:
    draw = Draw(secret)
    facts = some_facts(draw, task)
    text = state(draw, task, facts, sender=draw.choice(TEAM))
    assert [fact for fact in task.facts if states(text, fact)] == [fact for fact in task.facts if fact in facts], text


@given(task=ANY_TASK, secret=SECRETS)
def test_chatter_holds_no_value(task: SuiteTask, secret: bytes) -> None:
    draw = Draw(secret)
    text = chatter(draw, task, sender=draw.choice(TEAM))
    values = {value for fact in task.facts for value in (fact.value, fact.anchor, *fact.domain) if value is not None}
    assert [value for value in values if holds(text, value)] == []


@given(task=ANY_TASK, secret=SECRETS)
def test_a_partial_result_stands_in_its_message_and_nothing_else_of_the_task(task: SuiteTask, secret: bytes) -> None:
    draw = Draw(secret)
    total = number(7_654_321)
    text = state_partial(draw, task, total, some_facts(draw, task), sender=draw.choice(TEAM))
    assert holds(text, total)
    assert [fact for fact in task.facts if states(text, fact)] == []


@given(task=ANY_TASK, secret=SECRETS)
def test_a_distorted_fact_has_another_value_of_its_domain_or_a_new_one_of_its_kind(
    task: SuiteTask, secret: bytes
) -> None:
    draw = Draw(secret)
    fact = draw.choice(task.facts)
    wrong = distort(draw, task, fact)
    assert (wrong.id, wrong.holders, wrong.anchor, wrong.domain) == (fact.id, fact.holders, fact.anchor, fact.domain)
    assert wrong.value != fact.value
    assert wrong.value.kind is fact.value.kind
    if fact.domain:
        assert wrong.value in fact.domain
    else:
        assert not any(holds(text, wrong.value) for text in (*task.briefs.values(), json.dumps(task.key)))
        assert wrong.value not in {value for each in task.facts for value in (each.value, each.anchor)}


def test_a_fact_without_a_free_slip_cannot_be_distorted() -> None:
    task = TASKS["invented"]
    day = datetime.date(2031, 3, 14)
    around = " ".join((day + datetime.timedelta(days)).isoformat() for days in range(-400, 401))
    crowded = replace(task, question=around)
    with pytest.raises(ValueError, match="every slip of 2031-03-14"):
        distort(Draw(b"x"), crowded, next(fact for fact in task.facts if fact.value == date(day)))


def content(given: JsonValue, answer: JsonValue) -> bool:
    """Whether a given answer holds `answer`: as JSON anywhere in it, or as text."""
    if given == answer:
        return True
    text = str(given)
    if isinstance(answer, list | dict):
        start, end = (
            (text.find("["), text.rfind("]")) if isinstance(answer, list) else (text.find("{"), text.rfind("}"))
        )
        return bool(json.loads(text[start : end + 1]) == answer)
    return str(answer) in text.replace(",", "")


@pytest.mark.parametrize("answer", [48213, 7, "Quorvath", ["KX-44718", "LM-10382"], {"agent/1": 1, "b": "red"}])
def test_an_answer_keeps_its_content_in_every_form(answer: JsonValue) -> None:
    given = [answer_text(draw, TASKS["invented"], "agent/1", answer) for draw in seeds(200)]
    assert all(content(each, answer) for each in given)
    assert answer in given
    assert len({str(each) for each in given}) >= 5


def test_answers_of_families_are_given_by_each_answerer() -> None:
    for family, draw in product(FAMILIES, seeds(20)):
        task = TASKS[family.name]
        for seat, answer in family.solve(setting_of(family, task)).items():
            assert content(answer_text(draw, task, seat, answer), answer)
