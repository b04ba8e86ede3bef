"""A judge that computes, as a package's scorer; and the same work as a bare arq job, without anything of Concord's.

`python -m lab.benchmarks.gateway.computing_judge REDIS_URL` runs an arq worker of these jobs.
"""

import asyncio
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from concord.assessment.scorers import ENTRY_POINT_GROUP

NAME: Final = "computing-judge"
JOB: Final = "judge"
CPU_S: Final = 0.05
"""What it takes for each answer."""


def judge(_answer: str, _targets: Sequence[str]) -> tuple[float, str]:
    """Computes for `CPU_S`, whatever else the core does meanwhile, and finds the answer right."""
    until = time.thread_time() + CPU_S
    while time.thread_time() < until:
        pass
    return 1.0, "computed"


def install(folder: Path) -> None:
    """Offers the judge as a scorer to processes that have the folder on their path, as an installed package does."""
    metadata = folder / "computing_judge-1.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: computing-judge\nVersion: 1\n", encoding="utf-8")
    (metadata / "entry_points.txt").write_text(f"[{ENTRY_POINT_GROUP}]\n{NAME} = {__name__}:judge\n", encoding="utf-8")


async def _job(ctx: dict[Any, Any], *_arguments: Any, **_named: Any) -> None:  # noqa: ARG001 - as arq calls it
    judge("", ())


async def _work(redis_url: str) -> None:
    from arq.connections import RedisSettings
    from arq.worker import Worker, func

    # arq looks for jobs every half a second by default, which would be the limit.
    redis = RedisSettings.from_dsn(redis_url)
    await Worker([func(_job, name=JOB)], redis_settings=redis, poll_delay=0.005, handle_signals=False).async_run()


if __name__ == "__main__":
    asyncio.run(_work(sys.argv[1]))
