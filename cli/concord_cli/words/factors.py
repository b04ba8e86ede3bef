"""The factors of a score in words: why they are as they are, and what conduct was counted from."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from concord.assessment.results import MetricParameter, SubScore, TrialRecord

FACTORS: Final = frozenset({"outcome", "conduct"})
"""The parts of a score that are multiplied; all others have weights."""

MAX_REASONS: Final = 3
"""Reasons told; trials mostly share one."""

_COUNTS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "carried": ("1 call between participants carried", "{} calls between participants carried"),
        "failed": ("1 failed", "{} failed"),
        "bought_nothing": ("1 bought nothing", "{} bought nothing"),
        "unread": ("1 not read whole", "{} not read whole"),
    }
)
"""What conduct counts in each trial, in the order in which it is told: for one, and for any other number."""

_SETTINGS: Final[Mapping[str, str]] = MappingProxyType(
    {"participants": "{} participants", "k": "k = {} (that many failed or useless calls cost a quarter of the score)"}
)
"""What is mostly the same in all trials."""


def factor_notes(part: SubScore, trials: Sequence[TrialRecord]) -> list[str]:
    """What there is to say of a factor over these trials: the reasons given, and what conduct was counted from."""
    parts = [each for trial in trials if trial.usable for each in trial.sub_scores if each.id == part.id] or [part]
    notes = reasons_in_words([each.reason for each in parts])
    if part.id == "conduct" and (counted := conduct_inputs([each.inputs for each in parts])):
        notes.append(counted)
    return notes


def reasons_in_words(reasons: Sequence[str | None]) -> list[str]:
    """Each reason once, with the number of trials that it holds for where it does not hold for all of `reasons`."""
    told = Counter(reason for reason in reasons if reason)
    shown = [
        reason if n == len(reasons) else f"{reason} ({n:,} of {len(reasons):,} trials)"
        for reason, n in list(told.items())[:MAX_REASONS]
    ]
    return shown if len(told) <= MAX_REASONS else [*shown, f"and {len(told) - MAX_REASONS} more reasons"]


def conduct_inputs(of_trials: Sequence[Iterable[MetricParameter]]) -> str:
    """What conduct was counted from: counts summed over the trials, and settings that all trials share.

    Empty where no call was carried: the reason says so.
    """
    given: dict[str, list[str]] = {}
    for inputs in of_trials:
        for each in inputs:
            given.setdefault(each.name, []).append(each.value)
    if set(given.get("carried", ())) == {"0"}:
        return ""
    return ", ".join([*_counts(given), *_settings(given)])


def _counts(given: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for name, (one, many) in _COUNTS.items():
        values = given.get(name, ())
        if values and all(value.isdecimal() for value in values):
            total = sum(map(int, values))
            yield one if total == 1 else many.format(f"{total:,}")


def _settings(given: Mapping[str, Sequence[str]]) -> Iterator[str]:
    shared = {name: values[0] for name, values in given.items() if len(set(values)) == 1}
    for name, words in _SETTINGS.items():
        if name in shared:
            yield words.format(shared[name])
    others = [name for name in shared if name not in _COUNTS and name not in _SETTINGS]
    yield from (f"{name.replace('_', ' ')} {shared[name]}" for name in others)
