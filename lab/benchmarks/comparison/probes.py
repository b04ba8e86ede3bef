"""The probes: each measures one thing of a tree, once. A figure has a name with its unit, and a positive value."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from lab.benchmarks.comparison import collecting, environment, files, starts, trials
from lab.benchmarks.comparison.trees import Tree

Figure = tuple[str, float]


class Probe(NamedTuple):
    """What a probe measures, and how. The folder is the comparison's own: inputs stay there for later rounds."""

    what: str
    figures: Callable[[Tree, Path], Iterator[Figure]]


PROBES: Final[Mapping[str, Probe]] = {
    "start": Probe("`concord up` and `green`: time until ready, CPU, idle memory", starts.stacks),
    "run": Probe("`concord run` with the sample team", starts.whole_run),
    "trials": Probe("a gateway and its workers: an agent that does not report", trials.trials),
    "collector": Probe("CPU of the collector for a step and for a span", collecting.collecting),
    "evaluate": Probe("`concord evaluate` of files in OTLP (JSON, protobuf) and in Concord's JSONL", files.evaluated),
    "stored": Probe("one evaluation of stored batches: 1,000 agents, 50,000 steps", files.stored),
    "rows": Probe("`concord view` of 500 rows and `compare` of two files of 1,000", files.rows),
    "environment": Probe("calls of the environment over HTTP", environment.environment),
}
