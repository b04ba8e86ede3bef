"""Finders of observations: in calls, in deliveries, in edits of artifacts, and in what agents say."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, groupby, islice
from typing import Final, NamedTuple

from concord.assessment.observations import Observation, ObservationKind
from concord.assessment.verdict import MAX_EVIDENCE, MAX_NAMED, Evidence
from concord.trace.effects import Effect, EffectKind, Lines, Workspace
from concord_evaluator.failures import nature_of, thrown
from concord_evaluator.observations.acts import Act, Deed

# What a finder returns, and the quotes that it shows.

MAX_QUOTE: Final = 240
"""Characters of a quote."""

Finder = Callable[[Sequence[Act]], Iterable[Observation]]
"""Finds one kind of observation in the acts of a trace. Pure, and independent of agents' names and places."""


def observed(
    kind: ObservationKind,
    agents: Iterable[str],
    acts: Sequence[Act],
    quotes: Iterable[tuple[Act, str]],
    *,
    about: str = "",
    count: int = 1,
) -> Observation:
    """An observation in these acts, with quotes from some of them."""
    return Observation(
        kind=kind,
        agents=list(dict.fromkeys(agents))[:MAX_NAMED],
        about=shortened(about),
        count=count,
        steps=list(dict.fromkeys(act.step_id for act in acts))[:MAX_NAMED],
        evidence=list(_evidence(quotes))[:MAX_EVIDENCE],
    )


def _evidence(quotes: Iterable[tuple[Act, str]]) -> Iterator[Evidence]:
    for act, text in quotes:
        if text.strip():
            yield Evidence(text=shortened(text), agent=act.agent, step_id=act.step_id)


