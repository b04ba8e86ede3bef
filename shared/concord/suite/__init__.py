"""What suites of tasks are made of: draws, values, topologies, tasks and the interface of a family."""

from concord.suite.calls import fewest_calls
from concord.suite.draw import Draw, commitment, instance_secret
from concord.suite.family import MAX_DIFFICULTY, Family, Group, Suite, installed_families, installed_manifests
from concord.suite.flooding import flooding_calls, flooding_messages
from concord.suite.task import Answers, Bound, Fact, Grade, Neighbours, Part, SuiteTask
from concord.suite.topology import Topology, distances, neighbours_in, neighbours_of
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
    "fewest_calls",
    "flooding_calls",
    "flooding_messages",
    "installed_families",
    "installed_manifests",
    "instance_secret",
    "neighbours_in",
    "neighbours_of",
]
