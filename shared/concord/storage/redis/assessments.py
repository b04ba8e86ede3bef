"""Assessments in Redis: one hash of JSON documents each, the plan among them; and the judge's answers."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Final

from redis.asyncio import Redis

from concord import retention
from concord.assessment import AssessmentPlan
from concord.storage.redis import keys
from concord.storage.redis.clients import SAVE_FIELDS, answered, script, storage_faults
from concord.trust.redaction import redact

_PLAN: Final = "plan"
_PLAN_REVISION: Final = "plan-revision"

_SAVE_PLAN: Final = f"redis.call('HINCRBY', KEYS[1], '{_PLAN_REVISION}', 1)\n{SAVE_FIELDS}"
_SAVE_ONCE: Final = f"""
local replaced = table.remove(ARGV)
local stored = redis.call('HGET', KEYS[1], ARGV[2])
if stored and stored ~= replaced then return stored end
{SAVE_FIELDS}"""


class RedisAssessmentStore:
    """The `AssessmentStore` port on Redis hashes."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._save_all = script(redis, SAVE_FIELDS)
        self._save_once = script(redis, _SAVE_ONCE)
        self._save_plan = script(redis, _SAVE_PLAN)

    async def save_plan(self, plan: AssessmentPlan) -> None:
        """See `AssessmentStore.save_plan`."""
        document = redact(plan.model_dump_json(by_alias=True))
        with storage_faults():
            async with self._redis.pipeline(transaction=False) as pipe:
                for trial in plan.trials:
                    pipe.set(keys.trial(trial.trace_id), 1, ex=retention.ASSESSMENT_S)
                await pipe.execute()
        await self._save_plan([keys.assessment(plan.assessment_id)], [retention.ASSESSMENT_S, _PLAN, document])

    async def plan(self, assessment_id: str) -> AssessmentPlan | None:
        """See `AssessmentStore.plan`."""
        document = await self.load(assessment_id, _PLAN)
        return None if document is None else AssessmentPlan.model_validate_json(document)

    async def has_trial(self, trace_id: str) -> bool:
        """See `AssessmentStore.has_trial`."""
        return bool(await answered(self._redis.exists(keys.trial(trace_id))))

    async def plan_revision(self, assessment_id: str) -> int:
        """See `AssessmentStore.plan_revision`."""
        return int(await self.load(assessment_id, _PLAN_REVISION) or "0")

    async def save(self, assessment_id: str, name: str, document: str) -> None:
        """See `AssessmentStore.save`."""
        await self.save_all(assessment_id, {name: document})

    async def save_all(self, assessment_id: str, documents: Mapping[str, str]) -> None:
        """See `AssessmentStore.save_all`."""
        redacted = chain.from_iterable((name, redact(document)) for name, document in documents.items())
        await self._save_all([keys.assessment(assessment_id)], [retention.ASSESSMENT_S, *redacted])

    async def save_once(self, assessment_id: str, name: str, document: str, *, instead_of: str | None = None) -> str:
        """See `AssessmentStore.save_once`."""
        new = redact(document)
        other: bytes | None = await self._save_once(
            [keys.assessment(assessment_id)], [retention.ASSESSMENT_S, name, new, instead_of or ""]
        )
        return new if other is None else other.decode()

    async def retire(self, plan: AssessmentPlan, keep_s: int, *, tokens_s: int = 0) -> None:
        """See `AssessmentStore.retire`."""
        with storage_faults():
            async with self._redis.pipeline(transaction=False) as pipe:
                for name in keys.of_assessment(plan):
                    pipe.expire(name, keep_s)
                for trial in plan.trials:
                    pipe.expire(keys.closing(trial.trace_id), max(keep_s, tokens_s))
                await pipe.execute()

    async def stored_bytes(self, plan: AssessmentPlan) -> int:
        """See `AssessmentStore.stored_bytes`."""
        with storage_faults():
            sizes = [await self._redis.memory_usage(name, samples=0) for name in keys.of_assessment(plan)]
        return sum(size or 0 for size in sizes)

    async def load(self, assessment_id: str, name: str) -> str | None:
        """See `AssessmentStore.load`."""
        document: bytes | None = await answered(self._redis.hget(keys.assessment(assessment_id), name))
        return None if document is None else document.decode()

    async def load_all(self, assessment_id: str, names: Sequence[str]) -> list[str | None]:
        """See `AssessmentStore.load_all`."""
        if not names:
            return []
        found: list[bytes | None] = await answered(self._redis.hmget(keys.assessment(assessment_id), list(names)))
        return [None if document is None else document.decode() for document in found]


# The language model's answer cache in Redis: one expiring key per answer.

MAX_ANSWER: Final = 65_536
"""The longest answer that is cached (characters)."""


class RedisAnswerCache:
    """The `AnswerCache` port on Redis strings."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def get(self, key: str) -> str | None:
        """See `AnswerCache.get`."""
        answer: bytes | None = await answered(self._redis.get(keys.answer(key)))
        return None if answer is None else answer.decode(errors="replace")

    async def put(self, key: str, answer: str) -> None:
        """See `AnswerCache.put`."""
        if len(answer) <= MAX_ANSWER:
            await answered(self._redis.set(keys.answer(key), redact(answer).encode(), ex=retention.MODEL_ANSWER_S))
