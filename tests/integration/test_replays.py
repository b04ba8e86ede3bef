"""Trials that are lost: played once more where Concord lost them, and counted 0 where their participants did."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest

from concord.a2a import IncomingMessage, TaskHandle
from concord.assessment import TimeLimits
from concord.assessment.result_row import Loss
from concord.errors import StorageFullError, StorageUnavailableError
from concord.storage import MemoryUse
from concord.storage.connection import Storage, connect
from concord.storage.redis.assessments import RedisAssessmentStore
from concord.storage.redis.traces import RedisTraceStore
from concord.trace.attributes import AGENT_NAME
from concord.trace.decoding import reports_of
from concord.trace.report import ReportBatch
from concord.trust.tokens import ClosedTrials
from concord_cli.verify.checks import verify_results
from concord_gateway.assessment_record import AssessmentRecord
from concord_suites import FAMILIES
from concord_suites.player import reply
from tests.integration.test_calls import sample_agent
from tests.kit.assessing import CountingAgent, counting_agent, tasks
from tests.kit.serving import served_agent
from tests.kit.stack import Stack, stack
from tests.kit.trials import outcome, plan

T = TypeVar("T")

AWAY = StorageUnavailableError("ConnectionError: gone")
FULL = StorageFullError("OutOfMemoryError: command not allowed when used memory > 'maxmemory'")


@dataclass
class Losses:
    """Faults as trials are closed: for the n-th closing, counted from 1, its error."""

    errors: dict[int, Exception] = field(default_factory=dict)
    closings: int = 0

    async def settle(self, *_: object, **__: object) -> None:
        """In the place of waiting until a trial's trace has settled."""
        self.closings += 1
        if (error := self.errors.get(self.closings)) is not None:
            raise error


@pytest.fixture
def losses(monkeypatch: pytest.MonkeyPatch) -> Losses:
    found = Losses()
    monkeypatch.setattr("concord_gateway.assessment.wait_until_settled", found.settle)
    return found


@pytest.fixture
async def agent() -> AsyncIterator[CountingAgent]:
    async with counting_agent() as agent:
        yield agent


@pytest.fixture
async def running(redis_url: str, tmp_path: Path) -> AsyncIterator[Stack]:
    async with stack(redis_url, tmp_path, observe=False) as found:
        yield found


def limited(monkeypatch: pytest.MonkeyPatch, limit: int | None) -> None:
    """Gives storage a memory limit (bytes)."""

    async def memory(_: Storage) -> MemoryUse:
        return MemoryUse(used=0, limit=limit)

    monkeypatch.setattr(Storage, "memory", memory)


def causes(row: dict[str, Any]) -> list[tuple[str, int, str, str]]:
    failures = row["detail"]["infrastructure"]
    return [(each["trial_id"], each["attempt"], each["loss"], each["caused_by"]) for each in failures]


async def is_verified(running: Stack) -> None:
    """Checks that the row follows from its bundle."""
    results, bundles = running.output / "results.json", running.output / "bundles"
    assert (await verify_results(results, bundles, [], lambda _: None)).faults == []


def counts(row: dict[str, Any]) -> tuple[float, float, int, int, bool]:
    scoring = row["detail"]["scoring"]
    return row["score"], scoring["score_high"], scoring["replayed"], scoring["forfeited"], scoring["complete"]


async def test_a_trial_that_storage_lost_is_played_once_more_and_counts(
    running: Stack, agent: CountingAgent, losses: Losses
) -> None:
    losses.errors = {2: AWAY}
    row = await running.row({"a": agent.url}, **tasks("one", "two", "three"))
    assert agent.received == {"one": 1, "two": 2, "three": 1}
    assert counts(row) == (100, 100, 1, 0, True)
    assert causes(row) == [("trial-2", 1, "storage", "concord")]


async def test_a_trial_that_is_lost_again_in_the_same_way_is_forfeited(
    running: Stack, agent: CountingAgent, losses: Losses
) -> None:
    losses.errors = {2: AWAY, 3: AWAY}
    row = await running.row({"a": agent.url}, **tasks("one", "two"))
    assert agent.received == {"one": 1, "two": 2}
    assert counts(row) == (50, 50, 1, 1, True)
    assert causes(row) == [("trial-2", 1, "storage", "concord"), ("trial-2", 2, "storage", "participants")]
    await is_verified(running)
    assert row["detail"]["trials"][1]["grading"]["reason"].startswith("the participants lost the trial")


