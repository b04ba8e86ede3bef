"""What a page says of one trial of a task that a family generated: causes of its wrong answers, the flow of facts."""

from concord_cli.report.team.causes import FailureRows, failures_in
from concord_cli.report.team.journey import Journey, draw_journey
from concord_cli.report.team.matrix import Matrix, matrix_of

__all__ = [
    "FailureRows",
    "Journey",
    "Matrix",
    "draw_journey",
    "failures_in",
    "matrix_of",
]
