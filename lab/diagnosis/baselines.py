"""Baselines: orders of steps, and guesses of an agent, that know nothing of faults.

The lead is the agent that acts first: it got the task. Random guesses are not drawn, but counted as their expectation.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from statistics import fmean

from concord_evaluator.observations import Act

Guess = Callable[[Sequence[Act]], dict[str, float]]
"""The chance with which each agent is named."""


def chronological(acts: Sequence[Act]) -> list[str]:
    """The steps in the order of time."""
    return list(dict.fromkeys(act.step_id for act in acts))


def random_agent(acts: Sequence[Act]) -> dict[str, float]:
    """Any agent that acts."""
    agents = _agents(acts)
    return dict.fromkeys(agents, 1 / len(agents))


def first_but_lead(acts: Sequence[Act]) -> dict[str, float]:
    """The first agent that acts after the lead."""
    return {(_agents(acts)[1:] or _agents(acts))[0]: 1.0}


def last_but_lead(acts: Sequence[Act]) -> dict[str, float]:
    """The last one to act that is not the lead."""
    lead = acts[0].agent
    return {next((act.agent for act in reversed(acts) if act.agent != lead), lead): 1.0}


def most_characters(acts: Sequence[Act]) -> dict[str, float]:
    """The agent that says the most."""
    said = Counter[str]()
    for act in acts:
        said[act.agent] += len(act.text) if act.speaks else 0
    return {max(said, key=lambda agent: (said[agent], agent)): 1.0}


def _agents(acts: Sequence[Act]) -> list[str]:
    return list(dict.fromkeys(act.agent for act in acts))


def expected_random_rank(steps: int) -> float:
    """The number of steps that are read before a given one, in a random order."""
    return (steps - 1) / 2


def expected_random_first(steps: Sequence[int], first: int) -> float:
    """How often a given step is among the first ones of a random order, over traces with so many steps."""
    return fmean(min(1.0, first / each) for each in steps)
