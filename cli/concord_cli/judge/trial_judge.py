"""The judge that the options that ask the judge use."""

from typing import Final

from concord.llm import LLMSettings
from concord_cli.errors import UsageError
from concord_evaluator.judge import TrialJudge

DEADLINE_S: Final = 120.0
"""How long the model may take over one trace before the rules judge."""


def make_judge(samples: int, *, rules: bool) -> TrialJudge:
    """A judge that asks the configured model, or with `rules` asks none. Raises UsageError without an API key."""
    settings = LLMSettings()
    if not rules and not settings.available:
        raise UsageError("AGENTBEATS_LLM_API_KEY is not set: set it, or use --rules to judge without a language model")
    return TrialJudge(None if rules else settings, samples=samples, deadline_s=DEADLINE_S)
