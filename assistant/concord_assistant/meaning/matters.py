"""The matters of which a text speaks, and the values that belong to each of them."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from concord_assistant.meaning.clauses import Reading
from concord_assistant.meaning.saying import Saying
from concord_assistant.meaning.targets import words_of


def owners_of(reading: Reading, sayings: Sequence[Saying]) -> dict[int, int]:
    """By the place of a value, the saying whose words name its matter, where there are several.

    Values of one kind and as many matters in a sentence belong together in their order. Else the matter named before a
    value counts, and without one in the sentence, that of the sentence before.
    """
    anchors = sorted(
        (match.start(), number)
        for number, saying in enumerate(sayings)
        for word in saying.about or ()
        for match in words_of(word).finditer(reading.text)
    )
    owners: dict[int, int] = {}
    with_matter = [number for number, saying in enumerate(sayings) if saying.about is not None]
    if len(with_matter) < 2:
        return _elsewhere(reading, anchors) if with_matter else owners
    last: int | None = None
    for at, end in _sentences(reading):
        here = [anchor for anchor in anchors if at <= anchor[0] < end]
        matters = [next(group) for _, group in groupby(here, key=lambda anchor: anchor[1])]
        for kind in {each.kind for each in reading.values}:
            values = [each.at for each in reading.values if each.kind == kind and at <= each.at < end]
            if len(matters) == len(values):
                owners |= {value: number for value, (_, number) in zip(values, matters, strict=True)}
            elif here:
                owners |= {value: _matter_of(value, here, values) for value in values}
            elif last is not None:
                owners |= dict.fromkeys(values, last)
        last = matters[-1][1] if matters else last
    return owners


def _elsewhere(reading: Reading, anchors: Sequence[tuple[int, int]]) -> dict[int, int]:
    """The values outside the matter's sentences, if these have values of their kind. They are nobody's: -1."""
    spans = [span for span in _sentences(reading) if any(span[0] <= at < span[1] for at, _ in anchors)]
    inside = {each.at for each in reading.values if any(at <= each.at < end for at, end in spans)}
    kinds = {each.kind for each in reading.values if each.at in inside}
    return {each.at: -1 for each in reading.values if each.kind in kinds and each.at not in inside}


def _sentences(reading: Reading) -> Iterator[tuple[int, int]]:
    for _, clauses in groupby(reading.clauses, key=lambda clause: clause.sentence):
        parts = list(clauses)
        yield parts[0].at, parts[-1].end


def _matter_of(value: int, anchors: Sequence[tuple[int, int]], values: Sequence[int]) -> int:
    """The matter before a value, where the matters are named first; else the one after it."""
    first = anchors[0][0] < values[0]
    beside = [each for each in anchors if (each[0] < value) == first] or list(anchors)
    return (beside[-1] if first else beside[0])[1]
