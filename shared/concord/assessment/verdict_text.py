"""The sentences of a verdict: templates over its fields, for the row, the terminal, the page and status updates."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from concord.assessment.verdict import Cause, CauseKind, Change, Estimate, Unknown, UnknownKind, Verdict

MAX_REASONED: Final = 3
"""Causes in the row's `reasoning`; `weaknesses` has all."""


@dataclass(frozen=True, slots=True)
class CauseWords:
    """The words for causes of one kind: in the terminal, on the page, in explanations and in the documents."""

    deed: str
    """What their agents did, after the names of these."""
    repair: str | None = None
    """What to do about it, after the names of the agents. A test plants each of these faults and repairs it so."""
    counted: str | None = "wrong part"
    """What `Cause.count` counts, if not trials."""
    together: bool = False
    """Whether they lie at all of their agents, and not at one of them."""
    names_part: bool = False
    """Whether their part, the tool or the model, belongs to the deed."""


CAUSE_WORDS: Final[Mapping[CauseKind, CauseWords]] = {
    CauseKind.NOT_SENT: CauseWords(
        "told nobody", repair="tell what its brief states to a seat that needs it or can pass it on"
    ),
    CauseKind.MISDIRECTED: CauseWords(
        "told only seats that could not use",
        repair="send what it knows to a seat that needs it or can pass it on, by that seat's name",
    ),
    CauseKind.UNDELIVERED: CauseWords(
        "had no connection that delivered", repair="restore the connection between them", together=True
    ),
    CauseKind.NOT_PASSED_ON: CauseWords("was told and did not pass on", repair="pass on what it is told"),
    CauseKind.CHANGED: CauseWords(
        "changed, and told others something else", repair="tell values as its brief states them, or as it was told"
    ),
    CauseKind.CONTRADICTED: CauseWords(
        "took back what it had told, and told something else",
        repair="stay with the value that it told first, if its brief states that",
    ),
    CauseKind.INVENTED: CauseWords(
        "told a value that stands in no brief", repair="tell only what a brief states or what follows from it"
    ),
    CauseKind.TRUNCATED: CauseWords(
        "wrote a message that was cut off", repair="write shorter messages, with what others need first"
    ),
    CauseKind.TOO_LATE: CauseWords("told too late", repair="tell what it knows as soon as it knows it"),
    CauseKind.ANSWERED_EARLY: CauseWords(
        "answered before it could know", repair="answer only when the facts are there, or correct the answer"
    ),
    CauseKind.NOT_USED: CauseWords("knew everything it needed and answered wrong"),
    CauseKind.UNREADABLE: CauseWords(
        "replied in a form that cannot be read", repair="reply in the form that the message asks for"
    ),
    CauseKind.NO_ANSWER: CauseWords("gave no answer", repair="give an answer"),
    CauseKind.AGENT_FAILED: CauseWords("failed"),
    CauseKind.UNPROVEN: CauseWords("answered right, and no message told it"),
    CauseKind.EMPTY_ANSWER: CauseWords("gave an empty answer", counted=None),
    CauseKind.NEVER_ASKED: CauseWords("got no call", counted=None, together=True),
    CauseKind.DISAGREED: CauseWords("stated different values", counted=None, together=True),
    CauseKind.WRONG_VALUE: CauseWords("was the first to say the wrong value", counted=None),
    CauseKind.LOST_VALUE: CauseWords("was told the right value, and lost it", counted=None),
    CauseKind.CLASHING_EDITS: CauseWords(
        "changed the same lines, so that their work could not be merged", counted="clash", together=True
    ),
    CauseKind.CALLS_FAILED: CauseWords("failed when it was called", counted="call"),
    CauseKind.RUN_FAILED: CauseWords("ended the run with an error", counted="run"),
    CauseKind.STEP_FAILED: CauseWords("failed in its own work", counted="failure"),
    CauseKind.TOOL_FAILED: CauseWords("used a tool that failed", counted="use", names_part=True),
    CauseKind.MODEL_FAILED: CauseWords("called a model that failed", counted="call", names_part=True),
    CauseKind.REFUSED: CauseWords("called a model that refused to answer", counted="call", names_part=True),
    CauseKind.GUARDRAIL: CauseWords("was stopped by a guardrail", counted="stop", names_part=True),
    CauseKind.EXCEPTION: CauseWords("recorded an exception and went on", counted="exception", names_part=True),
    CauseKind.CRITERION: CauseWords("not met", counted=None),
    CauseKind.VETO: CauseWords("vetoed", counted=None),
    CauseKind.UNEXPLAINED: CauseWords("the answer is not right, and no cause could be shown", counted="answer"),
}


@dataclass(frozen=True, slots=True)
class CauseText:
    """A cause in words: `agent/2`, `told nobody: the reading`, `20.0 points`, `4 wrong parts, sort`."""

    subject: str
    text: str
    points: str
    where: str

    @property
    def cost(self) -> str:
        """What it cost, and where."""
        return f"{self.points}; {self.where}" if self.where else self.points

    @property
    def sentence(self) -> str:
        """All of it on one line."""
        return f"{self.subject} {self.text} ({self.cost})" if self.subject else f"{self.text} ({self.cost})"


