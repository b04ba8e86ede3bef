"""The size of a row: trials are shown in full for as long as the file that they end up in can be read."""

import json
from collections.abc import Callable, Sequence
from typing import Final

from concord.assessment.results import TrialRecord

MAX_SUBMISSION: Final = 8 * 1024 * 1024
"""Bytes of JSON of all trials of a submission, its shards together: up to 1.6 times as many once indented. DuckDB reads
no document above 16 MiB, and one that is larger keeps the whole leaderboard from being read."""

MAX_ANSWER: Final = 500
"""Characters left of the answer of a trial for which there is next to no room."""


def fitted(records: Sequence[TrialRecord], n_shards: int) -> list[TrialRecord]:
    """The records as they are, if there is room for them; else each within an equal share of it.

    What a trial has more of goes in this order: calls, metrics, interactions with findings, the end of its answer. The
    figures over all trials are made before.
    """
    room = MAX_SUBMISSION // n_shards
    if sum(map(_size, records)) <= room:
        return list(records)
    return [_within(record, room // len(records)) for record in records]


def _within(record: TrialRecord, share: int) -> TrialRecord:
    for lighter in _LIGHTER:
        if _size(record) <= share:
            break
        record = lighter(record)
    return record


def _size(record: TrialRecord) -> int:
    return len(json.dumps(record.model_dump(mode="json")))


def _without_calls(record: TrialRecord) -> TrialRecord:
    return record.model_copy(update={"calls": [], "calls_omitted": record.calls_omitted + len(record.calls)})


def _without_metrics(record: TrialRecord) -> TrialRecord:
    return record.model_copy(update={"metrics": []})


def _without_interactions(record: TrialRecord) -> TrialRecord:
    return record.model_copy(update={"interactions": [], "findings": []})


def _with_short_answer(record: TrialRecord) -> TrialRecord:
    return record.model_copy(update={"answer": None if record.answer is None else record.answer[:MAX_ANSWER]})


_LIGHTER: Final[Sequence[Callable[[TrialRecord], TrialRecord]]] = (
    _without_calls,
    _without_metrics,
    _without_interactions,
    _with_short_answer,
)