def shortened(text: str, around: int = 0) -> str:
    """The text in at most `MAX_QUOTE` characters, from a little before the character `around`."""
    start = max(0, around - MAX_QUOTE // 3) if len(text) > MAX_QUOTE else 0
    cut = text[start : start + MAX_QUOTE]
    return f"{'…' if start else ''}{cut}{'…' if start + MAX_QUOTE < len(text) else ''}"


# Observations in calls of agents and tools: failures that stayed, repeated errors, and the same call twice.

REPEATS: Final = 3
"""Equal calls with equal errors that count as repeated unchanged: one more attempt may be a sensible retry."""

STORM: Final = 5
"""Failed calls in a row, of one agent to one callee or tool."""

SHORTEST_WORK: Final = 40
"""Characters of a tool's arguments below which two equal calls are no repeated work, such as a listing of a folder."""

_TURN_LIMIT: Final = re.compile(
    r"max(?:imum)?[ _-]?(?:number of )?(?:turn|iteration|step|round)s?|recursion[ _-]?(?:limit|error)", re.IGNORECASE
)

_CALLS: Final = frozenset({Deed.MESSAGE, Deed.TOOL, Deed.MODEL})


def _by_target(acts: Sequence[Act]) -> dict[tuple[str, Deed, str], list[Act]]:
    """The calls of each agent to each callee or tool, in order."""
    found = defaultdict[tuple[str, Deed, str], list[Act]](list)
    for act in acts:
        if act.deed in _CALLS:
            found[act.agent, act.deed, act.to].append(act)
    return found


def unrepaired_failures(acts: Sequence[Act]) -> Iterator[Observation]:
    """A call that failed, without any later call by anybody to that callee or tool that did not."""
    last_success = {
        (act.deed, act.to): index for index, act in enumerate(acts) if act.error is None and not act.failed_below
    }
    failed = defaultdict[tuple[str, Deed, str], list[Act]](list)
    for index, act in enumerate(acts):
        if act.deed in _CALLS and act.error is not None and index > last_success.get((act.deed, act.to), -1):
            failed[act.agent, act.deed, act.to].append(act)
    for (agent, _, to), calls in failed.items():
        quotes = [(act, act.error or "") for act in calls[-1:]]
        yield observed(ObservationKind.UNREPAIRED_FAILURE, [agent], calls, quotes, about=to, count=len(calls))


def repeated_errors(acts: Sequence[Act]) -> Iterator[Observation]:
    """An agent that made the same call at least `REPEATS` times and got the same error each time."""
    for (agent, _, to), calls in _by_target(acts).items():
        equal = defaultdict[tuple[str, str], list[Act]](list)
        for act in calls:
            if act.error is not None:
                equal[act.text, act.error].append(act)
        for (text, error), repeated in equal.items():
            if len(repeated) >= REPEATS:
                quotes = [(repeated[0], text), (repeated[-1], error)]
                yield observed(ObservationKind.REPEATED_ERROR, [agent], repeated, quotes, about=to, count=len(repeated))


def retry_storms(acts: Sequence[Act]) -> Iterator[Observation]:
    """An agent with at least `STORM` failed calls in a row to one callee or tool."""
    for (agent, _, to), calls in _by_target(acts).items():
        rows = (list(row) for failed, row in groupby(calls, key=lambda act: act.error is not None) if failed)
        longest = max(rows, key=len, default=[])
        if len(longest) >= STORM:
            quotes = [(act, act.error or "") for act in (longest[0], longest[-1])]
            yield observed(ObservationKind.RETRY_STORM, [agent], longest, quotes, about=to, count=len(longest))


def same_calls(acts: Sequence[Act]) -> Iterator[Observation]:
    """Two agents that used a tool with the same arguments and got the same result."""
    made = defaultdict[tuple[str, str, str], list[Act]](list)
    for act in acts:
        if act.deed is Deed.TOOL and act.error is None and act.result and len(act.text) >= SHORTEST_WORK:
            made[act.to, act.text, act.result].append(act)
    for (to, text, _), calls in made.items():
        if len({act.agent for act in calls}) > 1:
            agents = [act.agent for act in calls]
            yield observed(
                ObservationKind.SAME_WORK_TWICE, agents, calls, [(calls[0], text)], about=to, count=len(calls)
            )


def same_uses(acts: Sequence[Act]) -> Iterator[Observation]:
    """An agent that used a tool at least `REPEATS` times with the same arguments. Equal errors are told apart."""
    for (agent, deed, to), calls in _by_target(acts).items():
        equal = defaultdict[str, list[Act]](list)
        for act in calls if deed is Deed.TOOL else ():
            if act.text and act.error is None and not act.failed_below:
                equal[act.text].append(act)
        for text, used in equal.items():
            if len(used) >= REPEATS:
                yield observed(ObservationKind.SAME_CALL, [agent], used, [(used[0], text)], about=to, count=len(used))


def passed_to_and_fro(acts: Sequence[Act]) -> Iterator[Observation]:
    """Two agents that sent the same text to each other, each of them at least twice."""
    sent = defaultdict[tuple[str, str, str], list[Act]](list)
    for act in acts:
        if act.deed is Deed.MESSAGE and act.text and act.to != act.agent:
            first, second = sorted((act.agent, act.to))
            sent[first, second, act.text].append(act)
    for (first, second, text), messages in sent.items():
        by_sender = Counter(act.agent for act in messages)
        if min(by_sender[first], by_sender[second]) > 1:
            kind = ObservationKind.TO_AND_FRO
            yield observed(kind, [first, second], messages, [(messages[0], text)], count=len(messages))


def timeouts(acts: Sequence[Act]) -> Iterator[Observation]:
    """Calls and own work of an agent that failed by time."""
    yield from _failed_so(acts, ObservationKind.TIMED_OUT, lambda error: nature_of(thrown(error)) == "timeout")


def turn_limits(acts: Sequence[Act]) -> Iterator[Observation]:
    """Work that ended at a limit of its turns."""
    yield from _failed_so(acts, ObservationKind.TURN_LIMIT, lambda error: _TURN_LIMIT.search(error) is not None)


def _failed_so(acts: Sequence[Act], kind: ObservationKind, is_so: Callable[[str], bool]) -> Iterator[Observation]:
    failed = defaultdict[tuple[str, str], list[Act]](list)
    for act in acts:
        if act.error is not None and is_so(act.error):
            failed[act.agent, act.to].append(act)
    for (agent, to), found in failed.items():
        yield observed(kind, [agent], found, [(found[-1], found[-1].error or "")], about=to, count=len(found))


# Observations in what agents took on, checked and delivered.

_END: Final = "TERMINATE"
"""The message by which AG2 and AutoGen end a conversation."""

_DONE: Final = frozenset({EffectKind.EDITED, EffectKind.FINISHED, EffectKind.DELIVERED})


def empty_deliveries(acts: Sequence[Act]) -> Iterator[Observation]:
    """An agent whose last delivery changed nothing."""
    last = {act.agent: act for act in acts if act.effect is not None and act.effect.kind is EffectKind.DELIVERED}
    for agent, act in last.items():
        if act.effect is not None and act.effect.is_empty:
            quote = f"{act.effect.artifact}: 0 lines added, 0 removed"
            yield observed(ObservationKind.DELIVERED_NOTHING, [agent], [act], [(act, quote)], about=act.effect.artifact)


def unfinished_claims(acts: Sequence[Act]) -> Iterator[Observation]:
    """An artifact that an agent took on, and that nobody edited, finished or delivered.

    Only in a trace that shows some finished work: otherwise nothing is known of any.
    """
    done = {act.effect.artifact for act in acts if act.effect is not None and act.effect.kind in _DONE}
    claimed: dict[tuple[str, str], Act] = {}
    for act in acts:
        if act.effect is not None and act.effect.kind is EffectKind.CLAIMED and act.effect.artifact not in done:
            claimed.setdefault((act.agent, act.effect.artifact), act)
    for (agent, artifact), act in claimed.items() if done else ():
        stated = "" if act.effect is None else act.effect.excerpt
        quotes = [(act, act.text or stated or f"claimed {artifact}")]
        yield observed(ObservationKind.CLAIMED_UNFINISHED, [agent], [act], quotes, about=artifact)


def failing_deliveries(acts: Sequence[Act]) -> Iterator[Observation]:
    """A delivery after the last check of its agent, or of the artifact, had failed."""
    failed: dict[str, Act] = {}
    """By agent, and by artifact, the failed check that no passed one followed."""
    for act in acts:
        effect = act.effect
        if effect is None:
            continue
        places = (f"agent {act.agent}", f"artifact {effect.artifact}")
        if effect.kind is EffectKind.CHECKED and effect.passed is not None:
            for place in places:
                if effect.passed:
                    failed.pop(place, None)
                else:
                    failed[place] = act
        elif effect.kind is EffectKind.DELIVERED:
            check = next((failed[place] for place in places if place in failed), None)
            if check is not None and check.effect is not None:
                quotes = [(check, check.effect.excerpt or check.result or check.error or "the check failed")]
                yield observed(
                    ObservationKind.DELIVERED_FAILING, [act.agent], (check, act), quotes, about=effect.artifact
                )


def work_after_end(acts: Sequence[Act]) -> Iterator[Observation]:
    """Edits of an artifact by the agent that had delivered it, not delivered again; and what followed the word that
    ends a conversation."""
    delivered: dict[tuple[str, str], Act] = {}
    after: dict[tuple[str, str], list[Act]] = {}
    for act in acts:
        if act.effect is None:
            continue
        place = act.agent, act.effect.artifact
        if act.effect.kind is EffectKind.DELIVERED:
            delivered[place] = act
            after.pop(place, None)
        elif act.effect.kind is EffectKind.EDITED and place in delivered:
            after.setdefault(place, []).append(act)
    for place, edits in after.items():
        quotes = [(act, act.effect.excerpt) for act in edits if act.effect is not None]
        yield observed(
            ObservationKind.WORK_AFTER_END,
            [place[0]],
            [delivered[place], *edits],
            quotes,
            about=place[1],
            count=len(edits),
        )
    said = [act for act in acts if act.speaks]
    ended = next((index for index, act in enumerate(said) if act.text.strip() == _END), len(said))
    if late := [act for act in said[ended + 1 :] if act.text.strip() != _END and act.agent]:
        yield observed(
            ObservationKind.WORK_AFTER_END,
            [act.agent for act in late],
            [said[ended], *late],
            [(late[0], late[0].text)],
            count=len(late),
        )


# Observations in edits of artifacts: clashing, undone, and the same one twice.

CONTAINED: Final = 0.9
"""The part of an agent's added lines that another one's edits have to contain to count as the same work."""

MAX_PAIRS: Final = 1000
"""Touching pairs of edits that are looked at in each artifact."""

_MAX_COMPARED: Final = 200_000
"""Pairs that are compared to find them: one agent may edit the same lines any number of times."""


class _Edit(NamedTuple):
    act: Act
    effect: Effect
    lines: Lines


def clashing_edits(acts: Sequence[Act]) -> Iterator[Observation]:
    """Two agents with copies of their own changed the same lines differently, so that their work cannot be merged.

    Not where one agent's work contains most of the other's, which then needs no merge, and not in shared files, where
    the later edit builds on the earlier one. Adjoining lines count, as in `git merge`.
    """
    by_artifact = defaultdict[str, list[_Edit]](list)
    added = defaultdict[str, Counter[tuple[str, str]]](Counter)
    for act in acts:
        effect = act.effect
        if effect is None or effect.kind is not EffectKind.EDITED or effect.workspace is not Workspace.SEPARATE:
            continue
        added[act.agent].update((effect.artifact, line) for line in effect.excerpt.splitlines() if line[:1] == "+")
        if effect.lines is not None and effect.digest:
            by_artifact[effect.artifact].append(_Edit(act, effect, effect.lines))
    for artifact, edits in by_artifact.items():
        clashes = defaultdict[tuple[str, str], list[tuple[_Edit, _Edit]]](list)
        for one, other in _touching(edits):
            if one.effect.digest != other.effect.digest:
                clashes[_pair(one, other)].append((one, other))
        for (first, second), pairs in sorted(clashes.items()):
            if _contained(added[first], added[second]) <= CONTAINED:
                found = [each.act for pair in pairs for each in pair]
                quotes = [
                    (each.act, f"{artifact}, line {each.lines.start}:\n{each.effect.excerpt}") for each in pairs[0]
                ]
                yield observed(
                    ObservationKind.CLASHING_EDITS, (first, second), found, quotes, about=artifact, count=len(pairs)
                )


def _touching(edits: Sequence[_Edit]) -> Iterator[tuple[_Edit, _Edit]]:
    """The pairs of edits of different agents that touch, in the order of the artifact, at most `MAX_PAIRS`."""
    n_pairs = n_compared = 0
    open_ones: list[_Edit] = []
    for edit in sorted(edits, key=lambda each: (each.lines, each.act.step_id)):
        open_ones = [each for each in open_ones if each.lines.start + each.lines.length >= edit.lines.start]
        for other in open_ones:
            if other.act.agent != edit.act.agent and other.lines.touches(edit.lines):
                yield other, edit
                n_pairs += 1
                if n_pairs == MAX_PAIRS:
                    return
        n_compared += len(open_ones)
        if n_compared > _MAX_COMPARED:
            return
        open_ones.append(edit)


def _pair(one: _Edit, other: _Edit) -> tuple[str, str]:
    first, second = sorted((one.act.agent, other.act.agent))
    return first, second


def _contained(one: Counter[tuple[str, str]], other: Counter[tuple[str, str]]) -> float:
    """The larger part of either's lines that the other has too, from 0 to 1."""
    common = (one & other).total()
    return max(common / max(1, one.total()), common / max(1, other.total()))


def undone_edits(acts: Sequence[Act]) -> Iterator[Observation]:
    """An edit that puts back exactly what an earlier one had replaced: in shared files, or by the same agent."""
    earlier = defaultdict[tuple[str, tuple[str, ...], tuple[str, ...]], dict[str, Act]](dict)
    """By artifact, removed and added lines: the first such edit of each agent."""
    for act in acts:
        effect = act.effect
        if effect is None or effect.kind is not EffectKind.EDITED or not effect.excerpt:
            continue
        removed, added = (_signed(effect.excerpt, sign) for sign in "-+")
        reverted = earlier.get((effect.artifact, added, removed), {})
        shared = effect.workspace is Workspace.SHARED
        before = next(iter(reverted.values()), None) if shared else reverted.get(act.agent)
        if before is not None and before.effect is not None:
            quotes = [(before, before.effect.excerpt), (act, effect.excerpt)]
            agents = (act.agent, before.agent)
            yield observed(ObservationKind.UNDONE_EDIT, agents, (before, act), quotes, about=effect.artifact)
        earlier[effect.artifact, removed, added].setdefault(act.agent, act)


def _signed(excerpt: str, sign: str) -> tuple[str, ...]:
    return tuple(line[1:] for line in excerpt.splitlines() if line[:1] == sign)


def same_deliveries(acts: Sequence[Act]) -> Iterator[Observation]:
    """The same content, not empty, that was delivered twice: by two agents, or by one, as a message sent again."""
    by_digest: dict[str, Act] = {}
    for act in acts:
        effect = act.effect
        if effect is None or effect.kind is not EffectKind.DELIVERED or not effect.digest or effect.is_empty:
            continue
        before = by_digest.setdefault(effect.digest, act)
        if before is not act:
            yield observed(
                ObservationKind.SAME_WORK_TWICE,
                (before.agent, act.agent),
                (before, act),
                [(each, each.effect.artifact) for each in (before, act) if each.effect is not None],
                about=effect.artifact,
            )


# Observations in what agents say: corrections that were not taken up, and values that changed on the way.

_VALUE: Final = r"[\"'`“]?(-?\d[\d.,:/-]{0,30}\d|\d)[\"'`”]?"
"""A number, a date or a time. Words are not read: too many things may be said in other words."""

_CORRECTIONS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\bnot {_VALUE}\s*,?\s*(?:but|it is|it's|it should be)\s+{_VALUE}",
        rf"{_VALUE} (?:is|was) (?:wrong|incorrect|mistaken|outdated)\b[^.\n]{{0,60}}?\b"
        rf"(?:should be|must be|is actually|correct (?:value|number|answer) is|it is)\s+{_VALUE}",
        rf"\b(?:changed|moved|corrected|updated) from {_VALUE} to {_VALUE}",
        rf"\b(?:use|take)\s+{_VALUE}\s+instead of\s+{_VALUE}",
        rf"\bshould (?:be|have been) {_VALUE}\s*,?\s*(?:and )?(?:not|rather than|instead of) {_VALUE}",
    )
)
"""Sentences that put one value in the place of another."""

