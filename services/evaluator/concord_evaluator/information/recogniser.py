"""Recognises the facts of a task in the text of a message."""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from concord.suite import Fact, Kind, SuiteTask, Value
from concord_evaluator.information.labels import Labels, Strange
from concord_evaluator.information.values import Found, normalised, read, values_in
from concord_evaluator.information.wide_tables import columns, headed, within

_SENTENCE_END: Final = re.compile(r"[.;!?](?=\s|$)|\n+")
_OBJECT: Final = re.compile(r"(?:^[^{}\n]*)?\{[^{}]*\}", re.MULTILINE)
"""A flat JSON object, with the key before it."""
_INDENTED: Final = re.compile(r"^([ \t]*)[^\s{}][^{}\n]*(?:\n\1[ \t]+[^\s{}][^{}\n]*)+", re.MULTILINE)
"""A line, and the deeper lines below it."""
CONCLUDING: Final = re.compile(
    r"(?<![^\W_])(?:so[ _-]far|as yet|yet|until now|up to (?:now|here)|in all|altogether|together|total|subtotal|sum|"
    r"result|maximum|max|minimum|min|highest|lowest|largest|smallest|greatest|most|least|best|leads?|leading|combin\w+|"
    r"merg\w+|partial|intermediate|running|cumulative|overall|added up|comes? to|makes?|stand|conclu\w+|therefore|"
    r"hence|thus|answers?|solutions?|(?:lower|less|lighter|smaller|higher|more|heavier|greater) than|at (?:most|least))"
    r"(?![^\W_])",
    re.IGNORECASE,
)
"""Words by which a sentence gives a result of several facts, or a bound for them, rather than one of them."""
_WORDED: Final = frozenset({Kind.NAME, Kind.WORD})
_FARTHEST: Final = 80
"""Characters between an anchor and a word that stands for its value: in a list of all words, every word has every other
near it."""
_MOST_NAMES: Final = 4
"""Names in a sentence one of which may be a result."""
_SHORTEST_NAME: Final = 5
"""Shorter words resemble a name by chance."""


@dataclass(frozen=True, slots=True)
class Stated:
    """The facts and values of a task that a text states."""

    facts: frozenset[str]
    values: frozenset[Value]
    """The values that stand by themselves, as `as_found` writes them: not those beside the anchor of a stated fact."""
    concluded: frozenset[Value]
    """Those of the values that stand in a sentence, or below a heading, which speaks of a result."""
    sentences: frozenset[frozenset[Value]]
    """The values of each sentence that has any."""
    contradicted: tuple[Strange, ...]
    """Other values beside the anchors of facts."""
    strange: tuple[Strange, ...]
    """Values that the task does not know, and words that resemble one of its names."""
    last: Mapping[str, int]
    """Where the text last states each fact by its value, alone or beside its anchor."""


