"""What the team adds to one agent, in words."""

from concord.assessment.result_row import ControlRecord
from concord_cli.display_text import counted
from concord_cli.row_view.team_tasks import CONTROLS
from concord_evaluator.statistics import comparison_verdict


def lift_text(lift: ControlRecord) -> str:
    """What the team adds to the control, with its interval, and whether the starting agent was without its peers.

    A gap is shown as `concord compare` shows a difference: its interval excludes 0, and there are tasks enough.
    """
    against = CONTROLS[lift.control]
    points, interval = round(abs(100 * lift.gap)), _interval(lift)
    ends = None if lift.gap_low is None or lift.gap_high is None else (lift.gap_low, lift.gap_high)
    match comparison_verdict(ends, lift.tasks or 0):
        case "better":
            text = f"The team adds {counted(points, 'point')} {interval} to {against}."
        case "worse":
            text = f"The team is {counted(points, 'point')} worse than {against}: {100 * lift.gap:+.0f} {interval}."
        case _:
            number = "1 pair of trials" if lift.trials == 1 else f"{lift.trials:,} pairs of trials"
            known = f"{100 * lift.gap:+.0f} {interval or 'without an interval: too few tasks'}"
            text = f"Over {against}, the team adds nothing that {number} can show ({known})."
    return f"{text}{_doubt(lift)}"


def _interval(lift: ControlRecord) -> str:
    if lift.gap_low is None or lift.gap_high is None:
        return ""
    return f"[{100 * lift.gap_low:.0f}, {100 * lift.gap_high:.0f}]"


def _doubt(lift: ControlRecord) -> str:
    if lift.control != "alone" or lift.cut_off:
        return ""
    if lift.cut_off is None:
        return " The agent's calls were not observed, so it may have reached its peers when alone."
    return " But a peer answered a call when it was alone, so this says little."
