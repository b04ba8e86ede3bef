"""Messages and answers as language models and people write them: a test set for readers of such texts.

Every text is drawn from a `Draw`: the same draw gives the same text.
"""

import datetime
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from pydantic import JsonValue

from concord.suite import Draw, Fact, Kind, SuiteTask, Value
from tests.kit.players import wordings


def state(draw: Draw, task: SuiteTask, facts: Sequence[Fact], *, sender: str) -> str:
    """A message from `sender` that states these facts and no other value of the task. `facts` is not empty."""
    write_body, frames = draw.choice(_FORMS)
    return _framed(draw, task, draw.choice(_neutral(task, frames)), sender, write_body(draw, task, facts, sender))


def state_partial(draw: Draw, task: SuiteTask, value: Value, facts: Sequence[Fact], *, sender: str) -> str:
    """A message from `sender` that states `value` as the result of these facts, such as their sum."""
    clauses = draw.choice((wordings.PARTIAL, _partial_clauses(value, facts)))
    clause = draw.choice(_neutral(task, clauses))
    body = clause.format(value=_in_prose(draw, value), count=len(facts))
    if draw.chance(0.7):
        body, frames = _sentence(body), wordings.SENTENCE_FRAMES
    else:
        frames = wordings.SERIES_FRAMES
    return _framed(draw, task, draw.choice(_neutral(task, frames)), sender, body)


def distort(draw: Draw, task: SuiteTask, fact: Fact) -> Fact:
    """The fact with another value, wrong as by a slip: another of its domain, else one that the task holds nowhere.

    Raises ValueError if every slip yields a value of the task.
    """
    if others := [value for value in fact.domain if value != fact.value]:
        return replace(fact, value=draw.choice(others))
    slips = _date_slips(fact.value.text) if fact.value.kind is Kind.DATE else _text_slips(fact.value.text)
    texts = "\n".join(
        [*task.briefs.values(), task.question, json.dumps(task.key), *(value.text for value in _values(task))]
    )
    for kind in slips if fact.value.kind is Kind.DATE else draw.shuffled(slips):
        values = [Value(fact.value.kind, text) for text in kind]
        if free := [value for value in values if not _stands_in(value, texts)]:
            return replace(fact, value=draw.choice(free))
    raise ValueError(f"every slip of {fact.value.text} is a value of the task")


def chatter(draw: Draw, task: SuiteTask, *, sender: str) -> str:
    """A message from `sender` that states nothing: a greeting, a plan, a question, an acknowledgement or thanks."""
    return _framed(draw, task, draw.choice(_neutral(task, wordings.CHATTER)), sender, "")


def answer_text(draw: Draw, task: SuiteTask, seat: str, answer: JsonValue) -> JsonValue:
    """The same answer in one of the forms in which agents give answers."""
    if answer is None or draw.chance(0.2):
        return answer
    plain = answer if isinstance(answer, str) else json.dumps(answer)
    if isinstance(answer, list | dict):
        frames, text = wordings.JSON_ANSWERS, json.dumps(answer, indent=draw.choice((None, 2)))
    elif isinstance(answer, int) and not isinstance(answer, bool) and abs(answer) >= 1000:
        frames, text = wordings.NUMBER_ANSWERS, draw.choice((plain, f"{answer:,}"))
    else:
        frames, text = wordings.NUMBER_ANSWERS, plain
    shape = draw.below(10)
    if shape < 3:
        return text
    if shape < 5:
        return draw.choice(wordings.JSON_ANSWERS).format(json.dumps(answer))
    if shape < 6:
        return draw.choice(_neutral(task, wordings.SEAT_ANSWERS)).format(seat=seat, answer=text)
    if shape < 7:
        return json.dumps(answer)
    return draw.choice(_neutral(task, frames)).format(text)


def _sentences(draw: Draw, task: SuiteTask, facts: Sequence[Fact], sender: str) -> str:
    return " ".join(_sentence(_clause(draw, task, fact, sender)) for fact in draw.shuffled(facts))


def _lines(draw: Draw, task: SuiteTask, facts: Sequence[Fact], sender: str) -> str:
    bullet = draw.choice(wordings.BULLETS)
    clauses = [_clause(draw, task, fact, sender) for fact in draw.shuffled(facts)]
    return "\n".join(bullet.format(at=at) + clause for at, clause in enumerate(clauses, start=1))


def _series(draw: Draw, task: SuiteTask, facts: Sequence[Fact], sender: str) -> str:
    anchored = draw.choice(_neutral(task, wordings.ANCHORED))  # pairs in changing order would be ambiguous in a line
    *first, last = (_clause(draw, task, fact, sender, anchored) for fact in draw.shuffled(facts))
    separator, final = draw.choice(((", ", " and "), ("; ", "; "), (", ", ", ")))
    return final.join([separator.join(first), last] if first else [last])


