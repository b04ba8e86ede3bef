"""The suite of files: each holds the tasks of one benchmark, in the layout in which it is published."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from concord.suite import Suite
from concord_published import agentsnet, hiddenbench, silobench
from concord_published.prose import PublishedFamily

MAX_BYTES: Final = 64 * 1024 * 1024


class LayoutError(ValueError):
    """A file in none of the known layouts."""


def suite_of(paths: str) -> Suite:
    """The suite of files and folders, separated as in PATH. A manifest for each benchmark. Raises LayoutError."""
    families: dict[str, PublishedFamily] = {}
    for path in filter(None, paths.split(os.pathsep)):
        for family in families_in(Path(path)):
            if family.name in families:
                raise LayoutError(f"{path}: two tasks are called {family.name}")
            families[family.name] = family
    benchmarks = dict.fromkeys(family.benchmark for family in families.values())
    return Suite(families, {name: _manifest(name, families) for name in benchmarks})


def families_in(path: Path) -> Iterator[PublishedFamily]:
    """A family for each task of a file, or of the JSON files of a folder."""
    for file in sorted(path.glob("*.json")) if path.is_dir() else [path]:
        if file.stat().st_size > MAX_BYTES:
            raise LayoutError(f"{file}: over {MAX_BYTES} bytes")
        document = json.loads(file.read_text(encoding="utf-8"))
        try:
            yield from _families(document)
        except (KeyError, TypeError, ValueError) as error:
            raise LayoutError(f"{file}: not a file of {', '.join(BENCHMARKS)}: {error}") from error


BENCHMARKS: Final = (hiddenbench.BENCHMARK, silobench.BENCHMARK, agentsnet.BENCHMARK)


def _families(document: Any) -> Iterator[PublishedFamily]:  # noqa: ANN401 - JSON
    if isinstance(document, dict):
        yield silobench.SiloTask.of(document)
    elif document and "graph_generator" in document[0]:
        for row in document:
            yield from agentsnet.tasks_on(row)
    else:
        yield from (hiddenbench.HiddenProfile.of(item) for item in document)


def _manifest(benchmark: str, families: Mapping[str, PublishedFamily]) -> str:
    tasks = [family.task() for family in families.values() if family.benchmark == benchmark]
    description = f"All tasks of {benchmark} that the files hold."
    return json.dumps({"name": benchmark, "description": description, "tasks": tasks})
