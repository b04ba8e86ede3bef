"""Recognises the facts of a task in the text of a message."""

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Final

from concord.suite import Fact, Kind, SuiteTask, Value
from concord.suite.denial import is_denied
from concord.suite.value_reader import FoundValue, normalised, read, values_in

# Finds the fact that a text names beside a value which the task does not know: "agent/2's reading is 51872".

MAX_NAMED: Final = 200
"""Unknown values of a text of which the name is looked for, the first ones."""

_TOKEN: Final = re.compile(r"[^\W_]+(?:[/-][^\W_]+)*")
_EMPTY: Final = frozenset({"of", "to", "on", "from", "and", "the"})
_BOUND: Final = re.compile(r"\b(?:than|at (?:most|least)|(?:up|down) to)[^.;!?\n]{0,20}\Z", re.IGNORECASE)
"""What may stand before a bound."""
_BEFORE: Final = 32
"""Characters before a value in which it is looked for."""
_FLAT_OBJECT: Final = re.compile(r"\{[^{}]*\}")
_CLAUSE_END: Final = re.compile(r"[.;!?](?=\s|$)|\n")


@dataclass(frozen=True, slots=True)
class Strange:
    """A value that is no fact's, where a text states it last, and the facts that are named beside it."""

    value: Value
    at: int
    about: frozenset[str]
    is_bound: bool = False
    """Whether a value is said to be above or below it."""


class Labels:
    """The names of a task's facts, such as "reading of agent/2"."""

    def __init__(self, facts: Sequence[Fact]) -> None:
        tokens = {fact.id: _tokens(fact.id) - _tokens(fact.value.text) - _EMPTY for fact in facts}
        often = Counter(token for each in tokens.values() for token in each)
        self._names = {fact: _distinctive(each, often, len(facts)) for fact, each in tokens.items()}
        shared = Counter(self._names.values())
        self._by_token = defaultdict[str, list[str]](list)
        for fact, name in self._names.items():
            if name and shared[name] == 1:
                self._by_token[min(name, key=lambda token: (often[token], token))].append(fact)

    def named(self, text: str, strange: Iterable[FoundValue]) -> tuple[Strange, ...]:
        """The values, each once and with the only fact that the sentence or the record around it names in full."""
        last = {each.value: each for each in sorted(strange, key=lambda each: each.at)}
        record_at = _records(text) if last else None
        found = []
        for number, (value, each) in enumerate(last.items()):
            record = record_at(each.at) if record_at and number < MAX_NAMED else ""
            found.append(Strange(value, each.at, self._named_in(record), bool(_BOUND.search(text[: each.at]))))
        return tuple(found)

    def _named_in(self, text: str) -> frozenset[str]:
        """The only fact that a text names in full; none if it names several."""
        tokens = _tokens(text)
        named = [fact for token in tokens for fact in self._by_token.get(token, ()) if self._names[fact] <= tokens]
        most = max((len(self._names[fact]) for fact in named), default=0)
        best = {fact for fact in named if len(self._names[fact]) == most}
        return frozenset(best if len(best) == 1 else ())


def _records(text: str) -> Callable[[int], str]:
    """Gives the flat JSON object around a place in a text; else its sentence or line."""
    objects = [match.span() for match in _FLAT_OBJECT.finditer(text)]
    ends = [0, *(match.end() for match in _CLAUSE_END.finditer(text)), len(text)]

    def record(at: int) -> str:
        start, end = objects[max(0, bisect_right(objects, (at, len(text))) - 1)] if objects else (0, 0)
        if start <= at < end:
            return text[start:end]
        place = bisect_right(ends, at)
        return text[ends[place - 1] : ends[min(place, len(ends) - 1)]]

    return record


def _tokens(text: str) -> frozenset[str]:
    """The words and names of a text. A small number stands with the word before it: "part 2"."""
    found = [token.removesuffix("'s") for token in _TOKEN.findall(text.casefold())]
    return frozenset(
        f"{before} {token}" if token.isdigit() else token for before, token in zip(["", *found], found, strict=False)
    )


def _distinctive(tokens: frozenset[str], often: Counter[str], facts: int) -> frozenset[str]:
    """The tokens without those that most facts share, unless nothing is left."""
    return frozenset(token for token in tokens if 2 * often[token] <= facts) or tokens


# Reads tables in a message, in which a heading says what the cells below it are about.

_OF_PROSE: Final = (";", ",")
_DELIMITERS: Final = ("|", "\t", *_OF_PROSE)
_RULE: Final = re.compile(r"[|\s:+-]*")
"""A line between headings and cells."""
_FULL_STOP: Final = re.compile(r"[.!?]\s")

Cell = tuple[int, int]
"""Where a cell begins and ends in the text."""


@dataclass(frozen=True, slots=True)
class Table:
    """Lines with as many cells each."""

    delimiter: str
    headings: tuple[Cell, ...]
    rows: tuple[tuple[Cell, ...], ...]


