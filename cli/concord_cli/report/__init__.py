"""Reports: a result row as one self-contained HTML page. `page` holds its content, `renderer` makes the HTML."""

from concord_cli.report.renderer import render

__all__ = ["render"]