class Recogniser:
    """Recognises the facts of one task."""

    def __init__(self, task: SuiteTask) -> None:
        self._plain: defaultdict[Value, list[str]] = defaultdict(list)
        self._anchored: defaultdict[Value, list[Fact]] = defaultdict(list)
        words = set[Value]()
        for fact in task.facts:
            if fact.anchor is None:
                self._plain[as_found(fact.value)].append(fact.id)
            else:
                self._anchored[as_found(fact.anchor)].append(fact)
            words |= {as_found(each) for each in (fact.value, fact.anchor, *fact.domain) if each is not None}
        self._domain = {as_found(each) for fact in task.facts for each in (*fact.domain, fact.value) if fact.anchor}
        self._kinds = frozenset(fact.value.kind for fact in task.facts if fact.anchor) - _WORDED
        self._names = sorted(
            {
                each.text.casefold()
                for fact in task.facts
                for each in (fact.value, fact.anchor)
                if each is not None and each.kind is Kind.NAME and len(each.text) >= _SHORTEST_NAME
            }
        )
        self._limit = task.message_limit
        texts = (*task.briefs.values(), task.question, "\n".join(task.seats))
        self._known = words | {found.value for text in texts for found in read(text)[1]}
        self._labels = Labels(task.facts)
        self._quotable = [normalised(each) for each in quotable(task)]
        self._references = list(_references(task))
        """The facts that a brief states by a code in two sentences, and the codes."""
        self._unanchored = set(self._plain) | {found.value for found in read(task.question)[1]}
        """Values that belong to no anchor: of facts without one, and of the question."""
        self._telling = words | _capitalised("\n".join(texts))
        """The words that count as values: those of facts, and names, which may be results."""

    def stated(self, text: str) -> Stated:
        """The facts and values that a text states."""
        plain, found = read(text[: self._limit])
        strange = self._strange(found)
        kept = [
            each
            for each in found
            if each in strange or each.value in (self._telling if each.value.kind is Kind.WORD else self._known)
        ]
        last = {fact_id: each.at for each in found for fact_id in self._plain.get(each.value, ())}
        beside, others, sentences = set[Found](), set[tuple[Found, Found]](), set[frozenset[Value]]()
        below_headings = columns(plain, kept, self._anchored, self._domain)
        pairs = [pair for column in below_headings for pair in self._pairs(column, strange)]
        for _, sentence in _sentences(self._with_records_in_a_line(plain, kept), kept):
            sentences.add(frozenset(each.value for each in sentence))
            pairs += [pair for pair in self._pairs(sentence, strange) if _is_near(*pair)]
        for anchor, value in pairs:
            about = [fact for fact in self._anchored[anchor.value] if as_found(fact.value) == value.value]
            last |= {fact.id: max(value.at, last.get(fact.id, 0)) for fact in about}
            beside |= {anchor, value} if about else set()
            others |= set() if about else {(anchor, value)}
        facts = last.keys() | self._by_reference(plain, kept)
        values = frozenset(each.value for each in kept if each not in beside)
        return Stated(
            frozenset(facts),
            values,
            values & _concluded(without_quotes(plain, self._quotable), kept),
            frozenset(sentences),
            tuple(self._contradicted(others, facts)),
            self._labels.named(plain, strange),
            last,
        )

    def _contradicted(self, pairs: Iterable[tuple[Found, Found]], told: Collection[str]) -> Iterator[Strange]:
        """The values that are not those of the facts whose anchors they stand beside, the last of each fact.

        Of several facts with one anchor, a value is of those that the text does not tell, if there are any.
        """
        last: dict[tuple[Value, Value], int] = {}
        for anchor, other in sorted(pairs, key=lambda pair: pair[1].at):
            last[anchor.value, other.value] = other.at
        for (of, value), at in last.items():
            alike = {fact.id for fact in self._anchored[of] if as_found(fact.value).kind is value.kind}
            if alike:
                yield Strange(value, at, frozenset(alike - set(told) or alike))

    def _by_reference(self, plain: str, kept: Sequence[Found]) -> set[str]:
        """The facts that a text states in two sentences, as briefs do: anchor and code, then code and value.

        So a seat that quotes its brief tells the facts of the brief.
        """
        with_code = _beside_codes(plain, kept) if self._references else {}
        return {
            fact.id
            for fact, codes in self._references
            if any({as_found(fact.value), _anchor_of(fact)} <= with_code.get(code, set()) for code in codes)
        }

    def _with_records_in_a_line(self, text: str, found: Sequence[Found]) -> str:
        """The text, in which a flat JSON object, or a line and the deeper lines below it, is one line.

        Only such as state the anchor of a fact and its value in different lines. All positions stay as they are.
        """
        if not self._anchored:
            return text
        for pattern in (_OBJECT, _INDENTED):
            kept, end = [], 0
            for record in pattern.finditer(text):
                if not self._pairs_within_a_line(text, record.start(), record.end(), found):
                    kept += [text[end : record.start()], record[0].replace("\n", " ")]
                    end = record.end()
            text = "".join([*kept, text[end:]])
        return text

    def _pairs_within_a_line(self, text: str, start: int, end: int, found: Sequence[Found]) -> bool:
        """Whether a line from one place of the text to another states both an anchor and a value."""
        within = found[bisect_left(found, start, key=_place) : bisect_left(found, end, key=_place)]
        lines, line, place = defaultdict[int, set[bool]](set), 0, start
        for each in within:
            line, place = line + text.count("\n", place, each.at), each.at
            if each.value in self._anchored or each.value in self._domain:
                lines[line].add(each.value in self._anchored)
        return any(len(kinds) == 2 for kinds in lines.values())

    def _strange(self, found: Sequence[Found]) -> frozenset[Found]:
        """The values that the task does not know, unless their text can also be read as one that it does."""
        known_at = {each.at for each in found if each.value in self._known and each.value.kind is not Kind.WORD}
        return frozenset(
            each
            for each in found
            if each.value not in self._known
            and each.at not in known_at
            and (each.value.kind is not Kind.WORD or self._resembles_a_name(each.value.text))
        )

    def _resembles_a_name(self, word: str) -> bool:
        return len(word) >= _SHORTEST_NAME and any(is_slip(word, name) for name in self._names)

    def _pairs(self, sentence: Sequence[Found], strange: frozenset[Found]) -> Iterator[tuple[Found, Found]]:
        """The anchors of facts in a sentence, each with a value that stands with it.

        A value of a brief that is no fact's, such as an old version, has its anchor, too.
        """
        anchors = [each for each in sentence if each.value in self._anchored]
        values = [
            each
            for each in sentence
            if each.value not in self._anchored
            and (each.value in self._domain or (each.value.kind in self._kinds and each.value not in self._unanchored))
        ]
        for anchor, value in _matched(anchors, values) if anchors and values else ():
            if value.value in self._domain or value in strange:
                yield anchor, value


