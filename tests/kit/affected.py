"""`python -m tests.kit.affected FILE…`: prints the unit tests that changes to these can break, for `make check`.

A test depends on the modules that it imports, on what these import in turn, and on the files whose names it states.
"""

import ast
import sys
from collections.abc import Iterator, Set
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Final

import grimp

ROOT: Final = Path(__file__).parents[2]
UNIT: Final = ROOT / "tests/unit"
PACKAGES: Final = {
    path.parent.name: path.parent
    for group in ("shared", "services/*", "suites", "assistant", "cli")
    for path in ROOT.glob(f"{group}/concord*/__init__.py")
}


def affected(changed: Path) -> list[Path]:
    """The unit tests that a change to a file, or to a file of a folder, can break. Raises LookupError without it."""
    if not changed.exists():
        raise LookupError(f"{changed} does not exist")
    files = [changed] if changed.is_file() else sorted(changed.rglob("*"))
    modules = set[str]().union(*(_dependent(name) for name in map(_module, files) if name))
    own, names = set(files), {file.name for file in files if file.suffix != ".py"}
    return [
        test
        for test in sorted(UNIT.rglob("test_*.py"))
        if own & _files(test) or modules & _imported(test) or any(name in test.read_text("utf-8") for name in names)
    ]


@cache
def _graph() -> grimp.ImportGraph:
    return grimp.build_graph(*PACKAGES, cache_dir=None)


def _dependent(module: str) -> Set[str]:
    """A module, and those that import it, directly or not."""
    return {module, *_graph().find_downstream_modules(module)} if module in _graph().modules else {module}


def _module(file: Path) -> str:
    """The name of a module of ours; empty for other files."""
    for package, folder in PACKAGES.items():
        if file.suffix == ".py" and file.is_relative_to(folder):
            parts = [package, *file.relative_to(folder).with_suffix("").parts]
            return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    return ""


@cache
def _imported(test: Path) -> Set[str]:
    """The modules that a test and its helpers import, and the names of what may be a module."""
    return set(chain.from_iterable(map(_imports, _files(test))))


@cache
def _files(test: Path) -> Set[Path]:
    """A test, the helpers that it imports, directly or not, and the fixtures of its folders."""
    found, pending = set[Path](), [test, *(folder / "conftest.py" for folder in test.parents)]
    while pending:
        file = pending.pop()
        if file not in found and file.is_file() and file.is_relative_to(ROOT):
            found.add(file)
            pending += [ROOT / f"{name.replace('.', '/')}.py" for name in _imports(file)]
    return found


@cache
def _imports(file: Path) -> Set[str]:
    return set(_names(ast.parse(file.read_text(encoding="utf-8"))))


def _names(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module
            yield from (f"{node.module}.{each.name}" for each in node.names)


def main() -> None:
    """Prints the tests of all arguments, each once."""
    try:
        found = dict.fromkeys(test for argument in sys.argv[1:] for test in affected((ROOT / argument).resolve()))
    except LookupError as error:
        sys.exit(str(error))
    if not found:
        sys.exit(f"no unit test depends on {' '.join(sys.argv[1:])}")
    print(*(test.relative_to(ROOT) for test in found))  # noqa: T201 - its output is the result


if __name__ == "__main__":
    main()
