"""What suites of tasks are made of: draws, values, topologies, tasks and the interface of a family."""

from concord.suite.draw import Draw, commitment, instance_secret
from concord.suite.task import (
    MAX_DIFFICULTY,
    Answers,
    Bound,
    Fact,
    Family,
    Grade,
    Group,
    Neighbours,
    Part,
    Suite,
    SuiteTask,
    environment_families,
    installed_families,
    installed_manifests,
)
from concord.suite.topology import (
    Topology,
    distances,
    fewest_calls,
    flooding_calls,
    flooding_messages,
    neighbours_in,
    neighbours_of,
)
from concord.suite.value import Kind, Value

__all__ = [
    "MAX_DIFFICULTY",
    "Answers",
    "Bound",
    "Draw",
    "Fact",
    "Family",
    "Grade",
    "Group",
    "Kind",
    "Neighbours",
    "Part",
    "Suite",
    "SuiteTask",
    "Topology",
    "Value",
    "commitment",
    "distances",
    "environment_families",
    "fewest_calls",
    "flooding_calls",
    "flooding_messages",
    "installed_families",
    "installed_manifests",
    "instance_secret",
    "neighbours_in",
    "neighbours_of",
]
