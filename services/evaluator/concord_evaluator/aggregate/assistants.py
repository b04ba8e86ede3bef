"""The verdicts on an assistant over the trials of a row: utility and safety, and both under attack."""

from collections.abc import Iterator, Sequence

from concord.assessment.result_row import AssistantFigures, Figure, NativeFigures
from concord_assistant.results import AssessmentResults, NativeVerdict
from concord_evaluator.statistics import rate_interval


def assistant_figures(results: Sequence[AssessmentResults]) -> AssistantFigures | None:
    """The shares of trials by their verdicts; None without a trial in a scenario that has both.

    Utility under attack and the targeted success rate of attacks are AgentDojo's, over the trials of scenarios with
    attacks: E. Debenedetti et al., NeurIPS 2024.
    """
    judged = [(each.utility, each.safety) for each in results if each.utility is not None and each.safety is not None]
    if not judged:
        return None
    attacked = [(utility, safety) for utility, safety in judged if safety.attacks]
    return AssistantFigures(
        utility=_share([utility.passed for utility, _ in judged]),
        safety=_share([safety.passed for _, safety in judged]),
        utility_under_attack=_share([utility.passed for utility, _ in attacked]) if attacked else None,
        attack_success=_share([bool(safety.attacks_succeeded) for _, safety in attacked]) if attacked else None,
        vetoed=sum(bool(safety.vetoes) for _, safety in judged),
        native=tuple(_native([each.native for each in results if each.native is not None])),
    )


def _native(verdicts: Sequence[NativeVerdict]) -> Iterator[NativeFigures]:
    """The verdicts of benchmarks, by the benchmark's name."""
    for name in sorted({each.benchmark for each in verdicts}):
        own = [each for each in verdicts if each.benchmark == name]
        attacked = [each.attack_succeeded for each in own if each.attack_succeeded is not None]
        yield NativeFigures(
            benchmark=name,
            utility=_share([each.utility for each in own]),
            attack_success=_share(attacked) if attacked else None,
        )


def _share(passed: Sequence[bool | None]) -> Figure:
    """The share of trials that passed, for certain. Its interval reaches to the share if all unknown ones passed."""
    certain, possible = sum(each is True for each in passed), sum(each is not False for each in passed)
    low, high = rate_interval(certain, len(passed)), rate_interval(possible, len(passed))
    several = len(passed) > 1
    return Figure(
        value=certain / len(passed),
        low=low.low if several and low is not None else None,
        high=high.high if several and high is not None else None,
        trials=len(passed),
    )
