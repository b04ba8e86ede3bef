"""Failures of a recorded run: each exception once, where it was raised, and whether the run went on after it. Pure."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import nsmallest
from itertools import chain
from math import inf
from typing import Final, NamedTuple

from concord.assessment.recorded_work import Nature
from concord.trace.attributes import ERROR_TYPE, EXCEPTION, FINISH_REASON, RESPONSE_TEXT, SPAN_NAME
from concord.trace.otlp import genai
from concord.trace.step import CallType, as_utc
from concord.trace.stored_step import Step
from concord_evaluator.trace.reading import calls_model

# What was thrown, in the words of its recorder: the type and one line, without a traceback and local paths.

_TRACEBACK: Final = re.compile(r'\s*(?:Traceback \(most recent call last\):|\n\s+at \S|\n\s*File ")')
_LAST_LINE: Final = re.compile(r"^(?!Traceback|During |The above )[A-Za-z_][\w.]*(?::.*)?$", re.MULTILINE)
_REPR: Final = re.compile(r"([A-Za-z_][\w.]*)\((?:(['\"])(.*)\2)?,?\)", re.DOTALL)
_NAMED: Final = re.compile(
    r"((?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Exceeded|Timeout|Triggered|Cancelled|Interrupt))(?::\s*(.*))?"
)
_CODED: Final = re.compile(r"(\w+) \[(\w+)\](?=: )")
"""The head of an error with a code in Node.js, such as `Error [ERR_TIMEOUT]: …` or `DOMException [AbortError]: …`."""

_TWICE: Final = re.compile(r"(.+?)\n+((?!Error:)\w*Error(?: \[\w+\])?: )\1", re.DOTALL)
"""A message and, below it, the head of its stack, as LangChain.js writes them: only the stack has the type."""

_PLAIN_TYPES: Final = frozenset({"Error", "DOMException"})
"""Types of JavaScript that say less than a code."""

_PATH: Final = re.compile(
    r"(?:file://|(?<![\w/.]))"
    r"(?:[A-Za-z]:\\|/(?:home|Users|root|tmp|var|usr|opt|srv|site|mnt|app|private|workspace|etc)/)"
    r"[^\s'\"`,;:()]*[\\/]"
)
_UNTOLD: Final = frozenset({"", "error", "failed", "failure", "err", "internal error", "an error occurred"})
_GROUPS: Final = frozenset({"ExceptionGroup", "BaseExceptionGroup"})
_SHORTEST_QUOTE: Final = 4
"""Characters of a message by which another one that contains it is the same exception on its way up."""


class Thrown(NamedTuple):
    """An exception. `kind`: its type without its module, an error code, or ""."""

    kind: str
    message: str

    @property
    def text(self) -> str:
        """`ValueError: database is down`."""
        return ": ".join(filter(None, (self.kind, self.message)))

    @property
    def is_told(self) -> bool:
        """Whether it is more than the word that something failed."""
        return self.kind not in _GROUPS and bool(self.kind or self.message.casefold().strip(" .!") not in _UNTOLD)

    def is_that(self, other: "Thrown") -> bool:
        """Whether both are one exception: they say the same, one quotes the other, or one says nothing."""
        if not (self.is_told and other.is_told):
            return True
        if self.message == other.message:
            return self.kind == other.kind or bool(self.message and not (self.kind and other.kind))
        short, long = sorted((self.message, other.message), key=len)
        return len(short) >= _SHORTEST_QUOTE and short in long


def thrown(error: str, stated: str = "") -> Thrown:
    """The exception in an error's text. `stated`: its type, where the recorder says it apart."""
    head = _TRACEBACK.split(error, maxsplit=1)[0].strip()
    if not head and (lines := _LAST_LINE.findall(error)):
        head = lines[-1]
    if twice := _TWICE.fullmatch(head):
        head = twice[2] + twice[1]
    head = _CODED.sub(
        lambda found: found[2 if found[1] in _PLAIN_TYPES else 1], head.removeprefix("Uncaught "), count=1
    )
    kind, message = stated.rpartition(".")[2] if stated.isascii() else stated, head
    if whole := _REPR.fullmatch(head):
        kind, message = kind or whole[1].rpartition(".")[2], whole[3] or ""
    message = next((line.strip() for line in message.splitlines() if line.strip()), "")
    if (
        (named := _NAMED.fullmatch(message))
        and (own := named[1].rpartition(".")[2])
        and kind in {"", own, *_PLAIN_TYPES}
    ):
        kind, message = own, named[2] or ""
    return Thrown(kind, "" if message in (kind, stated) else _PATH.sub("", message))


