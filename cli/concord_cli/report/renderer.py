"""From a page to its HTML. Everything is escaped by the templates, and nothing can be loaded or run but our own."""

from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from concord.assessment.results import ResultRow
from concord_cli.report.definitions import Definitions, undefined
from concord_cli.report.page import page_of
from concord_cli.report.text import visible

_PACKAGE: Final = "concord_cli.report"


def render(row: ResultRow, trial_id: str | None = None, define: Definitions = undefined) -> str:
    """One HTML document on a row, or on one of its trials: the same row and definitions give the same text.

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
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _shown(value: object) -> object:
    """What a template prints: no text that cannot be seen, and no value where the page meant to have none."""
    if value is None:
        raise TypeError("a template printed a value that is not there")
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _asset(name: str) -> Markup:
    """A file of our own, as it stands: the one kind of text that is not escaped."""
    return Markup(files(_PACKAGE).joinpath("templates", name).read_text(encoding="utf-8"))  # nosec B704  # noqa: S704


def _digest(text: str) -> str:
    """The text's hash as a Content-Security-Policy has it."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
