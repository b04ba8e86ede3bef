"""Laws of all built-in scorers, for any config and any answer."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord.assessment import TaskSpec
from concord.assessment.results import AgentAnswer, Grading, TrialOutcome
from concord.assessment.scorers import (
    NEED_TARGET,
    SCORER_CHOICE,
    SCORER_NAMES,
    ExactScorer,
    IncludesScorer,
    JsonScorer,
    MatchScorer,
    ModelScorer,
    NumericScorer,
    PatternScorer,
    ScorerChoice,
)
from concord_evaluator.scorers import MAX_EXPLANATION, Graded, ScorerFailedError, grade, grade_answers

texts = st.text(min_size=1, max_size=12).filter(lambda text: text.strip() != "")
numbers = st.floats(0, 1e300)
json_values: st.SearchStrategy[object] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
keywords = st.sampled_from(
    [
        *("type", "enum", "const", "minimum", "multipleOf", "pattern", "format"),
        *("items", "properties", "required", "uniqueItems", "contains", "unevaluatedProperties"),
        *("$ref", "$id", "$schema", "$defs", "anyOf", "not", "if", "then"),
    ]
)
schemas = st.dictionaries(
    keywords, json_values | st.sampled_from(["object", "#", "integer", "(a+)+$", "x:y"]), max_size=4
)
patterns = st.sampled_from([r"(\w+)", r"a|(b)?", "", r"(?i)x{2,}", r"^\s*(.*?)\s*$", r"(?<=a)b", r"(.)\1"]) | texts

choices: st.SearchStrategy[ScorerChoice] = st.one_of(
    st.just(ExactScorer()),
    st.builds(
        IncludesScorer,
        ignore_case=st.booleans(),
        match_all=st.booleans(),
        forbidden=st.lists(texts, max_size=2),
        max_length=st.none() | st.integers(1, 50),
    ),
    st.builds(
        MatchScorer,
        location=st.sampled_from(["begin", "end", "any", "exact"]),
        ignore_case=st.booleans(),
        numeric=st.booleans(),
    ),
    st.builds(PatternScorer.model_construct, pattern=patterns, ignore_case=st.booleans(), match_all=st.booleans()),
    st.builds(NumericScorer, tolerance=numbers, relative_tolerance=numbers),
    st.builds(
        JsonScorer.model_construct,
        schema_=st.none() | schemas,
        values=st.dictionaries(st.sampled_from(["", "/a", "/0", "/a/0", "/-", "/~1"]), json_values, max_size=3),
        tolerance=numbers,
    ).filter(lambda choice: choice.schema_ is not None or choice.values),
)
answers = st.one_of(
    st.text(max_size=60),
    st.text(" 0123456789.,-\N{MINUS SIGN}+/%$€eE'_[]{}\":`\n", max_size=40),
    json_values.map(json.dumps),
    json_values.map(lambda value: f"So:\n```json\n{json.dumps(value)}\n``` [1]"),
)


def attempted(choice: ScorerChoice, targets: list[str], answer: str) -> Graded | str:
    """The grade, or the message of the scorer's failure."""
    try:
        return grade(choice, targets, answer)
    except ScorerFailedError as error:
        return str(error)


@given(choices, st.lists(texts, min_size=1, max_size=3), answers)
def test_a_scorer_returns_a_grade_from_0_to_1_with_an_explanation_or_fails_with_a_message(
    choice: ScorerChoice, targets: list[str], answer: str
) -> None:
    result = attempted(choice, targets, answer)
    if isinstance(result, str):
        assert choice.name in {"pattern", "numeric", "json"}
        assert result.startswith(f"the scorer {choice.name} failed: ")
    else:
        assert 0 <= result.value <= 1
        assert 0 < len(result.explanation) <= MAX_EXPLANATION
        assert result.explanation.isprintable()
        assert grade(choice, targets, answer) == result


@given(choices, st.lists(texts, min_size=1, max_size=3), st.dictionaries(st.sampled_from("ab"), st.none() | answers))
def test_every_trial_gets_a_grading_that_survives_serialisation(
    choice: ScorerChoice, targets: list[str], agent_texts: dict[str, str | None]
) -> None:
    task = TaskSpec.model_construct(id="task", text="work", target=targets, scorer=choice)
    given = [AgentAnswer(agent=agent, state="completed", text=text, error=None) for agent, text in agent_texts.items()]
    outcome = TrialOutcome(trial_id="trial-1", state="completed", error=None, answer=None, answers=given, time_used=1)
    grading = grade_answers(task, ["a", "b"], outcome)
    assert grading is not None
    assert (grading.value is None) == (grading.source == "nobody") == (grading.reason is not None)
    assert Grading.model_validate_json(grading.model_dump_json()) == grading


@given(choices, texts, answers)
def test_the_order_of_targets_changes_no_grade(choice: ScorerChoice, target: str, answer: str) -> None:
    targets = [target, "42", "Paris"]
    result, reversed_result = attempted(choice, targets, answer), attempted(choice, targets[::-1], answer)
    assert type(result) is type(reversed_result)
    if isinstance(result, Graded) and isinstance(reversed_result, Graded):
        assert result.value == pytest.approx(reversed_result.value)


@given(st.sampled_from(sorted(NEED_TARGET - {"numeric"})), st.lists(texts, min_size=1, max_size=3), texts, answers)
def test_another_target_never_lowers_a_grade(name: str, targets: list[str], more: str, answer: str) -> None:
    choice = SCORER_CHOICE.validate_python({"name": name})
    assert grade(choice, [*targets, more], answer).value >= grade(choice, targets, answer).value


def test_the_model_scorer_is_refused_here() -> None:
    with pytest.raises(ValueError, match="the judge grades answers"):
        grade(ModelScorer(), ["a"], "a")


def test_the_scorer_names_are_complete() -> None:
    assert set(SCORER_NAMES) == {"exact", "includes", "match", "pattern", "numeric", "json", "model"}
