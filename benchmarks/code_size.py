"""`python -m benchmarks.code_size REVISION…`: the sizes of the sources' files and functions at Git revisions."""

import ast
import io
import subprocess
import sys
import tarfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from statistics import median, quantiles

from rich.console import Console
from rich.table import Table

SOURCES = ("cli", "services", "shared")
SMALL = 60
"""Lines below which a file with one importer counts as too small to stand alone."""


def main() -> None:
    """Prints a column per revision."""
    revisions = sys.argv[1:] or ["HEAD"]
    columns = [sizes(sources(revision)) for revision in revisions]
    table = Table("", *revisions)
    for name in columns[0]:
        table.add_row(name, *(column[name] for column in columns))
    Console().print(table)


def sources(revision: str) -> dict[str, str]:
    """The text of each Python file of the sources, by path."""
    command = ["/usr/bin/env", "git", "archive", revision, *SOURCES]
    archive = subprocess.run(command, capture_output=True, check=True).stdout  # noqa: S603 - a developer's own command
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        found = {member.name: files.extractfile(member) for member in files if member.name.endswith(".py")}
        return {name: file.read().decode() for name, file in found.items() if file is not None}


def sizes(files: Mapping[str, str]) -> dict[str, str]:
    """The figures of one revision, by name."""
    lines = sorted(text.count("\n") for text in files.values() if text.strip())
    functions = sorted(length for text in files.values() for length in _function_lengths(text))
    folders = Counter(str(PurePosixPath(name).parent) for name in files)
    importers = _importers(files)
    alone = [name for name, text in files.items() if text.count("\n") < SMALL and len(importers[name]) == 1]
    return {
        "files": str(len(lines)),
        "lines of a file: median, 90th percentile, most": _summary(lines),
        "lines of a function: median, 90th percentile, most": _summary(functions),
        "files in a folder: median, most": f"{median(folders.values()):g}, {max(folders.values())}",
        f"files below {SMALL} lines with one importer": f"{len(alone)} ({len(alone) / len(lines):.0%})",
    }


def _summary(lengths: Sequence[int]) -> str:
    return f"{median(lengths):g}, {quantiles(lengths, n=10)[-1]:.0f}, {max(lengths)}"


def _function_lengths(text: str) -> Iterator[int]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield (node.end_lineno or node.lineno) - node.lineno + 1


def _importers(files: Mapping[str, str]) -> defaultdict[str, set[str]]:
    """By file, the other files that import its module by name; a package's `__init__` counts as an importer."""
    by_module = {_module(name): name for name in files if not name.endswith("__init__.py")}
    found: defaultdict[str, set[str]] = defaultdict(set)
    for importer, text in files.items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and node.module is not None and node.module in by_module:
                found[by_module[node.module]].add(importer)
    return found


def _module(name: str) -> str:
    """`services/x/concord_x/a/b.py` is `concord_x.a.b`."""
    parts = PurePosixPath(name).with_suffix("").parts
    start = next((place for place, part in enumerate(parts) if part.startswith("concord")), 0)
    return ".".join(parts[start:])


if __name__ == "__main__":
    main()