_NEW_FIRST: Final = frozenset(_CORRECTIONS[3:])
"""Those of them that name the new value first."""

_LABELLED: Final = re.compile(rf"\b([A-Za-z][A-Za-z_ -]{{3,40}}?)\s*(?:=|:| is | are | was )\s*{_VALUE}(?![\w%])")
_NUMBER: Final = re.compile(r"-?\d[\d.,:/-]{0,30}\d|\d")
_MAX_READ: Final = 50
"""Labelled values and corrections that are read of one message."""

MAX_CORRECTIONS: Final = 200
"""Corrections of a trace that are followed."""

_ARTICLES: Final = re.compile(r"^(?:the|a|an|my|our|your|its|total of)\s+", re.I)


class Correction(NamedTuple):
    """One value in the place of another. `at`: where in the text."""

    old: str
    new: str
    at: int


def corrections_in(text: str) -> Iterator[Correction]:
    """The corrections that a text states."""
    for pattern in _CORRECTIONS:
        for found in pattern.finditer(text):
            first, second = map(_plain, found.groups())
            if first != second:
                new, old = (first, second) if pattern in _NEW_FIRST else (second, first)
                yield Correction(old, new, found.start())


def ignored_corrections(acts: Sequence[Act]) -> Iterator[Observation]:
    """An agent that was told a correction, had spoken of the old value, and later states it and never the new one."""
    spoken = defaultdict[str, list[tuple[int, Act, frozenset[str]]]](list)
    for index, act in enumerate(acts):
        if act.speaks:
            spoken[act.agent].append((index, act, _numbers(act.text)))
    received = (
        (index, act, each)
        for index, act in enumerate(acts)
        if act.deed in {Deed.MESSAGE, Deed.ANSWER} and act.to != act.agent
        for each in islice(corrections_in(act.text), _MAX_READ)
    )
    for index, act, each in islice(received, MAX_CORRECTIONS):
        before = any(each.old in said for at, _, said in spoken[act.to] if at < index)
        later = [(other, said) for at, other, said in spoken[act.to] if at > index]
        kept = next((other for other, said in later if each.old in said), None)
        if before and kept is not None and not any(each.new in said for _, said in later):
            quotes = [
                (act, shortened(act.text, each.at)),
                (kept, shortened(kept.text, max(0, kept.text.find(each.old)))),
            ]
            about = f"{each.old} instead of {each.new}"
            yield observed(ObservationKind.IGNORED_CORRECTION, [act.to], (act, kept), quotes, about=about)