def _records(draw: Draw, task: SuiteTask, facts: Sequence[Fact], sender: str) -> str:
    del sender
    shape, objects = draw.below(2), list[dict[str, JsonValue]]()
    for fact in draw.shuffled(facts):
        is_number = fact.value.kind is Kind.NUMBER
        value = int(fact.value.text) if is_number and draw.chance(0.6) else spelled(draw, fact.value)
        if fact.anchor:
            anchor = spelled(draw, fact.anchor)
            objects.append({anchor: value} if shape else {"id": anchor, _topic(task, fact): value})
        else:
            seat = draw.choice(fact.holders)
            objects.append({f"{_topic(task, fact)} of {seat}": value} if shape else {"seat": seat, "value": value})
    return ",\n".join("  " + json.dumps(each, ensure_ascii=False) for each in objects)


def _rows(draw: Draw, task: SuiteTask, facts: Sequence[Fact], sender: str) -> str:
    del sender
    rows = list[tuple[str, str]]()
    for fact in draw.shuffled(facts):
        label = _in_prose(draw, fact.anchor) if fact.anchor else f"{_topic(task, fact)} of {draw.choice(fact.holders)}"
        rows.append((label, _in_prose(draw, fact.value)))
    turned = draw.chance(0.3)
    return "\n".join(f"| {value} | {label} |" if turned else f"| {label} | {value} |" for label, value in rows)


_FORMS: Final[Sequence[tuple[Callable[[Draw, SuiteTask, Sequence[Fact], str], str], Sequence[str]]]] = (
    *((_sentences, wordings.SENTENCE_FRAMES),) * 4,
    *((_lines, wordings.LINE_FRAMES),) * 3,
    *((_series, wordings.SERIES_FRAMES),) * 2,
    (_records, wordings.RECORD_FRAMES),
    (_rows, wordings.TABLE_FRAMES),
)


def _clause(draw: Draw, task: SuiteTask, fact: Fact, sender: str, anchored: str | None = None) -> str:
    """A clause without a full stop that states the fact, or a quotation from its holder's brief.

    `anchored` is the wording for a fact with an anchor; None draws one.
    """
    own = sender in fact.holders
    holder = sender if own else draw.choice(fact.holders)
    fixed = anchored if fact.anchor else None
    if fixed is None and draw.chance(0.2) and (quote := _quote(draw, task, fact, holder)) is not None:
        clauses = wordings.QUOTING_OWN if own else wordings.QUOTING_OTHERS
        return draw.choice(_neutral(task, clauses)).format(holder=holder, quote=quote)
    clauses = wordings.OWN if own else wordings.OTHERS
    if fact.anchor:
        clauses = wordings.ANCHORED + (wordings.ABOUT_A_CODE if fact.anchor.kind is Kind.CODE else ())
    return (fixed or draw.choice(_neutral(task, clauses))).format(
        value=_in_prose(draw, fact.value),
        anchor=_in_prose(draw, fact.anchor) if fact.anchor else "",
        topic=_topic(task, fact),
        holder=holder,
        sender=sender,
    )


def _quote(draw: Draw, task: SuiteTask, fact: Fact, holder: str) -> str | None:
    """The sentence of the holder's brief that states the fact and no other value, with the values spelled anew."""
    values = [fact.value, fact.anchor] if fact.anchor else [fact.value]
    for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z0-9])", task.briefs[holder]):
        found = [next((text for text in spellings(each) if _holds(sentence, text)), None) for each in values]
        rest = sentence
        for text in found:
            rest = rest.replace(text or "", "")
        if None in found or re.search(r"\d\D?\d{3}", rest) or not _neutral(task, [rest]):
            continue
        for text, value in zip(found, values, strict=True):
            sentence = sentence.replace(text or "", spelled(draw, value))
        return sentence.removesuffix(".")
    return None


def spelled(draw: Draw, value: Value) -> str:
    """The value in one of its usual spellings."""
    return draw.choice(spellings(value))


def spellings(value: Value) -> list[str]:
    """The usual spellings of a value, without bold type, quotes or units."""
    text = value.text
    match value.kind:
        case Kind.NUMBER:
            return [f"{int(text):,}".replace(",", separator) for separator in wordings.SEPARATORS]
        case Kind.CODE:
            return [text, text.lower(), text.replace("-", ""), text.replace("-", "\u2011"), f"#{text}"]
        case Kind.DATE:
            return _date_spellings(datetime.date.fromisoformat(text))
        case _:
            return [text, text.lower(), text.upper(), text.capitalize()]