def outcome_word(verdict: Verdict) -> str:
    """One word, or two."""
    if verdict.score is None or _structure_only(verdict):
        return "Not played" if _structure_only(verdict) else "Not judged" if verdict.trials else "Nothing assessed"
    return {True: "Passed", False: "Failed", None: "Undecided"}[verdict.passed]


def outcome_text(verdict: Verdict) -> str:
    """`Failed: 1 of 3 trials reached the mark of 66`."""
    if verdict.score is None or _structure_only(verdict):
        return f"{outcome_word(verdict)}: {_counted(verdict.trials, 'trial')}"
    how = "passed on utility and safety" if verdict.figures.utility else f"reached the mark of {verdict.mark:g}"
    return f"{outcome_word(verdict)}: {verdict.trials_passed:,} of {_counted(verdict.trials, 'trial')} {how}"


def score_text(verdict: Verdict) -> str:
    """`Score 83.0 of 100 (95 %: 70 to 92)`."""
    if verdict.score is None:
        return "No score"
    return f"Score {verdict.score.value:.1f} of 100{_interval(verdict.score)}"


def known_text(verdict: Verdict) -> str:
    """What is known where nobody judged: `Seen: 5 agents, 12 calls between them, ...`, with findings
    without their advice. Empty in all other verdicts."""
    known = verdict.known
    if known is None:
        return ""
    calls = [_counted(known.agents, "agent")]
    if known.agents > 1:
        calls.append(f"{_counted(known.calls, 'call')} between them, {known.failed:,} failed")
    if verdict.figures.latency_ms is not None:
        calls.append(f"{verdict.figures.latency_ms:,.0f} ms per call")
    graph = [] if known.coordination is None else [f"coordination {known.coordination}"]
    graph += [] if known.density is None else [f"density {known.density:.2f}"]
    graph += [] if known.bottleneck is None else [f"{'a' if known.bottleneck else 'no'} bottleneck"]
    graph += [f"isolated: {', '.join(known.isolated)}"] if known.isolated else []
    findings = [each.partition(": ")[0].rstrip(".") for each in known.findings[:MAX_REASONED]]
    return f"Seen: {'; '.join(filter(None, [', '.join(calls), ', '.join(graph), *findings]))}"


def cause_text(cause: Cause) -> CauseText:
    """The words of a cause. They hold texts of agents, and are to be made printable."""
    evidence = ", ".join(_evidence(cause))
    deed = _deed(cause)
    points = "points unknown" if cause.points is None else f"{cause.points:.1f} points"
    return CauseText(_subject(cause), f"{deed}: {evidence}" if evidence else deed, points, _where(cause))


def deed_text(cause: Cause) -> str:
    """A cause in a few words, without its evidence and its cost."""
    return f"{_subject(cause)} {_deed(cause)}".strip()


def _deed(cause: Cause) -> str:
    words = CAUSE_WORDS[cause.kind]
    return f"{words.deed} ({cause.part})" if words.names_part and cause.part is not None else words.deed


def change_text(change: Change) -> str:
    """What to do about a cause, or where to look."""
    who = " or ".join(change.agents) or "The team"
    if change.repairs:
        return f"{who}: {CAUSE_WORDS[change.kind].repair}"
    return f"{who}: look at step {change.step_id}"


def unknown_text(unknown: Unknown) -> str:
    """A sentence on what is unknown, and what it may be worth."""
    names = ", ".join(unknown.agents)
    if unknown.count > len(unknown.agents) > 0:
        names += f" and {unknown.count - len(unknown.agents)} more"
    sentence = _UNKNOWN[unknown.kind].format(n=f"{unknown.count:,}", s="" if unknown.count == 1 else "s", names=names)
    if unknown.reasons:
        more = f"; and {unknown.reasons_omitted:,} more" if unknown.reasons_omitted else ""
        sentence += f": {'; '.join(unknown.reasons)}{more}"
    return sentence + (f" ({unknown.points:.1f} points)" if unknown.points else "")


def headline_of(verdict: Verdict) -> str:
    """The verdict on one line: outcome, score, and the cause that cost most. Without a score, what is known comes
    first."""
    costliest = [cause_text(verdict.causes[0]).sentence] if verdict.causes else []
    sentences = filter(None, [known_text(verdict), outcome_text(verdict), score_text(verdict), *costliest])
    return " ".join(f"{sentence}." for sentence in sentences)


def reasoning_of(verdict: Verdict) -> str:
    """The verdict in sentences: outcome, score, the causes that cost most, and what is unknown. Without a score, what
    is known comes first."""
    causes = [cause_text(cause).sentence for cause in verdict.causes[:MAX_REASONED]]
    others = len(verdict.causes) - len(causes) + verdict.causes_left_out
    sentences = [*filter(None, [known_text(verdict)]), outcome_text(verdict), score_text(verdict), *causes]
    if others:
        sentences.append(f"{_counted(others, 'more cause')}")
    return " ".join(f"{sentence}." for sentence in [*sentences, *map(unknown_text, verdict.unknown)])