_BY_TYPE: Final[Sequence[tuple[Nature, re.Pattern[str]]]] = (
    (
        "cancelled",
        re.compile(r"(?:\w*?(?:task|operation|request|future))?_?cancell?ed\w*|AbortError|499", re.IGNORECASE),
    ),
    ("guardrail", re.compile(r".*(?:guard_?rail|tripwire).*", re.IGNORECASE)),
    ("timeout", re.compile(r".*(?:timed?[ _-]?out|deadline[ _]?exceeded).*|408|504", re.IGNORECASE)),
)
_BY_MESSAGE: Final[Sequence[tuple[Nature, re.Pattern[str]]]] = (
    (
        "cancelled",
        re.compile(
            r"(?:(?:the|this) )?(?:(?:operation|request|task|call|run|work) )?(?:(?:was|has been) )?"
            r"(?:cancell?ed|aborted)\b",
            re.IGNORECASE,
        ),
    ),
    ("guardrail", re.compile(r".*(?:guard ?rail|tripwire)", re.IGNORECASE)),
    ("timeout", re.compile(r".*(?:time[ds]?[ _-]?out|deadline[ _]exceeded)", re.IGNORECASE)),
)


def nature_of(what: Thrown) -> Nature:
    """How something failed: as its type or code says, else the first line of its message."""
    by_type = (nature for nature, pattern in _BY_TYPE if pattern.fullmatch(what.kind))
    by_message = (nature for nature, pattern in _BY_MESSAGE if pattern.match(what.message))
    return next(chain(by_type, by_message), "error")


_REFUSALS: Final = re.compile(
    r"content[_ -]?filter|refusal|safety|prohibited|blocklist|recitation|guardrail", re.IGNORECASE
)
"""Reasons to stop of OpenAI, Azure, Anthropic, Google and Bedrock by which a model, or a filter, refuses to answer."""


GUARDRAIL: Final = "guardrail"
"""The operation of a guardrail's span."""

_OPERATION: Final = genai.GENAI_OPERATION[0]
_TRIPPED: Final = re.compile(r"['\"]?guardrail['\"]?\s*[:=]\s*['\"]([^'\"]+)")


class Failure(NamedTuple):
    """A failure. `step`: where it was raised. `guardrail`: the one that stopped it, "" if none is named.

    `handled`: something followed it: an answer, another attempt, other work, or another exception. `ended_run`: nothing
    did, and the trace is whole up to its root.
    """

    step: Step
    thrown: Thrown
    nature: Nature
    guardrail: str
    handled: bool
    ended_run: bool


@dataclass(frozen=True)
class Failures:
    """The failures of a run by the id of the step where they were raised, by their starts.

    `untold`: the steps that failed, and of whose failure other steps tell: frames that an exception passed on its way
    up, other callers' records of one call, and work that was cancelled because of a failure. `orphans`: the ids of the
    steps whose parents are missing.
    """

    by_step: Mapping[str, Failure]
    untold: frozenset[str]
    orphans: tuple[str, ...]

    @property
    def of_run(self) -> Failure | None:
        """The failure that ended the run; None if none did, or nobody can tell."""
        return next((each for each in self.by_step.values() if each.ended_run), None)


def failures_in(steps: Sequence[Step]) -> Failures:
    """The failures in the steps of a trace."""
    return _Run(steps).failures()


