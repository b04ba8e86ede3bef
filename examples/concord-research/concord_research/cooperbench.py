"""CooperBench runs, each a document or a folder: the messages, patches and results of two coding agents.

Source of the folder's layout: github.com/cooperbench/CooperBench, `src/cooperbench/runner/coop.py` and `eval/`.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import PurePath
from typing import Final, TypeVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter

from concord.trace.step import as_utc
from concord_evaluator.formats.format import Folder, FolderFormat, TraceFormat
from concord_evaluator.formats.source import Head, Source
from concord_evaluator.formats.trace import Origin, Trace, TraceBuilder, file_trace_id, shortened_id
from concord_research.cooperbench_effects import FeatureVerdicts, add_changes, delivery, files_stated
from concord_research.patches import patch_size

CONVERSATION: Final = "conversation.json"
EVALUATION: Final = "eval.json"
RESULT: Final = "result.json"

_PATCH: Final = re.compile(r"agent(\w+)\.patch")
_TRAJECTORY: Final = re.compile(r"agent\w+_traj\.json")
_LEVELS: Final = 5
"""Folders that tell runs apart: `<run>/<setting>/<repository>/<task>/<features>`."""

_EPOCH: Final = datetime.fromtimestamp(0, UTC)

_WARNINGS: Final = (
    "the log does not tell questions from answers: every message counts as a call of its receiver by its sender",
    "the log has the times of messages alone: latencies are unknown",
)

_Content = TypeVar("_Content")

_UNKNOWN_WITHOUT: Final = {
    CONVERSATION: "who wrote to whom",
    EVALUATION: "the outcome",
    RESULT: "what the task was",
}


class _RunModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class _Message(_RunModel):
    sender: str = Field(alias="from")
    receiver: str = Field(alias="to")
    message: str
    timestamp: float | datetime | None = None
    kind: str | None = None
    feature_id: int | str | None = None

    @property
    def sent_at(self) -> datetime | None:
        if isinstance(self.timestamp, float):
            return _EPOCH + timedelta(seconds=self.timestamp)
        return None if self.timestamp is None else as_utc(self.timestamp)


class _Evaluation(FeatureVerdicts):
    both_passed: bool | None = None
    error: JsonValue = None


class _Submission(_RunModel):
    """How an agent's own run ended. The runner writes `Submitted`, or `Error` with or without a message."""

    status: str = ""
    error: str | None = None

    @property
    def failure(self) -> str | None:
        return (self.error or "the agent's run ended with an error") if self.status == "Error" else None


class _Result(_RunModel):
    repo: str = ""
    task_id: int | str | None = None
    features: list[int | str] = []
    agents: dict[str, JsonValue] = {}
    run_name: str = ""
    setting: str = ""


class _Run(_RunModel):
    path: str = ""
    conversation: list[_Message]
    eval: _Evaluation = _Evaluation()
    result: _Result = _Result()

    @property
    def agent_of(self) -> Mapping[str, str]:
        """The agent that each feature was given to, as far as the result or the messages say."""
        from_messages = {str(each.feature_id): each.sender for each in self.conversation if each.feature_id is not None}
        stated = {
            str(facts["feature_id"]): agent
            for agent, facts in self.result.agents.items()
            if isinstance(facts, dict) and "feature_id" in facts
        }
        return from_messages | stated

    def submission_of(self, agent: str) -> _Submission:
        """How the agent's run ended; empty if the result does not say."""
        facts = self.result.agents.get(agent)
        return _Submission.model_validate(facts) if isinstance(facts, dict) else _Submission()


def _recognises(head: Head) -> bool:
    return "conversation" in head.json_keys


def _read(source: Source) -> Iterator[Trace]:
    for number, line, value in source.json_records():
        with source.record(line):
            run = _Run.model_validate(value)
            builder = TraceBuilder(file_trace_id(source.name, number), Origin(source.name, line))
            _take(builder, run)
            yield builder.build()