def strengths_of(verdict: Verdict) -> list[str]:
    """What went well, as far as it is known."""
    return list(_strengths(verdict))


def weaknesses_of(verdict: Verdict) -> list[str]:
    """The causes, and how many others there are."""
    found = [cause_text(cause).sentence for cause in verdict.causes]
    if verdict.causes_left_out:
        found.append(f"{_counted(verdict.causes_left_out, 'more cause')} ({verdict.points_left_out:.1f} points)")
    return found


def _strengths(verdict: Verdict) -> Iterator[str]:
    if verdict.score is None or _structure_only(verdict):
        return
    if verdict.score.value >= 100:
        yield "Every trial earned all of its points"
    elif verdict.trials_passed:
        how = "passed on utility and safety" if verdict.figures.utility else "reached the mark"
        yield f"{verdict.trials_passed:,} of {_counted(verdict.trials, 'trial')} {how}"
    if verdict.figures.information is not None and verdict.figures.information.value >= 1:
        yield "Every needed fact reached the seats that needed it"


def _subject(cause: Cause) -> str:
    """The agents of a cause, or its part where no agent is to blame."""
    if cause.kind in (CauseKind.CRITERION, CauseKind.VETO, CauseKind.UNEXPLAINED):
        return f"{cause.part}:" if cause.part else ""
    return (" and " if CAUSE_WORDS[cause.kind].together else " or ").join(cause.agents) or "Nobody knows who"


def _evidence(cause: Cause) -> Iterator[str]:
    for each in cause.evidence:
        said = each.text if each.agent is None or each.agent in cause.agents else f"{each.agent}: {each.text}"
        yield said if each.step_id is None else f"{said} (step {each.step_id})"
    if cause.evidence_omitted:
        yield f"and {cause.evidence_omitted:,} more"


def _where(cause: Cause) -> str:
    """How often, in how many trials, of which task, and how certainly."""
    counted = CAUSE_WORDS[cause.kind].counted
    times = [] if counted is None else [_counted(cause.count, counted)]
    if cause.trials_count > 1:
        times.append(_counted(cause.trials_count, "trial"))
    if cause.tasks and cause.part not in cause.tasks:
        times.append(cause.tasks[0] if len(cause.tasks) == 1 else _counted(len(cause.tasks), "task"))
    return ", ".join(times if cause.certainty == "proven" else [*times, cause.certainty])


def _structure_only(verdict: Verdict) -> bool:
    return any(each.kind is UnknownKind.STRUCTURE_ONLY for each in verdict.unknown)


def _interval(estimate: Estimate) -> str:
    return (
        "" if estimate.low is None or estimate.high is None else f" (95 %: {estimate.low:.0f} to {estimate.high:.0f})"
    )


def _counted(n: int, thing: str) -> str:
    return f"{n:,} {thing}" if n == 1 else f"{n:,} {thing}s"


_UNKNOWN: Final[Mapping[UnknownKind, str]] = {
    UnknownKind.NOT_JUDGED: "Nobody judged {n} trial{s}",
    UnknownKind.MODEL_FAILED: "The configured model gave no judgment of {n} trial{s}",
    UnknownKind.LOST: "{n} trial{s} could not be evaluated",
    UnknownKind.UNREACHED: "{n} participant{s} could not be reached",
    UnknownKind.SERVER_FAILED: "What {names} can do was not seen: a server error (HTTP 5xx) answered every message",
    UnknownKind.UNCHECKED: "{n} criterion check{s} failed",
    UnknownKind.PEOPLE_FAILED: "What it reaches without {n} fault{s} of simulated people is open",
    UnknownKind.NOT_OBSERVED: "Calls by {names}, if any, could not be observed",
    UnknownKind.STEPS_LOST: "{n} step{s} of the trace came too late, were dropped or contradict each other",
    UnknownKind.SPREAD: "How much the score varies cannot be told: {n} trial{s} of one task",
    UnknownKind.NEAR_MARK: "Whether it would pass again is open: the interval contains the mark",
    UnknownKind.TEAMWORK: "What the team added is not measured: nobody did the tasks alone",
    UnknownKind.NOT_ALONE: "What the team added is open: nothing shows that the starting agent was without its peers",
    UnknownKind.NOT_ISOLATED: "What the {n} seat{s} shared beside their messages is not proven",
    UnknownKind.NO_RECEIPTS: "What the answers of {n} trial{s} rest on is not proven: their facts are prose",
    UnknownKind.FAULTS_PLANTED: "How the team does without the {n} planted fault{s} is not measured: not to be ranked",
    UnknownKind.RESTS_ON_MODEL: "The grade of {n} trial{s} rests on a model that read the agents' own texts",
    UnknownKind.STRUCTURE_ONLY: "The pattern was given and not played, so only its structure is known",
}
