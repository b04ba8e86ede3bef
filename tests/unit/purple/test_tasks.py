"""The shipped tasks: their expected values follow from their texts by the rules that they state."""

import re
from collections.abc import Callable

import pytest
from pydantic import JsonValue

from concord.assessment import TaskSpec
from concord_purple.teams import RequestKind, TeamName, request_in
from concord_purple.text_review.measure import BOOSTERS, HEDGES, Aspect, Findings
from concord_purple.text_review.review import add_draft, add_facts, add_verdict, answer_json
from tests.unit.purple.shipped_tasks import TASKS, last_json, scenario_task, share_right, shipped_text, values


def _listed(rules: str, kind: str) -> set[str]:
    """The words that a task lists, as in `The strong words are always, never.`"""
    (line,) = re.findall(rf"The {kind} words are ([a-z, ]+)\.\n", rules)
    return set(line.split(", "))


def _sentences(text: str) -> list[str]:
    """The sentences of a text that has no abbreviations: they end with a full stop and a space, or a blank line."""
    return [piece for paragraph in text.split("\n\n") for piece in paragraph.replace(". ", ".\n").split("\n") if piece]


def _tokens(sentence: str) -> list[str]:
    return [token for word in sentence.split() if (token := word.strip('.,:;()"')) and token != "%"]


def _has_source(sentence: str) -> bool:
    lower = sentence.lower()
    return bool(
        "according to" in lower
        or "et al." in lower
        or "appendix" in lower
        or re.search(r"\[[0-9]+\]", lower)
        or re.search(r"[12][0-9][0-9][0-9]\)", lower)
        or re.search(r"(table|figure|section) [0-9]", lower)
    )


def _has_figure(sentence: str) -> bool:
    words = sentence.split()
    return any(_is_figure(word.strip(".,;()"), after) for word, after in zip(words, [*words[1:], ""], strict=True))


def _is_figure(word: str, after: str) -> bool:
    if not re.fullmatch(r"[0-9][0-9.,]*", word):
        return False
    if after.startswith("%") or "." in word:
        return True
    return int(word.replace(",", "")) >= 100 and not (len(word) == 4 and word[:2] in {"19", "20"})


def _by_the_rules(task: TaskSpec) -> dict[str, JsonValue]:
    """The answer that follows from the task's own text."""
    rules, _, text = task.text.partition("\nText:\n")
    strong, softening = _listed(rules, "strong"), _listed(rules, "softening")
    sentences = _sentences(text.strip())

    def numbers(has: Callable[[str], bool]) -> list[JsonValue]:
        return [number for number, sentence in enumerate(sentences, start=1) if has(sentence)]

    def count_in(words: set[str], sentence: str) -> int:
        return sum(token.lower() in words for token in _tokens(sentence))

    return {
        "sentences": len(sentences),
        "long_sentences": numbers(lambda each: len(_tokens(each)) > 25),
        "figures_without_source": numbers(lambda each: _has_figure(each) and not _has_source(each)),
        "claims_without_evidence": numbers(lambda each: count_in(strong, each) > 0 and not _has_source(each)),
        "doubly_hedged": numbers(lambda each: count_in(softening, each) >= 2),
    }


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_the_expected_values_follow_from_the_text_by_the_stated_rules(task: TaskSpec) -> None:
    assert values(task) == _by_the_rules(task)


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_a_task_lists_the_words_that_the_team_uses(task: TaskSpec) -> None:
    assert _listed(task.text, "strong") == BOOSTERS
    assert _listed(task.text, "softening") == HEDGES


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_a_good_review_has_every_expected_value(task: TaskSpec) -> None:
    text = request_in(task.text, ()).text
    found = add_verdict(text, add_draft(text, add_facts(text, Aspect, Findings(), "r"), "s"), "v")
    assert last_json(f"As [3] says: {answer_json(found)}") == values(task)


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_neither_the_task_nor_its_example_nor_an_empty_answer_has_an_expected_value(task: TaskSpec) -> None:
    rules = task.text.partition("\nText:\n")[0]
    assert isinstance(last_json(rules), dict), "the example is JSON"
    empty = answer_json(add_facts("Rain fell.", Aspect, Findings(), "r"))
    assert [share_right(task, answer) for answer in (task.text, rules, empty, "")] == [0, 0, 0, 0]


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_every_text_has_every_kind_of_weakness_in_different_sentences(task: TaskSpec) -> None:
    lists = [tuple(value) for value in values(task).values() if isinstance(value, list)]
    assert all(lists)
    assert len(set(lists)) == len(lists) == 4


@pytest.mark.parametrize("name", TASKS)
def test_a_task_is_a_shipped_text_after_the_common_rules(name: str) -> None:
    request = request_in(TASKS[name].text, ())
    assert (request.kind, request.text) == (RequestKind.TASK, shipped_text(name))
    first, _, rules = request.instruction.partition(". ")
    assert first.startswith("Review this ")
    assert rules == request_in(TASKS["cargo_bikes"].text, ()).instruction.partition(". ")[2]


@pytest.mark.parametrize("team", TeamName)
def test_every_teams_scenario_has_the_same_task(team: TeamName) -> None:
    assert scenario_task(team) == TASKS["cargo_bikes"]
