"""The day of an assistant in scenarios on the page, turn by turn."""

from concord_cli.report.assistant.day import DayView, days_of

__all__ = ["DayView", "days_of"]
