"""Updates as short lines for people."""

from datetime import datetime, timedelta
from typing import Final

from concord_assistant import updates
from concord_assistant.updates import Update

MAX_LINE: Final = 160

_SHOWN: Final = ("to_addresses", "to_numbers", "subject", "title", "content", "body")
"""The parameters of an action that say what it is about, the most telling first."""

_IDS: Final = ("message_id", "message_ids", "event_id")
"""Those that name it, for actions without the others."""


def line_of(update: Update) -> str:
    """The update on one line."""
    line = " ".join(_text(update).split())
    return line if len(line) <= MAX_LINE else f"{line[: MAX_LINE - 1]}…"


def _text(update: Update) -> str:
    match update:
        case updates.AssessmentStarted():
            return f"scenario {update.scenario_id}: starts at {_clock(update.start_time)}"
        case updates.ScenarioLoaded():
            return (
                f"loaded “{update.scenario_name}”: {_count(update.criteria_count, 'criterion', 'criteria')}, "
                f"{_count(update.character_count, 'person', 'people')}"
            )
        case updates.TurnStarted():
            coming = _count(update.events_pending, "event", "events")
            return f"turn {update.turn_number}: {_clock(update.current_time)}, {coming} to come"
        case updates.ActionObserved():
            failed = "" if update.success else f" failed: {update.error_message}"
            return f"turn {update.turn_number}: {update.action} {_about(update.parameters)}{failed}"
        case updates.ResponsesGenerated():
            who = f" from {', '.join(update.characters_involved)}" if update.characters_involved else ""
            return f"turn {update.turn_number}: {_count(update.responses_count, 'reply', 'replies')}{who}"
        case updates.SimulationAdvanced():
            return (
                f"time advanced by {_duration(update.duration)} to {_clock(update.new_time)}, "
                f"{_count(update.events_processed, 'event', 'events')}"
            )
        case updates.TurnCompleted():
            early = ", the assistant is done" if update.early_completion_requested else ""
            return (
                f"turn {update.turn_number}: {_count(update.actions_taken, 'action', 'actions')}, "
                f"{_duration(update.time_advanced)}{early}"
            )
        case updates.EvaluationStarted():
            return f"evaluating {_count(update.criteria_count, 'criterion', 'criteria')}"
        case updates.CriterionEvaluated():
            points = "not evaluated" if update.score is None else f"{update.score:g} of {update.max_score:g} points"
            return f"{update.criterion_name}: {points}"
        case updates.AssessmentCompleted():
            return (
                f"{update.reason} after {_count(update.total_turns, 'turn', 'turns')} and "
                f"{_count(update.total_actions, 'action', 'actions')}: "
                f"{update.overall_score:g} of {update.max_score:g} points"
            )
        case updates.ErrorOccurred():
            return f"{update.error_type}: {update.error_message}"
    raise TypeError(f"no line for {type(update).__name__}")


def _about(parameters: dict[str, object]) -> str:
    shown = [value for name in _SHOWN if (value := parameters.get(name))]
    shown = shown or [value for name in _IDS if (value := parameters.get(name))]
    return " · ".join(", ".join(map(str, each)) if isinstance(each, list) else str(each) for each in shown[:2])


def _clock(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M}"


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _duration(duration: timedelta) -> str:
    seconds = round(duration.total_seconds())
    hours, rest = divmod(seconds, 3600)
    parts = [
        f"{hours} h" if hours else "",
        f"{rest // 60} min" if rest // 60 else "",
        f"{rest % 60} s" if rest % 60 else "",
    ]
    return " ".join(filter(None, parts)) or "0 s"
