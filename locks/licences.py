"""`python -m locks.licences FOLDER...`: lists the licences of all locked packages in `docs/licences.md`.

The licences are read from the metadata of the packages that are installed in the FOLDERs, which are virtual
environments. Exit code 1 if one is unknown or not allowed.
"""

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageMetadata, distributions
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent
DOCUMENT: Final = FOLDER.parent / "docs" / "licences.md"

ALLOWED: Final = frozenset(
    {
        *("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "CNRI-Python", "ISC", "MIT", "MIT-0"),
        *("MPL-2.0", "PSF-2.0", "Zlib"),
    }
)
"""SPDX identifiers. MPL-2.0 obliges only those who change the package's own files."""

_SPDX: Final = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache": "Apache-2.0",
    "Apache 2": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "PSF": "PSF-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
"""SPDX identifiers for the names in older metadata. "BSD License" means either of two licences, and Concord meets the
terms of both."""

NOT_INSTALLED: Final = {
    "async-timeout": "Apache-2.0",
    "colorama": "BSD-3-Clause",
    "httpx2-jsfetch": "BSD-3-Clause",
    "pywin32": "PSF-2.0",
    "pywin32-ctypes": "BSD-3-Clause",
}
"""Packages for other systems and older Pythons, by the metadata of their wheels."""

_PIN: Final = re.compile(r"^([a-z0-9._-]+)(?:\[.*\])?==(\S+)(?: ; .*)? \\$", re.MULTILINE)
_DEVELOPMENT: Final = ("a2a-v03", "build", "dev", "real-model", "release", "run", "sbom")
"""Lock files whose packages are in no image."""


@dataclass(frozen=True, slots=True)
class Package:
    """A locked package: its versions, and the images that have it."""

    name: str
    versions: tuple[str, ...]
    images: tuple[str, ...]


def locked_packages(folder: Path = FOLDER) -> list[Package]:
    """All packages of all lock files, sorted by name."""
    found: dict[str, set[tuple[str, str]]] = {}
    for lock in sorted(folder.glob("*.txt")):
        for name, version in _PIN.findall(lock.read_text()):
            found.setdefault(name, set()).add((version, lock.stem))
    return [
        Package(
            name,
            tuple(sorted({version for version, _ in pins})),
            tuple(sorted({lock for _, lock in pins} - set(_DEVELOPMENT))),
        )
        for name, pins in sorted(found.items())
    ]


def licence_of(metadata: PackageMetadata) -> str | None:
    """The SPDX expression of a package's metadata; None if its licence is not recognised."""
    fields = metadata.json
    if expression := fields.get("license_expression"):
        return str(expression)
    classifiers = [
        words[-1]
        for each in fields.get("classifier", [])
        if len(words := each.split(" :: ")) > 2 and words[0] == "License"
    ]
    for texts in (classifiers, [str(fields.get("license", ""))]):
        known = {spdx for text in texts if (spdx := _SPDX.get(text, text)) in ALLOWED}
        if known:
            return " OR ".join(sorted(known))
    return None


def is_allowed(expression: str) -> bool:
    """Whether an SPDX expression (without parentheses) can be met with allowed licences only."""
    return any(all(term.strip() in ALLOWED for term in each.split(" AND ")) for each in expression.split(" OR "))


def installed_licences(environments: Iterable[Path]) -> dict[str, str | None]:
    """The licences of the packages in virtual environments, by normalised name."""
    folders = [str(path) for each in environments for path in each.glob("lib/python*/site-packages")]
    return {
        re.sub(r"[-_.]+", "-", each.metadata["Name"]).lower(): licence_of(each.metadata)
        for each in distributions(path=folders)
    }


def document(packages: Sequence[Package], licences: Mapping[str, str | None]) -> str:
    """The page that lists each package with its licence."""
    rows = [
        f"| {each.name} | {', '.join(each.versions)} | {licences.get(each.name) or 'unknown'} | "
        f"{', '.join(each.images) or 'none'} |"
        for each in packages
    ]
    return "\n".join(
        [
            "# Licences of the dependencies",
            "",
            "`locks/list_licences` writes this page from the metadata of installed packages. It fails for a licence",
            f"that is unknown or not one of {', '.join(sorted(ALLOWED))}.",
            "",
            "Concord itself is under Apache-2.0 ([LICENSE](../LICENSE)). A package in no image is for development.",
            "An image also has the packages of its Debian base, which this page does not list.",
            "",
            "| Package | Version | Licence (SPDX) | Images |",
            "|---|---|---|---|",
            *rows,
            "",
        ]
    )


def main(arguments: Sequence[str]) -> int:
    """Writes the page. Returns the exit code."""
    packages = locked_packages()
    licences = NOT_INSTALLED | installed_licences(map(Path, arguments))
    DOCUMENT.write_text(document(packages, licences), encoding="utf-8")
    refused = [each.name for each in packages if not is_allowed(licences.get(each.name) or "unknown")]
    for name in refused:
        sys.stdout.write(f"{name}: {licences.get(name) or 'its licence is unknown'}\n")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
