"""`concord evaluate --agreement`, once its arguments are parsed."""

from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from concord.assessment import AssessmentConfig
from concord.assessment.results import Judgment
from concord_cli.evaluate.inputs import read_config
from concord_cli.judge.calibration import calibration_from
from concord_cli.judge.labelled import LabelledTrace, read_labelled
from concord_cli.judge.tables import calibration_of
from concord_cli.judge.trial_judge import make_judge
from concord_cli.output_files import prepare_folder, write_text
from concord_cli.terminal import delayed_spinner, output_console
from concord_evaluator.judge import TrialJudge
from concord_evaluator.offline import judge_trace

WIDE = 200
"""Width of the output without a terminal."""


@dataclass(frozen=True, slots=True)
class CalibrateArguments:
    """The arguments of the command."""

    labelled: Path
    output: Path | None
    samples: int
    rules: bool
    config: Path | None
    quiet: bool


async def calibrate_judge(arguments: CalibrateArguments) -> None:
    """Judges every labelled trace and prints how far judge and labels agree. Raises UsageError, AssessmentError."""
    judge, config = make_judge(arguments.samples, rules=arguments.rules), read_config(arguments.config)
    if arguments.output is not None:
        prepare_folder(arguments.output)
    labelled = read_labelled(arguments.labelled)
    judgments = []
    async with delayed_spinner(Console(stderr=True, highlight=False), "Judging") as say:
        for number, each in enumerate(labelled, start=1):
            say(f"Judging {each.trace.trace_id} ({number} of {len(labelled)})")
            judgments.append(await _judged(each, config, judge))
    calibration = calibration_from(labelled, judgments, config.thresholds.pass_mark, by_model=not arguments.rules)
    if arguments.output is not None:
        write_text(arguments.output, calibration.model_dump_json(indent=2) + "\n")
    if not arguments.quiet:
        output_console(WIDE).print(calibration_of(calibration))


async def _judged(labelled: LabelledTrace, config: AssessmentConfig, judge: TrialJudge) -> Judgment:
    """The judgment of a trace. (`read_labelled` removed the file's own record of the task's success.)"""
    row = await judge_trace(labelled.trace, config, judge, imported_content=True)
    judgment = row.detail.judge
    assert judgment is not None  # nosec B101  # noqa: S101 - `judge_trace` always judges
    return judgment
