"""Observations in what agents say: corrections that were not taken up, and values that changed on the way."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from concord.assessment.results import Observation, ObservationKind
from concord_evaluator.observations.acts import Act, Deed
from concord_evaluator.observations.observed import observed, shortened

_VALUE: Final = r"[\"'`“]?(-?\d[\d.,:/-]{0,30}\d|\d)[\"'`”]?"
"""A number, a date or a time. Words are not read: too many things may be said in other words."""

_CORRECTIONS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\bnot {_VALUE}\s*,?\s*(?:but|it is|it's|it should be)\s+{_VALUE}",
        rf"{_VALUE} (?:is|was) (?:wrong|incorrect|mistaken|outdated)\b[^.\n]{{0,60}}?\b"
        rf"(?:should be|must be|is actually|correct (?:value|number|answer) is|it is)\s+{_VALUE}",
        rf"\b(?:changed|moved|corrected|updated) from {_VALUE} to {_VALUE}",
        rf"\b(?:use|take)\s+{_VALUE}\s+instead of\s+{_VALUE}",
        rf"\bshould (?:be|have been) {_VALUE}\s*,?\s*(?:and )?(?:not|rather than|instead of) {_VALUE}",
    )
)
"""Sentences that put one value in the place of another."""

_NEW_FIRST: Final = frozenset(_CORRECTIONS[3:])
"""Those of them that name the new value first."""

_LABELLED: Final = re.compile(rf"\b([A-Za-z][A-Za-z_ -]{{3,40}}?)\s*(?:=|:| is | are | was )\s*{_VALUE}(?![\w%])")
_NUMBER: Final = re.compile(r"-?\d[\d.,:/-]{0,30}\d|\d")
_MAX_READ: Final = 50
"""Labelled values and corrections that are read of one message."""

MAX_CORRECTIONS: Final = 200
"""Corrections of a trace that are followed."""

_ARTICLES: Final = re.compile(r"^(?:the|a|an|my|our|your|its|total of)\s+", re.I)


class Correction(NamedTuple):
    """One value in the place of another. `at`: where in the text."""

    old: str
    new: str
    at: int


def corrections_in(text: str) -> Iterator[Correction]:
    """The corrections that a text states."""
    for pattern in _CORRECTIONS:
        for found in pattern.finditer(text):
            first, second = map(_plain, found.groups())
            if first != second:
                new, old = (first, second) if pattern in _NEW_FIRST else (second, first)
                yield Correction(old, new, found.start())


def ignored_corrections(acts: Sequence[Act]) -> Iterator[Observation]:
    """An agent that was told a correction, had spoken of the old value, and later states it and never the new one."""
    spoken = defaultdict[str, list[tuple[int, Act, frozenset[str]]]](list)
    for index, act in enumerate(acts):
        if act.speaks:
            spoken[act.agent].append((index, act, _numbers(act.text)))
    received = (
        (index, act, each)
        for index, act in enumerate(acts)
        if act.deed in {Deed.MESSAGE, Deed.ANSWER} and act.to != act.agent
        for each in islice(corrections_in(act.text), _MAX_READ)
    )
    for index, act, each in islice(received, MAX_CORRECTIONS):
        before = any(each.old in said for at, _, said in spoken[act.to] if at < index)
        later = [(other, said) for at, other, said in spoken[act.to] if at > index]
        kept = next((other for other, said in later if each.old in said), None)
        if before and kept is not None and not any(each.new in said for _, said in later):
            quotes = [
                (act, shortened(act.text, each.at)),
                (kept, shortened(kept.text, max(0, kept.text.find(each.old)))),
            ]
            about = f"{each.old} instead of {each.new}"
            yield observed(ObservationKind.IGNORED_CORRECTION, [act.to], (act, kept), quotes, about=about)


def changed_values(acts: Sequence[Act]) -> Iterator[Observation]:
    """An agent that others told one value under a name, and that tells a third agent another one under that name.

    Not where anybody told it that other value, or where it ever tells the one that it was told: it may have computed
    anew, or tell of both.
    """
    told = defaultdict[tuple[str, str], dict[str, tuple[Act, int]]](dict)
    """By agent and name, the values that others told it."""
    says = defaultdict[str, set[str]](set)
    for act in acts:
        if act.speaks:
            says[act.agent] |= _numbers(act.text)
    for act in acts:
        if act.deed not in {Deed.MESSAGE, Deed.ANSWER} or act.to == act.agent:
            continue
        for name, value, at in _labelled(act.text):
            known = told[act.agent, name]
            if len(known) == 1 and value not in known and says[act.agent].isdisjoint(known):
                [(original, (source, place))] = known.items()
                if act.to != source.agent:
                    quotes = [(source, shortened(source.text, place)), (act, shortened(act.text, at))]
                    about = f"{name}: {original}, then {value}"
                    yield observed(ObservationKind.CHANGED_VALUE, [act.agent], (source, act), quotes, about=about)
            told[act.to, name].setdefault(value, (act, at))


def _labelled(text: str) -> list[tuple[str, str, int]]:
    """The values that a text names once, with their names and places. A name with several values says nothing."""
    found = defaultdict[str, dict[str, int]](dict)
    for match in _LABELLED.finditer(text):
        if len(found) >= _MAX_READ:
            break
        name = _ARTICLES.sub("", " ".join(match[1].casefold().split()))
        found[name].setdefault(_plain(match[2]), match.start())
    return [(name, *next(iter(values.items()))) for name, values in found.items() if len(values) == 1]


def _numbers(text: str) -> frozenset[str]:
    return frozenset(_plain(each) for each in _NUMBER.findall(text))


def _plain(value: str) -> str:
    """A number without separators of thousands and trailing zeros; anything else as it stands."""
    number = value.replace(",", "")
    if re.fullmatch(r"-?\d+\.\d+", number):
        return number.rstrip("0").rstrip(".")
    return number
