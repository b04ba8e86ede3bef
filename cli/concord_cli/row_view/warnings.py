"""The warnings of a row that its verdict does not say, each once with the number of trials that it is of. Pure."""

from collections import Counter
from collections.abc import Iterator

from concord.assessment.result_row import Detail
from concord_cli.display_text import counted


def warning_lines(detail: Detail) -> Iterator[str]:
    """Trials that did not complete, refuted reports, and the row's warnings."""
    trials = {trial.trial_id for trial in detail.trials}
    unfinished = [
        f"{trial.trial_id}: {trial.state}" + (f": {trial.error}" if trial.error else "")
        for trial in detail.trials
        if trial.state != "completed"
    ]
    yield from _once([*unfinished, *detail.warnings], trials)
    if n := detail.trace_integrity.contradicted:
        yield f"{counted(n, 'reported call')} did not take place"


def _once(lines: list[str], trials: set[str]) -> Iterator[str]:
    """Each line once, with the number of trials in place of their ids if there are several."""
    told = [line.partition(": ") if line.partition(": ")[0] in trials else ("", "", line) for line in lines]
    times = Counter(text for _, _, text in told)
    shown = set[str]()
    for trial, colon, text in told:
        if text not in shown:
            shown.add(text)
            yield f"{text} ({counted(times[text], 'trial')})" if times[text] > 1 and trial else f"{trial}{colon}{text}"