class _Run:
    """The steps of a run as a tree. Times are seconds, infinite where unknown."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps: dict[str, Step] = {}
        for step in sorted(steps, key=lambda each: (_start(each), each.step_id)):
            self._steps.setdefault(step.step_id, step)
        self._thrown = {each.step_id: found for each in self._steps.values() if (found := _thrown_in(each)) is not None}
        self._failing = {step_id for step_id in self._thrown if self._steps[step_id].failure is not None}
        self._echoes: dict[str, Sequence[Step]] = {}

    @cached_property
    def _twins(self) -> set[str]:
        """Of a call by several agents, all records but the first."""
        return {each.step_id for each in self._steps.values() if self._is_twin(each)}

    @cached_property
    def _children(self) -> Mapping[str, Sequence[Step]]:
        children: defaultdict[str, list[Step]] = defaultdict(list)
        for step in self._steps.values():
            children[self._above(step)].append(step)
        return children

    @cached_property
    def _until(self) -> Mapping[tuple[object, ...], float]:
        """The latest starts of what may follow a failure: by its kind, and by its place and name."""
        until: defaultdict[tuple[object, ...], float] = defaultdict(lambda: -inf)
        for step in self._steps.values():  # by their starts
            if step.step_id not in self._failing:
                start = _start(step)
                for key in (*_went_on_by(step), self._place(step)):
                    until[key] = start
        return until

    def failures(self) -> Failures:
        orphans = tuple(each.step_id for each in self._steps.values() if each.parent and each.parent not in self._steps)
        if not self._thrown:
            return Failures({}, frozenset(), orphans)
        found: dict[str, Failure] = {}
        passed = set(self._twins & self._thrown.keys())
        for step in self._parents_first():
            if step.step_id in self._thrown and step.step_id not in passed:
                way = self._way(step)
                passed.update(each.step_id for each in way)
                origin = way[-1]
                what = next(
                    filter(lambda each: each.is_told, (self._thrown[each.step_id] for each in reversed(way))), None
                )
                found[origin.step_id] = self._failure(step, origin, what or self._thrown[origin.step_id])
        effects = {step_id for step_id, each in found.items() if self._is_effect(each, found)}
        kept = {step_id: found[step_id] for step_id in self._steps if step_id in found and step_id not in effects}
        return Failures(kept, frozenset((passed | effects) - kept.keys()), orphans)

    def _is_twin(self, step: Step) -> bool:
        first = self._steps.get(step.step_id.rpartition("-")[0])
        return first is not None and (first.start_time, first.end_time) == (step.start_time, step.end_time)

    def _above(self, step: Step) -> str:
        return step.parent if step.parent in self._steps and step.parent is not None else ""

    def _parents_first(self) -> Iterator[Step]:
        pending = list(reversed(self._children[""]))
        while pending:
            step = pending.pop()
            yield step
            pending.extend(reversed(self._children.get(step.step_id, ())))

    def _ancestors(self, step: Step) -> Iterator[Step]:
        while above := self._above(step):
            step = self._steps[above]
            yield step

    def _way(self, top: Step) -> list[Step]:
        """The steps that an exception passed, from the outermost to where it was raised."""
        way = [top]
        while (below := self._raised_below(way[-1])) is not None:
            way.append(below)
        return way

    def _raised_below(self, step: Step) -> Step | None:
        """The next step below that has the same exception, also below steps that say nothing of it: of attempts one
        after the other the last, and of parallel ones the first."""
        what, found = self._thrown[step.step_id], list[Step]()
        pending = list(self._children.get(step.step_id, ()))
        while pending:
            each = pending.pop()
            thrown_here = self._thrown.get(each.step_id)
            if each.step_id in self._twins or (thrown_here is None and _says(each)):
                continue
            if thrown_here is None:
                pending.extend(self._children.get(each.step_id, ()))
            elif thrown_here.is_that(what) and self._same_nature(thrown_here, what):
                found.append(each)
        last = max(found, key=_end, default=None)
        return (
            None if last is None else min((each for each in found if _end(each) > _start(last)), key=_end, default=last)
        )

    @staticmethod
    def _same_nature(one: Thrown, other: Thrown) -> bool:
        """No exception that tells nothing is a cancellation: that followed from something."""
        return one.is_told == other.is_told or "cancelled" not in (nature_of(one), nature_of(other))

    def _failure(self, top: Step, origin: Step, what: Thrown) -> Failure:
        nature: Nature = nature_of(what)
        if origin.failure is None:
            nature = "exception" if EXCEPTION in origin.additional_attributes else "refusal"
        above = list(self._ancestors(top))
        root = above[-1] if above else top
        replaced = any(self._is_thrown_later(each) for each in above)
        again = map(self._place, (top, *above))  # another attempt, or the next turn of what is around it
        followed = any(_end(top) <= self._until[key] for key in (*_followed_by(origin), *again))
        answered = any(self._answered_after(each, top) for each in (top, *above))
        handled = nature == "exception" or replaced or followed or answered
        is_tree = len(self._steps) == 1 or len(self._children) > 1
        guardrail = self._guardrail(origin, what) if nature == "guardrail" else ""
        return Failure(origin, what, nature, guardrail, handled, not handled and not root.parent and is_tree)

    def _guardrail(self, stopped: Step, what: Thrown) -> str:
        """The guardrail that stopped a step: the one that the error names, else that in the step."""
        if named := _TRIPPED.search(what.message):
            return named[1]
        inside = (each for each in self._below(stopped) if each.additional_attributes.get(_OPERATION) == GUARDRAIL)
        return next(map(name_of, inside), "")

    def _is_thrown_later(self, step: Step) -> bool:
        return step.step_id in self._failing and nature_of(self._thrown[step.step_id]) != "cancelled"

    def _answered_after(self, step: Step, failed: Step) -> bool:
        """Whether a step that encloses a failure says something after it that no step inside had said before."""
        text = step.additional_attributes.get(RESPONSE_TEXT) if _end(step) >= _end(failed) else None
        return (
            bool(text)
            and _says(step)
            and not any(each is not failed and _end(each) <= _end(failed) for each in self._echoes_of(step))
        )

    def _echoes_of(self, step: Step) -> Sequence[Step]:
        """Of the steps below that say the same, the two that ended first: one of them may be the failure."""
        if (known := self._echoes.get(step.step_id)) is None:
            text = step.additional_attributes[RESPONSE_TEXT]
            same = (each for each in self._below(step) if each.additional_attributes.get(RESPONSE_TEXT) == text)
            known = self._echoes[step.step_id] = nsmallest(2, same, key=_end)
        return known

    def _below(self, step: Step) -> Iterator[Step]:
        pending = list(self._children.get(step.step_id, ()))
        while pending:
            each = pending.pop()
            yield each
            pending.extend(self._children.get(each.step_id, ()))

    def _place(self, step: Step) -> tuple[object, ...]:
        """Where another attempt of a step would stand, and its name."""
        return (step.kind, self._above(step) or step.parent or "", name_of(step))

    def _is_effect(self, failure: Failure, found: Mapping[str, Failure]) -> bool:
        """Whether work was cancelled because of another failure."""
        if failure.nature != "cancelled":
            return False
        return any(map(self._is_thrown_later, self._ancestors(failure.step))) or any(
            each.nature != "cancelled" and _end(each.step) <= _end(failure.step) for each in found.values()
        )


def name_of(step: Step) -> str:
    """The name of the agent that a step calls, or of the tool or model that it uses; else its own, "" if unknown."""
    action = step.step_action
    if action is not None and action.agent_invocation is not None:
        return action.agent_invocation.agent_name
    tool = None if action is None else action.tool_invocation
    own = step.name or step.additional_attributes.get(SPAN_NAME, "")
    return own if tool is None else tool.tool_name


def error_of(step: Step) -> str | None:
    """What failed in a step, or what was caught in it, as text; None if nothing did."""
    what = _thrown_in(step)
    return None if what is None else what.text or "error"


def _thrown_in(step: Step) -> Thrown | None:
    attributes = step.additional_attributes
    if (error := step.failure) is not None or (error := attributes.get(EXCEPTION)):
        return thrown(error, attributes.get(ERROR_TYPE, ""))
    stopped = attributes.get(FINISH_REASON, "")
    return Thrown("", f"stopped: {stopped}") if _REFUSALS.search(stopped) else None


def _says(step: Step) -> bool:
    """Whether a step ended with words. Those of a tool are no answer."""
    return step.kind is not CallType.TOOL and bool(step.additional_attributes.get(RESPONSE_TEXT))


def _went_on_by(step: Step) -> Iterator[tuple[str, ...]]:
    """What a run goes on by: an agent's work, a model's, words; after a tool also another tool."""
    kind = step.kind
    if kind is CallType.TOOL and not calls_model(step, step.additional_attributes):
        yield ("tool",)
    elif kind is not CallType.HOST or _says(step):
        yield ("work",)


def _followed_by(step: Step) -> Iterator[tuple[str, ...]]:
    yield ("work",)
    if step.kind is CallType.TOOL:
        yield ("tool",)


def _start(step: Step) -> float:
    return inf if step.start_time is None else as_utc(step.start_time).timestamp()


def _end(step: Step) -> float:
    return _start(step) if step.end_time is None else as_utc(step.end_time).timestamp()
