"""The recorded sample, for tests without AgentDojo: a part of its suite, and its verdicts on runs."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from concord_agentdojo.suite import Suite, parse_suite
from lab.agentdojo.runs import HOST_TASK, Run, runs_of_injection_task, runs_of_user_task
from lab.agentdojo.tables import Compared
from lab.agentdojo.verdicts import Verdict

SAMPLE: Final = Path(__file__).with_name("sample.json")

USER_TASKS: Final = ("user_task_6", HOST_TASK, "user_task_35")
"""One with an event, one with an answer, and one that needs the cloud drive."""
INJECTION_TASK: Final = "injection_task_5"


def sample_runs(suite: Suite) -> Iterator[Run]:
    """The runs of the sample: of each kind the first one of a task."""
    for runs in (runs_of_user_task(suite, USER_TASKS[0]), runs_of_injection_task(suite, INJECTION_TASK)):
        kinds = set[str]()
        for run in runs:
            if run.kind not in kinds:
                kinds.add(run.kind)
                yield run


def write_sample(suite: Suite, found: Sequence[Compared]) -> None:
    """Writes the sample."""
    small = suite.model_copy(
        update={
            "user_tasks": {name: suite.user_tasks[name] for name in USER_TASKS},
            "injection_tasks": {INJECTION_TASK: suite.injection_tasks[INJECTION_TASK]},
        }
    )
    verdicts = {_key(each.run): each.theirs for each in found}
    runs = [
        {"kind": run.kind, "utility": verdicts[_key(run)].utility, "security": verdicts[_key(run)].security}
        for run in sample_runs(small)
    ]
    document = {"runs": runs, "suite": small.model_dump(mode="json")}
    SAMPLE.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read_sample() -> tuple[Suite, list[tuple[Run, Verdict]]]:
    """The part of the suite, and its runs with AgentDojo's verdicts. Raises ValueError if the runs are other ones."""
    document = json.loads(SAMPLE.read_text(encoding="utf-8"))
    suite = parse_suite(json.dumps(document["suite"]))
    runs = list(sample_runs(suite))
    if [run.kind for run in runs] != [each["kind"] for each in document["runs"]]:
        raise ValueError(f"{SAMPLE} has verdicts on other runs: record it again with `make lab NAME=agentdojo`")
    return suite, [
        (run, Verdict(each["utility"], each["security"])) for run, each in zip(runs, document["runs"], strict=True)
    ]


def _key(run: Run) -> str:
    return json.dumps([run.kind, run.document()], sort_keys=True)