def _take(builder: TraceBuilder, run: _Run) -> None:
    features = " and ".join(map(str, run.result.features))
    builder.task = f"{run.result.repo} {run.result.task_id}: features {features}" if run.result.repo else ""
    if run.eval.error is not None:
        builder.warn(f"the outcome is unknown, because the evaluation of the run failed: {run.eval.error}")
    elif run.eval.both_passed is not None:
        builder.task_success = float(run.eval.both_passed)
    for warning in _WARNINGS:
        builder.warn(warning)
    builder.parts = tuple(run.eval.graded_parts(run.agent_of))
    for agent in run.result.agents:
        builder.declare(agent)
    for number, message in enumerate(run.conversation, 1):
        attributes = {"kind": message.kind} if message.kind else {}
        builder.add_message(
            f"{number:04}",
            message.sender,
            message.receiver,
            message.message,
            attributes=attributes,
            sent_at=message.sent_at,
        )
        for stated, effect in enumerate(files_stated(message.kind, message.message), 1):
            builder.add_work(f"{number:04}-{stated}", message.sender, attributes=effect.attributes())


def _is_run(files: frozenset[str]) -> bool:
    """Whether the folder has one of the format's documents, and another one or a file of an agent."""
    documents = _UNKNOWN_WITHOUT.keys() & files
    agents = [file for file in files if _PATCH.fullmatch(file) or _TRAJECTORY.fullmatch(file)]
    return bool(documents) and (bool(agents) or {CONVERSATION} < documents)


def _read_folder(folder: Folder) -> Iterator[Trace]:
    """The run in a folder. Warns of missing files; raises FormatError for an unreadable one."""
    run = _Run(
        conversation=_content(folder, CONVERSATION, TypeAdapter(list[_Message]), []),
        eval=_content(folder, EVALUATION, TypeAdapter(_Evaluation), _Evaluation()),
        result=_content(folder, RESULT, TypeAdapter(_Result), _Result()),
    )
    with folder.errors_at():
        builder = TraceBuilder(_id_of(folder, run.result), Origin(folder.name))
        _take(builder, run)
        for file, unknown in _UNKNOWN_WITHOUT.items():
            if file not in folder.files:
                builder.warn(f"{file} is missing: {unknown} is unknown")
        if EVALUATION in folder.files and run.eval.error is None and run.eval.both_passed is None:
            builder.warn(f"{EVALUATION} does not say whether both features passed: the outcome is unknown")
        _take_patches(builder, folder, run)
    yield builder.build()


def _content(folder: Folder, file: str, form: TypeAdapter[_Content], default: _Content) -> _Content:
    if file not in folder.files:
        return default
    with folder.source(file) as source:
        values = [value for _, value in source.json_values()]
        with source.errors_at(1):
            return form.validate_python(values[0] if len(values) == 1 and file != CONVERSATION else values)


def _id_of(folder: Folder, result: _Result) -> str:
    """The trace id of a run, from its name and its task, since folders of different runs may have the same name."""
    features = "_".join(f"f{feature}" for feature in result.features)
    stated = (result.run_name, result.setting, result.repo, str(result.task_id), features)
    path = PurePath(folder.name)
    parts = stated if all(stated) else [part for part in path.parts[-_LEVELS:] if part not in {path.anchor, ".."}]
    return shortened_id("/".join(parts) or "run")


def _take_patches(builder: TraceBuilder, folder: Folder, run: _Run) -> None:
    """Adds a step of each agent's own work: the size of its patch, and how its submission ended."""
    agent_of = run.agent_of
    for number, (feature, agent) in enumerate(sorted(agent_of.items()), 1):
        file = f"agent{feature}.patch"
        if file not in folder.files:
            builder.warn(f"{file} is missing: what {agent} changed is unknown")
            continue
        with folder.open_file(file) as patch:
            lines = list(patch)
        touched = patch_size(lines)
        add_changes(builder, f"change-{number:02}", agent, lines)
        if not touched.files:
            builder.warn(f"{file} is empty: {agent} changed nothing")
        submission = run.submission_of(agent)
        attributes = {
            "patch": file,
            "files": str(touched.files),
            "lines_added": str(touched.added),
            "lines_removed": str(touched.removed),
            **({"status": submission.status} if submission.status else {}),
            **delivery(file, touched, b"".join(lines).decode(errors="replace")),
        }
        error = submission.failure or (None if touched.files else "the patch is empty")
        builder.add_work(f"patch-{number:02}", agent, attributes=attributes, error=error)
    for file in sorted(folder.files):
        if (found := _PATCH.fullmatch(file)) is not None and found[1] not in agent_of:
            builder.warn(f"{file} was ignored: no agent of the run matches it")


FORMAT = TraceFormat(_recognises, _read, FolderFormat(_is_run, _read_folder))
