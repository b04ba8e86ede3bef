"""The page on many recorded traces: who called whom, the shapes that they have, and what two groups differ in."""

from concord_cli.report.traces.facts import RunFacts
from concord_cli.report.traces.groups import Division, by_date, by_label, by_version
from concord_cli.report.traces.page import TracesPage, page_of

__all__ = ["Division", "RunFacts", "TracesPage", "by_date", "by_label", "by_version", "page_of"]