def _date_spellings(day: datetime.date) -> list[str]:
    month, ordinal = wordings.MONTHS[day.month - 1], f"{day.day}{_ordinal_suffix(day.day)}"
    texts = [
        day.isoformat(),
        *(f"{day.day} {each} {day.year}" for each in (month, month[:3])),
        *(f"{each} {day.day}, {day.year}" for each in (month, month[:3])),
        f"{month} {ordinal}, {day.year}",
        f"{ordinal} of {month} {day.year}",
    ]
    if day.day > 12:
        texts += [day.strftime(form) for form in ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y")]
    return texts


def _ordinal_suffix(number: int) -> str:
    return "th" if 10 < number < 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


def _in_prose(draw: Draw, value: Value) -> str:
    text = draw.choice(wordings.WRAPPINGS).format(spelled(draw, value))
    return draw.choice(wordings.NUMBER_UNITS).format(text) if value.kind is Kind.NUMBER else text


def _text_slips(text: str) -> list[list[str]]:
    """Every text with one character changed, and every text with two neighbouring characters swapped.

    A digit becomes a digit, and a letter becomes a letter of the same case. The first digit does not become 0.
    """
    changed, swapped = list[str](), list[str]()
    for at, character in enumerate(text):
        alphabet = next((each for each in ("0123456789", "aeioubdklmnrst", "ABDKLMNRST") if character in each), "")
        changed += [f"{text[:at]}{other}{text[at + 1 :]}" for other in alphabet if other != character]
        pair = text[at : at + 2]
        if len(set(pair)) == 2 and (pair.isdigit() or (pair.isalpha() and (pair.islower() or pair.isupper()))):
            swapped.append(f"{text[:at]}{pair[::-1]}{text[at + 2 :]}")
    return [[each for each in slips if not each.startswith("0")] for slips in (changed, swapped)]


def _date_slips(text: str) -> list[list[str]]:
    day = datetime.date.fromisoformat(text)
    near = [(day + datetime.timedelta(days)).isoformat() for days in (-10, -7, -2, -1, 1, 2, 7, 10)]
    far = [(day + datetime.timedelta(days)).isoformat() for days in (-366, -365, -61, -30, 30, 61, 365, 366)]
    return [near, far]


def _values(task: SuiteTask) -> Iterator[Value]:
    for fact in task.facts:
        yield from (fact.value, *fact.domain, *([fact.anchor] if fact.anchor else []))


def _stands_in(value: Value, text: str) -> bool:
    return any(_holds(text.casefold(), each.casefold()) for each in spellings(value))


def _holds(text: str, spelling: str) -> bool:
    return spelling in text and re.search(rf"(?<!\w){re.escape(spelling)}(?!\w)", text) is not None


def _neutral(task: SuiteTask, templates: Sequence[str]) -> Sequence[str]:
    """The templates in which no word is a value of the task. A domain may hold words such as "well" or "open"."""
    taken = _taken(_SameFacts(task))
    return [each for each in templates if taken.isdisjoint(_words(each))]


class _SameFacts:
    """A task as a key of a cache: equal to tasks with the very same facts, which take long to compare by value."""

    def __init__(self, task: SuiteTask) -> None:
        self.task = task

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _SameFacts) and other.task.facts is self.task.facts

    def __hash__(self) -> int:
        return id(self.task.facts)


@lru_cache(maxsize=64)
def _taken(key: _SameFacts) -> frozenset[str]:
    """The names and words among the values of a task."""
    return frozenset(value.text.casefold() for value in _values(key.task) if value.kind in {Kind.NAME, Kind.WORD})


@lru_cache(maxsize=1_000)
def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[\w-]+", text.casefold()))


def _topic(task: SuiteTask, fact: Fact) -> str:
    """The subject of the fact, from its id: "reading" for "reading of agent/1"."""
    found = re.match(r"[a-z]+(?= |$)", fact.id)
    return found[0] if found and _neutral(task, [found[0]]) else "entry"


def _partial_clauses(value: Value, facts: Sequence[Fact]) -> Sequence[str]:
    if value.kind is not Kind.NUMBER or any(fact.value.kind is not Kind.NUMBER for fact in facts):
        return wordings.PARTIAL
    numbers = [int(fact.value.text) for fact in facts]
    claims = (
        (sum(numbers), wordings.PARTIAL_SUM),
        (max(numbers), wordings.PARTIAL_HIGHEST),
        (min(numbers), wordings.PARTIAL_LOWEST),
    )
    return next((clauses for claim, clauses in claims if claim == int(value.text)), wordings.PARTIAL)


def _framed(draw: Draw, task: SuiteTask, frame: str, sender: str, body: str) -> str:
    other = draw.choice([seat for seat in task.seats if seat != sender])
    topic = _topic(task, draw.choice(task.facts))
    few, clock = draw.between(2, 9), draw.choice(wordings.CLOCKS)
    return frame.format(body=body, sender=sender, other=other, topic=topic, few=few, clock=clock)


def _sentence(clause: str) -> str:
    first = clause.split()[0]
    return f"{first.capitalize() if first.isalpha() else first}{clause[len(first) :]}."
