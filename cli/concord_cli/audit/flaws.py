"""What audits of benchmarks look for: classes of flaws, the attacks that show them, and what an attack earned."""

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


def not_applicable(attack: Attack, subject: str, reason: str) -> Tried:
    """An attack that cannot be tried, or means nothing there."""
    return Tried(attack, subject, Outcome.NOT_APPLICABLE, None, reason)


class Status(StrEnum):
    """Whether something that a benchmark should have is there."""

    MET = "met"
    NOT_MET = "not met"
    NOT_KNOWN = "not known"


@dataclass(frozen=True, slots=True)
class Shown:
    """What was seen of an item of the checklist beside the attacks."""

    item: str
    subject: str
    status: Status
    by: str
