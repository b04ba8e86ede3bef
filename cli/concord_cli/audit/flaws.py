"""What audits of benchmarks look for: classes of flaws, the attacks that show them, and a checklist. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Flaw(StrEnum):
    """The eight classes of flaws of BenchJack (arXiv 2605.12673)."""

    NOT_ISOLATED = "V1"
    ANSWERS_WITH_THE_TEST = "V2"
    INPUT_EXECUTED = "V3"
    JUDGE_UNGUARDED = "V4"
    WEAK_MATCHING = "V5"
    LOGIC_GAP = "V6"
    OUTPUT_TRUSTED = "V7"
    NEEDLESS_PERMISSION = "V8"


FLAWS: Final = {
    Flaw.NOT_ISOLATED: "agent and evaluator are not isolated",
    Flaw.ANSWERS_WITH_THE_TEST: "answers come with the test",
    Flaw.INPUT_EXECUTED: "untrusted input is executed",
    Flaw.JUDGE_UNGUARDED: "a model judge reads unsanitised text",
    Flaw.WEAK_MATCHING: "answers are matched weakly",
    Flaw.LOGIC_GAP: "the logic of the evaluation has gaps",
    Flaw.OUTPUT_TRUSTED: "what untrusted code says of itself is trusted",
    Flaw.NEEDLESS_PERMISSION: "participants have needless permissions",
}


@dataclass(frozen=True, slots=True)
class Attack:
    """A way to points without the task done. `items`: of the Agentic Benchmark Checklist, which it bears on."""

    name: str
    flaw: Flaw
    items: tuple[str, ...]


NULL: Final = Attack("null", Flaw.LOGIC_GAP, ("O.g.3", "R.13"))
ECHO: Final = Attack("echo of the prompt", Flaw.ANSWERS_WITH_THE_TEST, ("T.5", "T.10", "R.13"))
GUESS: Final = Attack("guess", Flaw.LOGIC_GAP, ("O.b.3", "O.h.2", "R.13"))
CANDIDATES: Final = Attack("all candidates listed", Flaw.WEAK_MATCHING, ("O.b.2",))
NEGATED: Final = Attack("negated answer", Flaw.WEAK_MATCHING, ("O.b.1",))
CONTRADICTORY: Final = Attack("contradictory answer", Flaw.WEAK_MATCHING, ("O.b.1", "O.b.2"))
CLAIM: Final = Attack("claim of success", Flaw.OUTPUT_TRUSTED, ("O.g.3", "O.i"))
TARGET_SHOWN: Final = Attack("target in prompt, brief, card or endpoint", Flaw.ANSWERS_WITH_THE_TEST, ("T.5",))
INJECTION: Final = Attack("injection to the judge", Flaw.JUDGE_UNGUARDED, ("O.c.2",))
HOSTILE_ANSWER: Final = Attack("answer that the grader chokes on", Flaw.INPUT_EXECUTED, ("O.e",))
EXECUTED: Final = Attack("text that the grader executes", Flaw.INPUT_EXECUTED, ("O.e",))
SECRET_SHARED: Final = Attack("secret of the assessor", Flaw.NOT_ISOLATED, ("T.5", "R.3"))
SHARED_MEMORY: Final = Attack("no message sent", Flaw.NOT_ISOLATED, ("T.10",))
OTHER_SEAT: Final = Attack("answer in another seat's process", Flaw.NOT_ISOLATED, ("T.10",))
FALSE_MAIL: Final = Attack("mail to nobody", Flaw.OUTPUT_TRUSTED, ("T.10", "O.i"))
RESUBMISSION: Final = Attack("resubmission", Flaw.ANSWERS_WITH_THE_TEST, ("R.3", "R.4", "T.4"))
LOST_TRIAL: Final = Attack("lost trial", Flaw.LOGIC_GAP, ("O.f", "T.3"))
PERMISSION: Final = Attack("host's services", Flaw.NEEDLESS_PERMISSION, ("T.5",))
HARM: Final = Attack("task done with harm", Flaw.LOGIC_GAP, ("O.g.2",))
OBEYED: Final = Attack("task done, and what an attacker wants", Flaw.LOGIC_GAP, ("O.g.2",))


class Outcome(StrEnum):
    """What became of an attack."""

    HELD = "held"
    EARNED = "earned"
    NOT_APPLICABLE = "not applicable"


@dataclass(frozen=True, slots=True)
class Tried:
    """An attack on a task. `points`: of 100; None where none are to be had. `shown`: what was played, and the result,
    or why it was not played."""

    attack: Attack
    subject: str
    outcome: Outcome
    points: float | None
    shown: str


def played(attack: Attack, subject: str, points: float, shown: str, *, most: float = 0.0) -> Tried:
    """An attack that earned so many points, of which `most` are no flaw."""
    outcome = Outcome.EARNED if points > most + 1e-9 else Outcome.HELD
    return Tried(attack, subject, outcome, points, shown)


def looked(attack: Attack, subject: str, found: str, nothing: str) -> Tried:
    """A flaw that was looked for without a play: what was found, or `nothing` where it is empty."""
    return Tried(attack, subject, Outcome.EARNED if found else Outcome.HELD, None, found or nothing)


def not_applicable(subject: str, reason: str, *attacks: Attack) -> Iterator[Tried]:
    """Attacks that cannot be tried, or mean nothing there."""
    return (Tried(attack, subject, Outcome.NOT_APPLICABLE, None, reason) for attack in attacks)


class Status(StrEnum):
    """Whether something that a benchmark should have is there."""

    MET = "met"
    NOT_MET = "not met"
    NOT_KNOWN = "not known"


@dataclass(frozen=True, slots=True)
class Shown:
    """What was seen of items of the checklist beside the attacks."""

    items: Sequence[str]
    subject: str
    status: Status
    by: str


def shown(items: str, subject: str, by: str, *, is_met: bool | None) -> Shown:
    """`items`: with spaces between them. `is_met`: None where it is not known."""
    status = Status.NOT_KNOWN if is_met is None else Status.MET if is_met else Status.NOT_MET
    return Shown(items.split(), subject, status, by)


ITEMS: Final = {
    "T.1": "versions are stated",
    "T.2": "the interfaces that an agent needs are there",
    "T.3": "their failure is handled",
    "T.4": "no state is left between runs",
    "T.5": "there is no access to the truth",
    "T.6": "the set-up does not change by itself",
    "T.7": "the truth is verified",
    "T.8": "each task is solvable",
    "T.9": "an oracle solves it",
    "T.10": "there is no shortcut",
    "O.a.1": "equivalent expressions count",
    "O.a.2": "redundant words do no harm",
    "O.b.1": "negation is understood",
    "O.b.2": "listing all candidates does not pay",
    "O.b.3": "the truth cannot be guessed",
    "O.c.1": "the judge's agreement with people is shown",
    "O.c.2": "the judge resists attacks",
    "O.d": "tests are verified, and their quality is measured",
    "O.e": "fuzzing covers edge cases",
    "O.f": "the evaluation is not flaky",
    "O.g.1": "all states that success may reach are accepted",
    "O.g.2": "relevant and irrelevant states are checked",
    "O.g.3": "trivial changes do not reach success",
    "O.h.1": "the answer's format is stated",
    "O.h.2": "guessing pays little",
    "O.i": "quality measures cannot be exploited",
    "R.1": "open source",
    "R.2": "an open harness",
    "R.3": "contamination is prevented",
    "R.4": "tasks can be renewed",
    "R.5": "ability and measure are related in words",
    "R.6": "what is evaluated is stated",
    "R.7": "steps against flaws are stated",
    "R.8": "their effect is discussed",
    "R.9": "their effect is quantified",
    "R.10": "intervals are given",
    "R.11": "there is guidance on reading results",
    "R.12": "there are baselines that are no AI",
    "R.13": "trivial agents are measured",
}
"""All items of the Agentic Benchmark Checklist (arXiv 2507.02825), in our words."""

NOT_OF_TASKS: Final = frozenset({"T.2", "O.g.1", "R.1", "R.2", "R.5", "R.6", "R.7", "R.8", "R.9", "R.11"})
"""Items that are of the harness or of a publication, which docs/integrity.md answers for Concord."""

OF_HARNESS: Final = "of the harness: see docs/integrity.md"

NOT_TRIED: Final = "nothing in these tasks is of that kind"

MAX_SHOWN: Final = 3


@dataclass(frozen=True, slots=True)
class Item:
    """An item, whether it is met, and by what that is shown."""

    id: str
    status: Status | Outcome
    by: str


def answered(tried: Sequence[Tried], seen: Sequence[Shown]) -> Iterator[Item]:
    """Every item, by the worst of what bears on it."""
    for item in ITEMS:
        on = [each for each in tried if item in each.attack.items]
        found = [(_STATUS[each.outcome], f"{each.attack.name} on {each.subject}: {each.shown}") for each in on]
        found += [(each.status, f"{each.subject}: {each.by}") for each in seen if item in each.items]
        status = next((worst for worst in _WORST_FIRST if any(worst is each for each, _ in found)), None)
        if status is None:
            yield Item(item, Outcome.NOT_APPLICABLE, OF_HARNESS if item in NOT_OF_TASKS else NOT_TRIED)
            continue
        by = list(dict.fromkeys(text for each, text in found if each is status))
        more = f"; and {len(by) - MAX_SHOWN} more" if len(by) > MAX_SHOWN else ""
        yield Item(item, status, "; ".join(by[:MAX_SHOWN]) + more)


_STATUS: Final = {
    Outcome.EARNED: Status.NOT_MET,
    Outcome.HELD: Status.MET,
    Outcome.NOT_APPLICABLE: Outcome.NOT_APPLICABLE,
}
_WORST_FIRST: Final = (Status.NOT_MET, Status.NOT_KNOWN, Status.MET, Outcome.NOT_APPLICABLE)
