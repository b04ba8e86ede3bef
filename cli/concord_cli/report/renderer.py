"""Renders a page as HTML. The templates escape all texts, and a Content-Security-Policy allows our own code only."""

from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from concord.assessment.result_row import ResultRow
from concord_cli.display_text import visible
from concord_cli.report.metrics import Definitions, no_definitions
from concord_cli.report.page import page_of

_PACKAGE: Final = "concord_cli.report"


def render(row: ResultRow, trial_id: str | None = None, define: Definitions = no_definitions) -> str:
    """One HTML document on a row, or on one of its trials. Deterministic.

    Raises UsageError for a trial that is not in the row.
    """
    style, script = _asset("report.css"), _asset("report.js")
    policy = "; ".join(
        [
            "default-src 'none'",
            f"style-src '{_digest(style)}'",
            f"script-src '{_digest(script)}'",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    template = _environment().get_template("page.html.j2")
    return template.render(page=page_of(row, trial_id, define), style=style, script=script, policy=policy)


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader(_PACKAGE),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_checked,
        trim_blocks=True,
        lstrip_blocks=True,
    )


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
