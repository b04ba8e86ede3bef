"""What trials cost, in words: claims of the agents, marked as such, and nothing where nobody tells."""

from concord.assessment.cost import Cost
from concord.assessment.result_row import ResultRow
from concord_cli.display_text import counted


def cost_text(cost: Cost | None) -> str | None:
    """`the agents claim 12 model calls, 3,400 tokens, 0.012 USD a trial`; None if they tell nothing."""
    if cost is None or cost.model_calls is None:
        return None
    parts = [counted(cost.model_calls, "model call")]
    if cost.tokens is not None:
        parts.append(f"{cost.tokens:,} tokens")
    if cost.untold_calls:
        parts.append(f"none told for {counted(cost.untold_calls, 'call')}")
    money = "cost unknown" if cost.per_trial is None else f"{cost.per_trial:.3g} {cost.currency} a trial"
    if cost.unpriced:
        money += f" (no price of {', '.join(cost.unpriced)})"
    return f"the agents claim {', '.join([*parts, money])}"


def detectable_text(row: ResultRow) -> str | None:
    """What a comparison with another run like this one can show; None if nothing, or not known."""
    known = row.detail.statistics
    if known.detectable is None:
        return None
    trials = counted(known.trials, "trial")
    return f"with {trials}, only differences above {known.detectable:.0f} points can be told from chance"
