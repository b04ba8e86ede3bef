"""Saves the traces of an assessment, one file of Concord JSONL for each trial, to evaluate or judge again."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

from concord.assessment.result_row import ResultRow
from concord.storage.connection import Storage, connect
from concord_cli.output_files import prepare_folder, write_text
from concord_evaluator.formats.concord_jsonl import TraceFacts, as_lines


async def save_traces(redis_url: str, row: ResultRow, folder: Path) -> list[Path]:
    """Writes `<trial>.jsonl` for each trial, if storage still has the assessment.

    Raises StorageUnavailableError, UsageError and AssessmentError.
    """
    async with connect(redis_url, os.environ.get("CONCORD_QUEUE_REDIS_URL")) as storage:
        return [path async for path in _written(storage, row, folder)]


async def _written(storage: Storage, row: ResultRow, folder: Path) -> AsyncIterator[Path]:
    plan = await storage.assessments.plan(row.detail.assessment_id)
    if plan is None:
        return
    for trial in row.detail.trials:
        batches = [batch async for batch in storage.traces.batches(trial.trace_id)]
        path = folder / f"{trial.trial_id}.jsonl"
        prepare_folder(path)
        facts = TraceFacts(
            trace_id=trial.trace_id,
            roster=plan.agents(trial.task_id),
            task=plan.task(trial.task_id).text,
            answer=trial.answer or "",
        )
        write_text(path, "".join(f"{line}\n" for line in as_lines(facts, batches)))
        yield path