def tables(text: str) -> Iterator[Table]:
    """All runs of at least two neighbouring lines that have as many cells. Rules under headings do not count."""
    if "\n" not in text:
        return
    lines = list(_lines(text))
    for delimiter in _DELIMITERS:
        if delimiter not in text:
            continue
        rows = [_cells(text, start, end, delimiter) for start, end in lines]
        breaks = [at for at, (row, other) in enumerate(pairwise(rows), 1) if len(row) != len(other)]
        for first, last in pairwise([0, *breaks, len(rows)]):
            if last - first > 1 and rows[first]:
                yield Table(delimiter, rows[first], tuple(rows[first + 1 : last]))


def columns(
    text: str, found: Sequence[FoundValue], anchors: Collection[Value], values: Collection[Value]
) -> Iterator[list[FoundValue]]:
    """The values below each heading that holds one anchor, with the heading's, row by row.

    The headings hold none of the `values`; below an anchor stands no anchor. In lines with commas or semicolons, which
    may be prose, all headings but the first hold an anchor. `found`: the values of the text that count.
    """
    if not any(each.value in anchors for each in found):
        return
    for table in tables(text):
        headings = [within(found, cell) for cell in table.headings]
        names = [[each for each in heading if each.value in anchors] for heading in headings]
        named = [len(name) == 1 for name in names]
        if any(each.value in values and each.value not in anchors for heading in headings for each in heading):
            continue
        if table.delimiter in _OF_PROSE and not all(named[1:]):
            continue
        for place, name in enumerate(names):
            cells = [within(found, row[place]) for row in table.rows]
            if named[place] and not any(each.value in anchors for cell in cells for each in cell):
                yield from ([*name, *cell] for cell in cells if cell)


def headed(text: str) -> Iterator[tuple[str, Cell]]:
    """Each cell below a heading, and the heading's text. Lines with commas in which a sentence ends are prose."""
    for table in tables(text):
        if table.delimiter in _OF_PROSE and any(_FULL_STOP.search(text, *head) for head in table.headings):
            continue
        for row in table.rows:
            yield from ((text[slice(*head)], cell) for head, cell in zip(table.headings, row, strict=True))


def _lines(text: str) -> Iterator[Cell]:
    """The lines that are no rules."""
    start = 0
    for line in text.split("\n"):
        if not line or not _RULE.fullmatch(line):
            yield start, start + len(line)
        start += len(line) + 1


def _cells(text: str, start: int, end: int, delimiter: str) -> tuple[Cell, ...]:
    """The cells of a line; none if it is no row. One cell is a row only within a frame of bars."""
    line = text[start:end]
    bare = line.strip()
    if delimiter == "|" and len(bare) > 1 and bare[0] == bare[-1] == "|":
        start, line = start + line.index("|") + 1, bare[1:-1]
    elif delimiter not in line:
        return ()
    found = list[Cell]()
    for cell in line.split(delimiter):
        found.append((start, start + len(cell)))
        start += len(cell) + 1
    return tuple(found)


def within(found: Sequence[FoundValue], cell: Cell) -> Sequence[FoundValue]:
    """The values that begin in a cell."""
    first, last = (bisect_left(found, place, key=lambda each: each.at) for place in cell)
    return found[first:last]


# The recogniser of the facts of a task.

