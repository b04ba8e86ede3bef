"""Commands that read files: `concord evaluate` of traces, one evaluation of stored batches, and many rows."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from lab.benchmarks.comparison.trees import Tree
from lab.benchmarks.traces import one_evaluation, results
from lab.benchmarks.traces.recorded import recordings

SPANS: Final = 5_000
"""Of each evaluated file, in one trace."""

AGENTS, STEPS = 1_000, 50_000


def evaluated(tree: Tree, folder: Path) -> Iterator[tuple[str, float]]:
    """CPU and peak memory of `concord evaluate`, by form of the file."""
    for name, file in recordings(folder, SPANS, 1).items():
        cost = tree.cost("concord_cli", "evaluate", "-q", file, "-o", folder / "rows.jsonl.gz")
        yield f"evaluate, {name} (s)", cost.seconds
        yield f"evaluate, {name}: CPU (µs a span)", cost.cpu_s / SPANS * 1e6
        yield f"evaluate, {name}: peak (MiB)", cost.peak_mib


def stored(tree: Tree, folder: Path) -> Iterator[tuple[str, float]]:
    """One evaluation, as a worker's process does it: this tree's benchmark with the other tree's packages."""
    file = folder / "batches"
    if not file.exists():
        one_evaluation.write(file, AGENTS, STEPS)
    taken = json.loads(tree.answer("lab.benchmarks.traces.one_evaluation", file, str(AGENTS)))
    yield "evaluation of stored batches (s)", taken["seconds"]
    yield "evaluation of stored batches: CPU (µs a step)", taken["cpu_s"] / STEPS * 1e6
    yield "evaluation of stored batches: peak (MiB)", taken["peak_mib"]
    yield "evaluation of stored batches: result (MB)", taken["json_bytes"] / 1e6


def rows(tree: Tree, folder: Path) -> Iterator[tuple[str, float]]:
    """CPU and peak memory of `concord view` and `concord compare`."""
    for name, arguments in results.commands(folder).items():
        cost = tree.cost("concord_cli", *arguments, succeeds_with=results.OUTCOMES)
        yield f"{name} (s)", cost.seconds
        yield f"{name}: CPU (s)", cost.cpu_s
        yield f"{name}: peak (MiB)", cost.peak_mib