def _matched(anchors: Sequence[Found], values: Sequence[Found]) -> Iterator[tuple[Found, Found]]:
    """Each anchor with its value in their order, if there are as many; else each of the more with the nearest."""
    if len(anchors) == len(values):
        yield from zip(anchors, values, strict=True)
    elif len(anchors) > len(values):
        yield from ((anchor, _nearest(anchor, values)) for anchor in anchors)
    else:
        yield from ((_nearest(value, anchors), value) for value in values)


def _references(task: SuiteTask) -> Iterator[tuple[Fact, frozenset[Value]]]:
    """The facts with an anchor that some brief states by a code in two sentences, and the codes."""
    by_seat = {}
    for seat, brief in task.briefs.items():
        by_seat[seat] = _beside_codes(*read(brief))
    for fact in task.facts:
        if fact.anchor is None:
            continue
        both = {as_found(fact.value), _anchor_of(fact)}
        codes = {code for seat in fact.holders for code, beside in by_seat[seat].items() if both <= beside}
        if codes := codes - both:
            yield fact, frozenset(codes)


def _beside_codes(plain: str, found: Sequence[Found]) -> Mapping[Value, set[Value]]:
    """The values that stand in one sentence with each code."""
    beside = defaultdict[Value, set[Value]](set)
    for _, sentence in _sentences(plain, found):
        values = {each.value for each in sentence}
        for code in (value for value in values if value.kind is Kind.CODE):
            beside[code] |= values
    return beside


def _anchor_of(fact: Fact) -> Value:
    if fact.anchor is None:
        raise ValueError(f"{fact.id} has no anchor")
    return as_found(fact.anchor)


def as_found(value: Value) -> Value:
    """A value as it is found in text: names are words there."""
    return Value(Kind.WORD, value.text.casefold()) if value.kind in _WORDED else value


def is_slip(text: str, other: str) -> bool:
    """Whether a text differs from another by one character, or by two neighbouring characters in turned order."""
    if len(text) != len(other) or text == other:
        return False
    places = [at for at in range(len(text)) if text[at] != other[at]]
    if len(places) == 2:
        first, second = places
        return second == first + 1 and (text[first], text[second]) == (other[second], other[first])
    return len(places) == 1


def quotable(task: SuiteTask) -> Sequence[str]:
    """The sentences of the briefs that have values and words of a result: who quotes one gives no result."""
    briefs = (_SENTENCE_END.split(brief) for brief in task.briefs.values())
    sentences = {each.strip(): None for brief in briefs for each in brief if CONCLUDING.search(each)}
    return [each for each in sentences if values_in(normalised(each))]


def without_quotes(text: str, sentences: Iterable[str]) -> str:
    """A text with blanks in place of sentences; all else stays in its place."""
    for sentence in sentences:
        text = text.replace(sentence, " " * len(sentence))
    return text


def _capitalised(text: str) -> set[Value]:
    """The words that a text never writes in lower case."""
    found = set(re.findall(r"[^\W\d_]+", text))
    lower = {word for word in found if word.islower()}
    return {Value(Kind.WORD, word.casefold()) for word in found} - {Value(Kind.WORD, word) for word in lower}


def _concluded(plain: str, kept: Sequence[Found]) -> set[Value]:
    """The values that a text gives as results, in a sentence, a JSON object or a column that says so."""
    if not CONCLUDING.search(plain):
        return set()
    lines = _OBJECT.sub(lambda record: record[0].replace("\n", " "), plain)
    found: list[Sequence[Found]] = [each for words, each in _sentences(lines, kept) if CONCLUDING.search(words)]
    found += [within(kept, cell) for heading, cell in headed(plain) if CONCLUDING.search(heading)]
    return set[Value]().union(*map(_results_in, found))


def _results_in(sentence: Sequence[Found]) -> set[Value]:
    """The values that a sentence may give as a result. A list of many names gives none of them."""
    names = {each.value for each in sentence if each.value.kind is Kind.WORD}
    return {each.value for each in sentence} - (names if len(names) > _MOST_NAMES else set())


def _place(found: Found) -> int:
    return found.at


def _is_near(anchor: Found, value: Found) -> bool:
    return value.value.kind is not Kind.WORD or abs(value.at - anchor.at) <= _FARTHEST


def _nearest(found: Found, others: Sequence[Found]) -> Found:
    return min(others, key=lambda each: abs(each.at - found.at))


def _sentences(text: str, found: Sequence[Found]) -> Iterator[tuple[str, list[Found]]]:
    """The sentences in which values stand, with the values."""
    ends = [0, *(match.end() for match in _SENTENCE_END.finditer(text)), len(text)]
    for place, group in groupby(found, key=lambda each: bisect_right(ends, each.at)):
        yield text[ends[place - 1] : ends[min(place, len(ends) - 1)]], list(group)
