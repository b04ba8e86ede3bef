"""Renders a page as HTML. The templates escape all texts, and a Content-Security-Policy allows our own code only."""

import os
import sys
from base64 import b64encode
from collections.abc import Callable, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemBytecodeCache, PackageLoader, StrictUndefined
from markupsafe import Markup

from concord.assessment.result_row import ResultRow
from concord.version import VERSION
from concord_cli.display_text import visible
from concord_cli.number_text import percent
from concord_cli.report.page import page_of
from concord_cli.row_view.metrics import Definitions, no_definitions

_PACKAGE: Final = "concord_cli.report"


def render(row: ResultRow, trial_id: str | None = None, define: Definitions = no_definitions) -> str:
    """One HTML document on a row, or on one of its trials. Deterministic.

    Raises UsageError for a trial that is not in the row.
    """
    page = page_of(row, trial_id, define)
    return render_document("page.html.j2", ("report.css",), "report.js", page=page, view=page.view)


def render_document(template: str, styles: Sequence[str], script_name: str, **content: object) -> str:
    """One HTML document of a template, with its styles and its script in it. Deterministic."""
    style, script = Markup("\n").join(map(_asset, styles)), _asset(script_name)
    policy = "; ".join(
        [
            "default-src 'none'",
            f"style-src '{_digest(style)}'",
            f"script-src '{_digest(script)}'",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    return _environment().get_template(template).render(style=style, script=script, policy=policy, **content)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader(_PACKAGE),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_checked,
        trim_blocks=True,
        lstrip_blocks=True,
        bytecode_cache=_compiled_templates(),
    )
    environment.filters |= {each.__name__.lstrip("_"): each for each in _FILTERS}
    return environment


def _on_gap_scale(gap: float) -> str:
    """The place of a gap between two outcomes on a scale from -1 to 1."""
    return percent((min(1.0, max(-1.0, gap)) + 1) / 2)


_FILTERS: Final[tuple[Callable[..., str], ...]] = (percent, _on_gap_scale)


def _compiled_templates() -> FileSystemBytecodeCache | None:
    """Keeps compiled templates beside Python's own bytecode: to compile them takes as long as to write a page.

    None if that is not to be written there.
    """
    folder = Path(__file__).with_name("__pycache__")
    if sys.dont_write_bytecode or not os.access(folder, os.W_OK):
        return None
    return FileSystemBytecodeCache(str(folder), f"%s.{VERSION}.jinja2")


def _checked(value: object) -> object:
    """Checks what a template prints: invisible characters are replaced, and None raises TypeError."""
    if value is None:
        raise TypeError("a template printed a value that is not there")
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _asset(name: str) -> Markup:
    """A file of ours, the only kind of text that is not escaped."""
    return Markup(files(_PACKAGE).joinpath("templates", name).read_text(encoding="utf-8"))  # nosec B704  # noqa: S704


def _digest(text: str) -> str:
    """The text's hash in the form of a Content-Security-Policy."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
