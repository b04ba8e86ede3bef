"""What a page says of tasks that families generated: causes of wrong answers, the flow of facts, messages, controls."""

from concord_cli.report.team.causes import FailureRows, failures_in
from concord_cli.report.team.journey import Journey, draw_journey
from concord_cli.report.team.matrix import Matrix, matrix_of
from concord_cli.report.team.section import TeamSection, section_of

__all__ = [
    "FailureRows",
    "Journey",
    "Matrix",
    "TeamSection",
    "draw_journey",
    "failures_in",
    "matrix_of",
    "section_of",
]