_SENTENCE_END: Final = re.compile(r"[.;!?](?=\s|$)|\n+")
_KEYED_OBJECT: Final = re.compile(r"(?:^[^{}\n]*)?\{[^{}]*\}", re.MULTILINE)
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
        """The facts and values that a text states: none that it denies, and of several values of a fact the last."""
        plain, found = read(text[: self._limit])
        found = [each for each in found if not self._is_denied(plain, each)]
        strange = self._strange(found)
        kept = [
            each
            for each in found
            if each in strange or each.value in (self._telling if each.value.kind is Kind.WORD else self._known)
        ]
        last = {fact_id: each.at for each in found for fact_id in self._plain.get(each.value, ())}
        beside, others, sentences = set[FoundValue](), set[tuple[FoundValue, FoundValue]](), set[frozenset[Value]]()
        below_headings = columns(plain, kept, self._anchored, self._domain)
        pairs = [pair for column in below_headings for pair in self._pairs(column, strange)]
        for _, sentence in _sentences(self._with_records_in_a_line(plain, kept), kept):
            sentences.add(frozenset(each.value for each in sentence))
            pairs += [pair for pair in self._pairs(sentence, strange) if _is_near(*pair)]
        for anchor, value in self._last_of_each_fact(pairs):
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

    def _is_denied(self, plain: str, each: FoundValue) -> bool:
        """Whether a text denies a value that could be a fact's."""
        of_facts = each.value in self._plain or each.value in self._domain or each.value.kind is not Kind.WORD
        start = max(each.at, plain.rfind(each.value.text, each.at, each.end))  # "of 48213" may be a code as a whole
        return of_facts and each.value not in self._anchored and is_denied(plain, start, each.end)

    def _last_of_each_fact(
        self, pairs: Sequence[tuple[FoundValue, FoundValue]]
    ) -> Iterator[tuple[FoundValue, FoundValue]]:
        """The pairs, without values after which the text gives another one to the only fact that both could be of."""
        last = dict[tuple[Value, Kind], int]()
        for anchor, value in pairs:
            of = anchor.value, value.value.kind
            last[of] = max(value.at, last.get(of, 0))
        for anchor, value in pairs:
            alike = [fact for fact in self._anchored[anchor.value] if as_found(fact.value).kind is value.value.kind]
            if len(alike) != 1 or value.at == last[anchor.value, value.value.kind]:
                yield anchor, value

    def _contradicted(self, pairs: Iterable[tuple[FoundValue, FoundValue]], told: Collection[str]) -> Iterator[Strange]:
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

    def _by_reference(self, plain: str, kept: Sequence[FoundValue]) -> set[str]:
        """The facts that a text states in two sentences, as briefs do: anchor and code, then code and value.

        So a seat that quotes its brief tells the facts of the brief.
        """
        with_code = _beside_codes(plain, kept) if self._references else {}
        return {
            fact.id
            for fact, codes in self._references
            if any({as_found(fact.value), _anchor_of(fact)} <= with_code.get(code, set()) for code in codes)
        }

    def _with_records_in_a_line(self, text: str, found: Sequence[FoundValue]) -> str:
        """The text, in which a flat JSON object, or a line and the deeper lines below it, is one line.

        Only such as state the anchor of a fact and its value in different lines. All positions stay as they are.
        """
        if not self._anchored:
            return text
        for pattern in (_KEYED_OBJECT, _INDENTED):
            kept, end = [], 0
            for record in pattern.finditer(text):
                if not self._pairs_within_a_line(text, record.start(), record.end(), found):
                    kept += [text[end : record.start()], record[0].replace("\n", " ")]
                    end = record.end()
            text = "".join([*kept, text[end:]])
        return text

    def _pairs_within_a_line(self, text: str, start: int, end: int, found: Sequence[FoundValue]) -> bool:
        """Whether a line from one place of the text to another states both an anchor and a value."""
        within = found[bisect_left(found, start, key=_place) : bisect_left(found, end, key=_place)]
        lines, line, place = defaultdict[int, set[bool]](set), 0, start
        for each in within:
            line, place = line + text.count("\n", place, each.at), each.at
            if each.value in self._anchored or each.value in self._domain:
                lines[line].add(each.value in self._anchored)
        return any(len(kinds) == 2 for kinds in lines.values())

    def _strange(self, found: Sequence[FoundValue]) -> frozenset[FoundValue]:
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

    def _pairs(
        self, sentence: Sequence[FoundValue], strange: frozenset[FoundValue]
    ) -> Iterator[tuple[FoundValue, FoundValue]]:
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


def _matched(anchors: Sequence[FoundValue], values: Sequence[FoundValue]) -> Iterator[tuple[FoundValue, FoundValue]]:
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


def _beside_codes(plain: str, found: Sequence[FoundValue]) -> Mapping[Value, set[Value]]:
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


def _concluded(plain: str, kept: Sequence[FoundValue]) -> set[Value]:
    """The values that a text gives as results, in a sentence, a JSON object or a column that says so."""
    if not CONCLUDING.search(plain):
        return set()
    lines = _KEYED_OBJECT.sub(lambda record: record[0].replace("\n", " "), plain)
    found: list[Sequence[FoundValue]] = [each for words, each in _sentences(lines, kept) if CONCLUDING.search(words)]
    found += [within(kept, cell) for heading, cell in headed(plain) if CONCLUDING.search(heading)]
    return set[Value]().union(*map(_results_in, found))


def _results_in(sentence: Sequence[FoundValue]) -> set[Value]:
    """The values that a sentence may give as a result. A list of many names gives none of them."""
    names = {each.value for each in sentence if each.value.kind is Kind.WORD}
    return {each.value for each in sentence} - (names if len(names) > _MOST_NAMES else set())


def _place(found: FoundValue) -> int:
    return found.at


def _is_near(anchor: FoundValue, value: FoundValue) -> bool:
    return value.value.kind is not Kind.WORD or abs(value.at - anchor.at) <= _FARTHEST


def _nearest(found: FoundValue, others: Sequence[FoundValue]) -> FoundValue:
    return min(others, key=lambda each: abs(each.at - found.at))


def _sentences(text: str, found: Sequence[FoundValue]) -> Iterator[tuple[str, list[FoundValue]]]:
    """The sentences in which values stand, with the values."""
    ends = [0, *(match.end() for match in _SENTENCE_END.finditer(text)), len(text)]
    for place, group in groupby(found, key=lambda each: bisect_right(ends, each.at)):
        yield text[ends[place - 1] : ends[min(place, len(ends) - 1)]], list(group)
