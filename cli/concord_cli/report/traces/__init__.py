"""The page on many recorded traces: what failed in them, who called whom, and what two groups differ in."""

from concord_cli.report.traces.page import TracesPage, page_of
from concord_cli.report.traces.runs import Division, RunFacts, by_date, by_label, by_version

__all__ = ["Division", "RunFacts", "TracesPage", "by_date", "by_label", "by_version", "page_of"]
