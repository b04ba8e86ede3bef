"""The clauses of a text, and the places that it denies, asks, supposes or takes back."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from concord_assistant.meaning.cues import (
    AFTER,
    ALL_BUT,
    ALL_SUPPOSED,
    ASKS,
    BETWEEN,
    BOUNDARY,
    BUT,
    CALLED_OFF,
    CORRECTED,
    FORMER,
    FROM,
    HARMLESS,
    HEDGE,
    HOW,
    LETTER,
    MOVED,
    NO,
    OR,
    OWN_EARLIER,
    PHRASE_DENIED,
    PHRASE_END,
    REFUSED,
    REQUEST,
    REST_DENIED,
    SENTENCE_END,
    SUGGESTED,
    SUPPOSED,
    TAKEN_BACK,
    TO,
    VERB_DENIED,
)
from concord_assistant.meaning.values import Found, find, normalised

REPLY_PREFIX: Final = re.compile(r"^\s*(re|aw|antw|sv)\s*(\[\d+\])?\s*:", re.IGNORECASE)
"""The beginning of a reply's subject, which the writer did not write."""

_QUOTE_HEAD: Final = re.compile(r"^\s*(?:On .{5,200} wrote:|-{2,}\s*Original Message\s*-{2,})\s*$", re.I)


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a sentence that asserts, asks or supposes. `at` and `end` are places in the text."""

    sentence: int
    at: int
    end: int
    text: str
    question: bool
    """Whether it stands in a question."""
    requested: bool
    """Whether that question is a request."""
    proposed: bool
    """Whether that question proposes something."""
    supposed: bool

    @property
    def asks(self) -> bool:
        """Whether it asks, with a question mark or without one."""
        return self.question or ASKS.match(self.text) is not None


@dataclass(frozen=True, slots=True)
class Spans:
    """Places of a text from a beginning to an end."""

    spans: tuple[tuple[int, int], ...]

    def __contains__(self, at: object) -> bool:
        """Whether a place is in one of them."""
        return isinstance(at, int) and any(start <= at < end for start, end in self.spans)


@dataclass(frozen=True, slots=True)
class Reading:
    """A text, read."""

    text: str
    marked: str
    """The text, with underscores for words of negation and condition that deny nothing and set no condition."""
    clauses: tuple[Clause, ...]
    values: tuple[Found, ...]
    denied: Spans
    refused: Spans
    """What verbs of refusal deny."""
    called_off: Spans
    """Clauses that say that something does not take place."""
    restricted: Spans
    """Clauses that the next one in the sentence restricts: "…, but I will not be there"."""
    former: Spans
    """Values that the text gives as replaced ones."""
    open_ended: Spans
    """The ends of ranges: "to 16:45"."""
    alternative: Spans
    """Values between which the text does not decide."""
    taken_back: bool
    """Whether the text takes back what it says."""
    begins_with_no: bool
    hedged: bool
    """Whether the text begins with words that leave open what it says."""

    @property
    def is_uncertain(self) -> bool:
        """Whether the text as a whole takes back, denies or leaves open what it says."""
        return self.taken_back or self.begins_with_no or self.hedged

    def clause_of(self, at: int) -> Clause | None:
        """The clause at a place."""
        return next((each for each in self.clauses if each.at <= at < each.end), None)


def own_lines(text: str) -> str:
    """A message without the messages that it quotes."""
    lines: list[str] = []
    for line in text.splitlines():
        if _QUOTE_HEAD.match(line):
            break
        if not line.lstrip().startswith(">"):
            lines.append(line)
    return "\n".join(lines)


def read(text: str) -> Reading:
    """Reads a text, without what it quotes of other messages."""
    plain = normalised(own_lines(text))
    marked = HARMLESS.sub(lambda found: "_" * len(found[0]), plain)
    sentences = list(_sentences(plain))
    clauses = tuple(each for number, span in enumerate(sentences) for each in _clauses(plain, marked, number, span))
    values = tuple(find(plain))
    former, ends = _changes(plain, clauses, values)
    return Reading(
        plain,
        marked,
        clauses,
        values,
        Spans(tuple(_denied(marked, clauses))),
        Spans(tuple(_refused(marked, clauses))),
        Spans(tuple((each.at, each.end) for each in clauses if CALLED_OFF.search(marked, each.at, each.end))),
        Spans(tuple(_restricted(plain, marked, clauses, values))),
        Spans(tuple(former)),
        Spans(tuple(ends)),
        Spans(tuple(_alternatives(plain, values))),
        TAKEN_BACK.search(plain) is not None and OWN_EARLIER.search(plain) is None,
        NO.match(plain) is not None,
        HEDGE.match(plain) is not None,
    )


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    ends = [match.end() for match in SENTENCE_END.finditer(text)]
    for at, end in pairwise([0, *ends, len(text)]):
        if LETTER.search(text, at, end):
            yield at, end


def _clauses(text: str, marked: str, number: int, span: tuple[int, int]) -> Iterator[Clause]:
    at, end = span
    whole = marked[at:end]
    question = text[at:end].rstrip().endswith("?")
    requested = question and REQUEST.search(whole) is not None and HOW.match(whole) is None
    proposed = question and SUGGESTED.search(whole) is not None
    supposed = ALL_SUPPOSED.search(whole) is not None
    cuts = [match.end() for match in BOUNDARY.finditer(text, at, end)]
    for start, stop in pairwise([at, *cuts, end]):
        if LETTER.search(text, start, stop):
            part = marked[start:stop]
            yield Clause(
                number,
                start,
                stop,
                text[start:stop],
                question,
                requested,
                proposed,
                supposed or SUPPOSED.search(part) is not None,
            )


def _denied(marked: str, clauses: tuple[Clause, ...]) -> Iterator[tuple[int, int]]:
    for clause in clauses:
        part = marked[clause.at : clause.end]
        if VERB_DENIED.search(part):
            yield clause.at, clause.end
        elif (found := REST_DENIED.search(part)) is not None and not _interjection(part, found):
            yield clause.at + found.start(), clause.end
        for phrase in PHRASE_DENIED.finditer(part):
            end = PHRASE_END.search(part, phrase.end())
            yield clause.at + phrase.start(), clause.at + (end.start() if end else len(part))


def _interjection(part: str, found: re.Match[str]) -> bool:
    """Whether "no" stands alone at the beginning of a sentence."""
    rest = part[found.end() :].lstrip(" ")
    return found[0].casefold() == "no" and (not rest or rest[0] in ",.!:;")


def _restricted(
    text: str, marked: str, clauses: tuple[Clause, ...], values: tuple[Found, ...]
) -> Iterator[tuple[int, int]]:
    """What "all but" excepts, and the clauses before a "but" with a clause that denies or calls off without a value."""
    for clause in clauses:
        if found := ALL_BUT.search(text, clause.at, clause.end):
            yield found.start(), clause.end
    for one, other in pairwise(clauses):
        if one.sentence != other.sentence or BUT.search(text, one.at, other.at) is None:
            continue
        opposes = VERB_DENIED.search(marked, other.at, other.end) or CALLED_OFF.search(marked, other.at, other.end)
        if opposes and not any(other.at <= each.at < other.end for each in values):
            yield one.at, one.end


def _refused(marked: str, clauses: tuple[Clause, ...]) -> Iterator[tuple[int, int]]:
    for clause in clauses:
        if (found := REFUSED.search(marked, clause.at, clause.end)) is not None:
            yield found.start(), clause.end


def _changes(
    text: str, clauses: tuple[Clause, ...], values: tuple[Found, ...]
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """The values that a text gives as replaced ones, and the ends of ranges."""
    former, ends = list[tuple[int, int]](), list[tuple[int, int]]()
    for clause in clauses:
        for cue in FORMER.finditer(text, clause.at, clause.end):
            former += [(each.at, each.end) for each in values if cue.end() <= each.at < clause.end][:1]
    for correction in CORRECTED.finditer(text):
        since = max((each.at for each in clauses if each.at <= correction.start()), default=0)
        sentence = next((each.sentence for each in clauses if each.at == since), 0)
        first = min((each.at for each in clauses if each.sentence >= sentence - 1), default=0)
        former += [(each.at, each.end) for each in values if first <= each.at < correction.start()]
    for value in values:
        if value.kind in {"date", "time", "weekday"} and AFTER.search(text, max(0, value.at - 20), value.at):
            ends.append((value.at, value.end))
    for one, other in pairwise(values):
        between = text[one.end : other.at]
        if one.kind != other.kind:
            continue
        if TO.fullmatch(between):
            around = next((each.text for each in clauses if each.at <= one.at < each.end), "")
            if FROM.search(text, max(0, one.at - 20), one.at) and MOVED.search(around):
                former.append((one.at, one.end))
            else:
                ends.append((other.at, other.end))
        elif one.kind != "number" and "and" in between and _is_between(text, one):
            ends.append((other.at, other.end))
    return former, ends


def _is_between(text: str, value: Found) -> bool:
    """Whether "between" stands before a value."""
    return BETWEEN.search(text, max(0, value.at - 20), value.at) is not None


def _alternatives(text: str, values: tuple[Found, ...]) -> Iterator[tuple[int, int]]:
    """The values of one kind between which the text does not decide. Values of other kinds may stand with them."""
    for kind in {each.kind for each in values}:
        for one, other in pairwise([each for each in values if each.kind == kind]):
            between = text[one.end : other.at]
            within = kind == "number" and "and" in between and _is_between(text, one)
            if within or OR.fullmatch(between):
                yield one.at, one.end
                yield other.at, other.end
