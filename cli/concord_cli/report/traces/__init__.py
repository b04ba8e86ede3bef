"""The page on many recorded traces: who called whom, the shapes that they have, and what two groups differ in."""

from concord_cli.report.traces.page import TracesPage, page_of
from concord_cli.report.traces.runs import Division, RunFacts, by_date, by_label, by_version

__all__ = ["Division", "RunFacts", "TracesPage", "by_date", "by_label", "by_version", "page_of"]