def changed_values(acts: Sequence[Act]) -> Iterator[Observation]:
    """An agent that others told one value under a name, and that tells a third agent another one under that name.

    Not where anybody told it that other value, or where it ever tells the one that it was told: it may have computed
    anew, or tell of both.
    """
    told = defaultdict[tuple[str, str], dict[str, tuple[Act, int]]](dict)
    """By agent and name, the values that others told it."""
    says = defaultdict[str, set[str]](set)
    for act in acts:
        if act.speaks:
            says[act.agent] |= _numbers(act.text)
    for act in acts:
        if act.deed not in {Deed.MESSAGE, Deed.ANSWER} or act.to == act.agent:
            continue
        for name, value, at in _labelled(act.text):
            known = told[act.agent, name]
            if len(known) == 1 and value not in known and says[act.agent].isdisjoint(known):
                [(original, (source, place))] = known.items()
                if act.to != source.agent:
                    quotes = [(source, shortened(source.text, place)), (act, shortened(act.text, at))]
                    about = f"{name}: {original}, then {value}"
                    yield observed(ObservationKind.CHANGED_VALUE, [act.agent], (source, act), quotes, about=about)
            told[act.to, name].setdefault(value, (act, at))


def unbrought_values(acts: Sequence[Act], task: str) -> Iterator[Observation]:
    """A member without an answer, whose tools and models brought nothing either, and a value of the team's answer that
    neither the task nor anybody before had. Only where the trace tells what the member asked its tools or models."""
    answer = next((act for act in reversed(acts) if act.deed is Deed.WORK and act.text), None)
    if answer is None:
        return
    brought = set(values_in(task)).union(
        *(
            values_in(text)
            for act in acts
            if act is not answer
            for text in (act.text, act.result)
            if text != answer.text
        )
    )
    invented = [written for value, written in values_in(answer.text).items() if value not in brought and len(value) > 1]
    spoke = {act.agent for act in acts if act.speaks and act.deed is not Deed.MESSAGE}
    for member in dict.fromkeys(act.agent for act in acts if act.deed in {Deed.TOOL, Deed.MODEL} and act.text):
        if invented and member not in spoke and member != answer.agent:
            own = [act for act in acts if act.agent == member and act.deed in {Deed.TOOL, Deed.MODEL}]
            quotes = [(own[-1], own[-1].result or own[-1].text), (answer, answer.text)]
            about = ", ".join(invented)
            yield observed(ObservationKind.UNBROUGHT_VALUE, [member], [own[-1], answer], quotes, about=about)


