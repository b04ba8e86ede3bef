"""The judge as the command line asks it, and what a terminal shows while it thinks."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from rich.console import Console
from rich.text import Text

from concord.llm import LLMSettings
from concord_cli.errors import UsageError
from concord_cli.narrator import printable
from concord_evaluator.judge import TrialJudge

DEADLINE_S: Final = 120.0
"""How long the model may take over one trace before the rules judge."""

PATIENCE_S: Final = 2.0
"""What takes less than this needs no sign of life."""


def judge_with(samples: int, *, rules: bool) -> TrialJudge:
    """The judge to ask. Raises UsageError: there is no key, and no `rules`."""
    settings = LLMSettings()
    if not rules and not settings.available:
        raise UsageError("AGENTBEATS_LLM_API_KEY is not set: set it, or have the rules judge with --rules")
    return TrialJudge(None if rules else settings, samples=samples, deadline_s=DEADLINE_S)


@asynccontextmanager
async def sign_of_life(console: Console) -> AsyncIterator[Callable[[str], None]]:
    """Says on a terminal what is under way, once that has taken longer than a moment."""
    status = console.status("Judging")

    async def start() -> None:
        await asyncio.sleep(PATIENCE_S)
        if console.is_terminal:
            status.start()

    waiting = asyncio.create_task(start())
    try:
        yield lambda text: status.update(Text(printable(text)))
    finally:
        waiting.cancel()
        status.stop()
