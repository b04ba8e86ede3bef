"""A result row as one self-contained HTML page: `page` says what is shown, `renderer` how."""

from concord_cli.report.renderer import render

__all__ = ["render"]
