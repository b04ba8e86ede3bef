"""What a page says of an assistant in scenarios: lost points, points by dimension, and the day turn by turn."""

from concord_cli.report.assistant.day import DayView, days_of
from concord_cli.report.assistant.section import AssistantSection, section_of

__all__ = ["AssistantSection", "DayView", "days_of", "section_of"]