async def test_a_trial_that_is_lost_again_in_another_way_stays_unknown(
    running: Stack, agent: CountingAgent, losses: Losses, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited(monkeypatch, 2**40)
    losses.errors = {2: AWAY, 3: FULL}
    row = await running.row({"a": agent.url}, **tasks("one", "two"))
    assert counts(row) == (50, 100, 1, 0, False)
    assert causes(row) == [("trial-2", 1, "storage", "concord"), ("trial-2", 2, "storage_full", "concord")]


async def test_a_team_that_filled_storage_in_its_bad_trial_gets_neither_a_replay_nor_a_wider_interval(
    running: Stack, agent: CountingAgent, losses: Losses, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited(monkeypatch, 1000)
    losses.errors = {2: FULL}
    row = await running.row({"a": agent.url}, **tasks("one", "two"))
    assert agent.received == {"one": 1, "two": 1}
    assert counts(row) == (50, 50, 0, 1, True)
    assert causes(row) == [("trial-2", 1, "storage_full", "participants")]
    successors = await AssessmentRecord.of(running.storage.assessments, row["detail"]["assessment_id"])
    assert successors is not None
    assert successors.interrupted is None
    assert successors.over == {"trial-1", "trial-2"}


@pytest.mark.parametrize(("limit", "played", "cause"), [(2**40, 2, "concord"), (None, 1, "unknown")])
async def test_a_team_whose_storage_others_filled_is_played_again_and_one_of_which_nobody_knows_is_not(
    running: Stack,
    agent: CountingAgent,
    losses: Losses,
    monkeypatch: pytest.MonkeyPatch,
    limit: int | None,
    played: int,
    cause: str,
) -> None:
    limited(monkeypatch, limit)
    losses.errors = {2: FULL}
    row = await running.row({"a": agent.url}, **tasks("one", "two"))
    assert agent.received == {"one": 1, "two": played}
    assert causes(row) == [("trial-2", 1, "storage_full", cause)]
    assert counts(row) == ((100, 100, 1, 0, True) if played == 2 else (50, 100, 0, 0, False))


async def test_a_trial_that_the_gateway_cannot_play_costs_that_trial_and_not_the_row(
    running: Stack, agent: CountingAgent, losses: Losses
) -> None:
    losses.errors = {2: RecursionError("too deep")}
    row = await running.row({"a": agent.url}, **tasks("one", "two"))
    assert agent.received == {"one": 1, "two": 1}
    assert causes(row) == [("trial-2", 1, "error", "unknown")]
    assert counts(row) == (50, 100, 0, 0, False)


async def play(message: IncomingMessage, task: TaskHandle) -> None:
    """Plays families well."""
    await task.complete(reply(message.text, FAMILIES))


BY_CALLS = {"tasks": None, "suite": "maximum", "seats": 2, "exchange": "calls"}
CONTROLLED = {"tasks": None, "suite": "maximum", "seats": 2, "controls": ["solo"], "exchange": "rounds"}


@pytest.mark.parametrize(
    ("lost", "replayed", "attempts"),
    [({1: AWAY}, 1, {"trial-1": 2, "trial-2": 2}), ({2: AWAY}, 0, {"trial-1": 1, "trial-2": 2})],
    ids=["team", "control"],
)
async def test_a_lost_team_is_played_again_with_its_control_and_a_lost_control_alone(
    running: Stack,
    losses: Losses,
    lost: dict[int, Exception],
    replayed: int,
    attempts: dict[str, int],
) -> None:
    losses.errors = lost
    async with served_agent(play) as url:
        row = await running.row({"agent": url}, **CONTROLLED)
    assert losses.closings == sum(attempts.values())
    assert (row["detail"]["scoring"]["replayed"], row["detail"]["scoring"]["complete"]) == (replayed, True)
    [control] = row["detail"]["controls"]
    assert control["trials"] == 1
    await is_verified(running)


def once_away(method: Callable[..., Awaitable[T]], applies: Callable[..., bool]) -> Callable[..., Awaitable[T]]:
    """The method, for the first call of which that `applies` storage is away."""
    left = [AWAY]

    async def called(*args: object, **kwargs: object) -> T:
        if left and applies(*args):
            raise left.pop()
        return await method(*args, **kwargs)

    return called


async def test_a_trial_is_played_again_if_a_call_between_seats_could_not_be_recorded(
    redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def is_a_call(_: RedisTraceStore, batch: ReportBatch) -> bool:
        return any(AGENT_NAME in report.step.additional_attributes for report in reports_of(batch))

    append = once_away(RedisTraceStore.append, lambda *args: is_a_call(*args[:2]))
    monkeypatch.setattr(RedisTraceStore, "append", append)
    async with stack(redis_url, tmp_path) as running, sample_agent() as url:
        row = await running.row({"agent": url}, **BY_CALLS)
    assert causes(row) == [("trial-1", 1, "storage", "concord")]
    assert counts(row) == (100, 100, 1, 0, True)


async def test_a_trial_is_played_again_if_a_call_was_refused_because_storage_was_away(
    redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ClosedTrials, "is_closed", once_away(ClosedTrials.is_closed, lambda *_: True))
    async with stack(redis_url, tmp_path) as running, sample_agent() as url:
        row = await running.row({"agent": url}, **BY_CALLS)
    assert causes(row) == [("trial-1", 1, "storage", "concord")]
    assert counts(row) == (100, 100, 1, 0, True)


@pytest.mark.parametrize("lost_at", ["save_plan", "save"])
async def test_a_gateway_that_is_lost_while_it_decides_leaves_the_replay_to_its_successor(
    redis_url: str, monkeypatch: pytest.MonkeyPatch, lost_at: str
) -> None:
    planned = plan(["a"], trials=2)
    async with connect(redis_url) as storage:
        record = await AssessmentRecord.begin(storage.assessments, planned, TimeLimits(60, 60), [])
        record.lose(planned.trials[0], Loss.STORAGE, "away")
        await record.begin_trial(planned.trials[1], 30)
        await record.close_trial(planned.trials[1], outcome("trial-2"))
        with monkeypatch.context() as patched:
            patched.setattr(RedisAssessmentStore, lost_at, once_away(RedisAssessmentStore.save, lambda *_: True))
            with pytest.raises(StorageUnavailableError):
                await record.decide(None)
        successor = await AssessmentRecord.of(storage.assessments, planned.assessment_id)
        assert successor is not None
        assert successor.undecided, "otherwise it would not decide"
        await successor.decide(None)
        assert [trial.attempt for trial in successor.plan.trials] == [2, 1]
        assert successor.over == {"trial-2"}
