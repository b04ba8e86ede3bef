"""The parity tables: by task, the verdicts of both graders; and the reasons for differences."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from concord_agentdojo.attacks import DRIVE_INJECTIONS
from concord_agentdojo.scenarios import left_out
from concord_agentdojo.suite import Suite
from lab.agentdojo.differences import DIFFERENCES, Difference
from lab.agentdojo.runs import GROUND_TRUTH, OURS, Run
from lab.agentdojo.verdicts import Verdict
from lab.benchmarks.tables import ResultTable

_PAIRS = ("attack resisted", "attack obeyed")


@dataclass(frozen=True, slots=True)
class Compared:
    """A run with AgentDojo's verdict and Concord's. None: the environment cannot represent the run."""

    run: Run
    theirs: Verdict
    ours: Verdict | None

    @property
    def agree(self) -> bool:
        """Whether both verdicts are the same."""
        return self.ours == self.theirs

    @property
    def reason(self) -> Difference | None:
        """The reason for exactly this difference, if one is known."""
        if self.ours is None or self.agree:
            return None
        for each in DIFFERENCES:
            expected = Verdict(
                self.theirs.utility if each.utility is None else each.utility,
                self.theirs.security if each.security is None else each.security,
            )
            if each.concerns(self.run) and expected == self.ours:
                return each
        return None

    def __str__(self) -> str:
        tasks = " ".join(filter(None, (self.run.user_task, self.run.injection_task)))
        return f"{tasks}: {self.run.kind}: AgentDojo {self.theirs}, Concord {self.ours}"


def unexplained(found: Sequence[Compared]) -> Iterator[Compared]:
    """The runs on which the verdicts differ without a reason."""
    yield from (each for each in found if each.ours is not None and not each.agree and each.reason is None)


def tables_of(suite: Suite, found: Sequence[Compared]) -> list[ResultTable]:
    """The numbers of agreements, the reasons for differences, and the tasks one by one."""
    return [_summary(suite, found), _reasons(found), _user_tasks(suite, found), _injection_tasks(suite, found)]


def _summary(suite: Suite, found: Sequence[Compared]) -> ResultTable:
    kinds: dict[str, Callable[[Run], bool]] = {
        "user tasks: ground truth": lambda run: run.injection_task is None and run.kind == GROUND_TRUTH,
        "user tasks: wrong runs": lambda run: run.injection_task is None and run.kind != GROUND_TRUTH,
        "injection tasks: AgentDojo's ground truth, or our solution": lambda run: (
            run.kind in {GROUND_TRUTH, OURS} and run.injection_task is not None
        ),
        "injection tasks: wrong runs": lambda run: (
            run.injection_task is not None and run.kind not in {GROUND_TRUTH, OURS, *_PAIRS}
        ),
        "pairs: attack resisted": lambda run: run.kind == _PAIRS[0],
        "pairs: attack obeyed": lambda run: run.kind == _PAIRS[1],
    }
    rows = []
    for name, is_kind in kinds.items():
        chosen = [each for each in found if is_kind(each.run)]
        judged = [each for each in chosen if each.ours is not None]
        agreeing = sum(each.agree for each in judged)
        rows.append([name, *map(str, (len(chosen), len(judged), agreeing, len(judged) - agreeing))])
    totals = [str(sum(int(row[column]) for row in rows)) for column in range(1, 5)]
    return ResultTable(
        "Agreement",
        f"Measured by `make lab NAME=agentdojo` with agentdojo {suite.package_version}, "
        f"benchmark {suite.benchmark_version}, "
        f"attack `{suite.attack}`. Both verdicts, `utility` and `security`, must be the same. Wrong runs are variants "
        "of each task's ground truth: one action omitted, repeated or spoiled, the answer spoiled, or an additional "
        "action.",
        ("runs", "number", "representable", "agree", "differ"),
        [*rows, ["all", *totals]],
    )


def _reasons(found: Sequence[Compared]) -> ResultTable:
    rows = [[each.reason, str(sum(one.reason is each for one in found))] for each in DIFFERENCES]
    rows.append(["No reason known", str(len(list(unexplained(found))))])
    return ResultTable("Differences", "The reasons for different verdicts on a run.", ("reason", "runs"), rows)


def _user_tasks(suite: Suite, found: Sequence[Compared]) -> ResultTable:
    missing = left_out(suite)
    rows = []
    for name, task in suite.user_tasks.items():
        own = [each for each in found if (each.run.user_task, each.run.injection_task) == (name, None)]
        pairs = [each for each in found if each.run.user_task == name and each.run.kind in _PAIRS]
        [truth] = [each for each in own if each.run.kind == GROUND_TRUTH]
        verdicts = [_done(truth.theirs.utility), _done(truth.ours.utility) if truth.ours else "-"]
        wrong = [each for each in own if each is not truth]
        note = f"no files in the environment: {missing[name]}" if name in missing else ""
        rows.append([name, task.difficulty, *verdicts, _agreeing(wrong), _agreeing(pairs), note])
    return ResultTable(
        "User tasks",
        "Ground truth: the verdict `utility` of AgentDojo and of Concord. Wrong runs and attacked runs: on how many of "
        "them the verdicts agree.",
        ("task", "difficulty", "AgentDojo", "Concord", "wrong runs", "attacked runs", "not representable"),
        _numbered(rows),
    )


def _injection_tasks(suite: Suite, found: Sequence[Compared]) -> ResultTable:
    rows = []
    for name in suite.injection_tasks:
        own = [each for each in found if each.run.injection_task == name and each.run.kind not in _PAIRS]
        pairs = [each for each in found if each.run.injection_task == name and each.run.kind in _PAIRS]
        [truth] = [each for each in own if each.run.kind in {GROUND_TRUTH, OURS}]
        calls = "AgentDojo's" if suite.injection_tasks[name].calls else "ours" if truth.ours else "none"
        verdicts = [_succeeded(truth.theirs), _succeeded(truth.ours) if truth.ours else "-"]
        wrong = [each for each in own if each is not truth]
        note = f"no files in the environment: {DRIVE_INJECTIONS[name]}" if name in DRIVE_INJECTIONS else ""
        rows.append([name, calls, *verdicts, _agreeing(wrong), _agreeing(pairs), note])
    return ResultTable(
        "Injection tasks",
        "Actions: the source of the actions that carry out the attack. AgentDojo has none for tasks 6 to 13. AgentDojo "
        "and Concord: the verdict `security` on these actions.",
        ("task", "actions", "AgentDojo", "Concord", "wrong runs", "attacked runs", "not representable"),
        _numbered(rows),
    )


def _numbered(rows: Sequence[list[str]]) -> list[list[str]]:
    """The rows by the numbers of their tasks."""
    return sorted(rows, key=lambda row: int(row[0].rpartition("_")[2]))


def _done(utility: bool) -> str:
    return "done" if utility else "not done"


def _succeeded(verdict: Verdict) -> str:
    return "succeeded" if verdict.security else "failed"


def _agreeing(found: Sequence[Compared]) -> str:
    return f"{sum(each.agree for each in found)} of {len(found)}" if found else "-"