def _labelled(text: str) -> list[tuple[str, str, int]]:
    """The values that a text names once, with their names and places. A name with several values says nothing."""
    found = defaultdict[str, dict[str, int]](dict)
    for match in _LABELLED.finditer(text):
        if len(found) >= _MAX_READ:
            break
        name = _ARTICLES.sub("", " ".join(match[1].casefold().split()))
        found[name].setdefault(_plain(match[2]), match.start())
    return [(name, *next(iter(values.items()))) for name, values in found.items() if len(values) == 1]


def values_in(text: str) -> dict[str, str]:
    """The numbers, dates and times in a text, each as it is written, by the form in which equal ones are equal."""
    return {_plain(each): each for each in _NUMBER.findall(text)}


def _numbers(text: str) -> frozenset[str]:
    return frozenset(values_in(text))


def _plain(value: str) -> str:
    """A number without separators of thousands and trailing zeros; anything else as it stands."""
    number = value.replace(",", "")
    if re.fullmatch(r"-?\d+\.\d+", number):
        return number.rstrip("0").rstrip(".")
    return number


# All finders of observations.

FINDERS: Final[Sequence[Finder]] = (
    clashing_edits,
    empty_deliveries,
    failing_deliveries,
    unfinished_claims,
    unrepaired_failures,
    timeouts,
    turn_limits,
    repeated_errors,
    retry_storms,
    passed_to_and_fro,
    same_uses,
    ignored_corrections,
    changed_values,
    undone_edits,
    work_after_end,
    same_deliveries,
    same_calls,
)
"""In the order in which their observations are listed."""


MAX_FOUND: Final = 100
"""Observations of each finder that are kept."""


def observe(acts: Sequence[Act], task: str = "") -> list[Observation]:
    """The observations in the acts of a trace. `task`: what the team was asked."""
    return bounded([*(find(acts) for find in FINDERS), unbrought_values(acts, task)])


def bounded(found: Iterable[Iterable[Observation]]) -> list[Observation]:
    """The observations of several finders, at most `MAX_FOUND` of each. An unrepaired failure that timed out is one
    observation, of a timeout."""
    first = list(chain.from_iterable(islice(each, MAX_FOUND) for each in found))
    late = {step for each in first if each.kind is ObservationKind.TIMED_OUT for step in each.steps}
    unrepaired = ObservationKind.UNREPAIRED_FAILURE
    return [each for each in first if each.kind is not unrepaired or not late.issuperset(each.steps)]
