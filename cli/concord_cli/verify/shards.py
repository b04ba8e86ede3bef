"""Whether the rows of one results file are the shards of one assessment: each one once, and none left out."""

from collections import Counter
from collections.abc import Iterator, Sequence

from concord.assessment import AssessmentPlan

_OWN = {"shard_index"}
"""The keys of a config that differ between shards."""


def shard_faults(plans: Sequence[AssessmentPlan]) -> Iterator[str]:
    """What keeps rows with these plans from being the shards of one assessment, as lines."""
    if len(plans) < 2:
        return
    first = plans[0]
    times = Counter(plan.config.shard_index for plan in plans)
    yield from (f"shard {index} is there {n} times" for index, n in sorted(times.items()) if n > 1)
    for plan in plans[1:]:
        name = f"shard {plan.config.shard_index}"
        if plan.config.model_dump(exclude=_OWN) != first.config.model_dump(exclude=_OWN):
            yield f"{name} has another config than shard {first.config.shard_index}"
        if plan.task_commitment != first.task_commitment:
            yield f"{name} has tasks of another secret than shard {first.config.shard_index}"
        if {entry.id for entry in plan.roster} != {entry.id for entry in first.roster}:
            yield f"{name} assesses other participants than shard {first.config.shard_index}"


def missing_shards(plans: Sequence[AssessmentPlan]) -> list[int]:
    """The shards that no plan is of."""
    if not plans:
        return []
    return sorted(set(range(plans[0].config.num_shards)) - {plan.config.shard_index for plan in plans})
