"""The size of a row: shortens trials if the submission file would become too large for the leaderboard."""

import json
from collections.abc import Callable, Sequence
from typing import Final

from concord.assessment.results import TrialRecord

MAX_SUBMISSION: Final = 8 * 1024 * 1024
"""Bytes of JSON of all trials of a submission, over all shards. Indentation adds up to 60 %. DuckDB reads no document
above 16 MiB, and a single larger one breaks the query of the whole leaderboard."""

_MOST_BY_BYTE: Final = 3
"""Characters of JSON in ASCII for a byte of pydantic's JSON, which takes a tenth of the time: six for two bytes."""

MAX_ANSWER: Final = 500
"""Characters that remain of the answer of a trial that is shortened most."""

MAX_FEW_FAILURES: Final = 10
"""Failures that remain of a trial that is shortened most."""


def surely_fits(written: str, n_shards: int) -> bool:
    """Whether records fit that pydantic's JSON has somewhere."""
    return _MOST_BY_BYTE * len(written.encode()) <= MAX_SUBMISSION // n_shards


def shortened_to_fit(records: Sequence[TrialRecord], n_shards: int) -> list[TrialRecord]:
    """The records unchanged if they fit; otherwise each shortened to an equal share of the limit.

    A record loses, in this order and only as needed: calls, the messages of its flow of facts, metrics, interactions
    and findings, the rest of the flow, the end of its answer, and most of its failures.
    """
    limit = MAX_SUBMISSION // n_shards
    if surely_fits("".join(record.model_dump_json() for record in records), n_shards):
        return list(records)
    if sum(map(_size, records)) <= limit:
        return list(records)
    return [_within(record, limit // len(records)) for record in records]


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


def _without_messages(record: TrialRecord) -> TrialRecord:
    flow = None if record.team_task is None else record.team_task.flow
    if flow is None:
        return record
    omitted = flow.messages_omitted + len(flow.messages)
    return _with_team_task(record, flow=flow.model_copy(update={"messages": [], "messages_omitted": omitted}))


def _without_flow(record: TrialRecord) -> TrialRecord:
    return _with_team_task(record, flow=None)


def _with_few_failures(record: TrialRecord) -> TrialRecord:
    failures = [] if record.team_task is None else record.team_task.failures
    if record.team_task is None or len(failures) <= MAX_FEW_FAILURES:
        return record
    omitted = record.team_task.failures_omitted + len(failures) - MAX_FEW_FAILURES
    return _with_team_task(record, failures=failures[:MAX_FEW_FAILURES], failures_omitted=omitted)


def _with_team_task(record: TrialRecord, **changes: object) -> TrialRecord:
    if record.team_task is None:
        return record
    return record.model_copy(update={"team_task": record.team_task.model_copy(update=changes)})


def _with_short_answer(record: TrialRecord) -> TrialRecord:
    return record.model_copy(update={"answer": None if record.answer is None else record.answer[:MAX_ANSWER]})


_LIGHTER: Final[Sequence[Callable[[TrialRecord], TrialRecord]]] = (
    _without_calls,
    _without_messages,
    _without_metrics,
    _without_interactions,
    _without_flow,
    _with_short_answer,
    _with_few_failures,
)
