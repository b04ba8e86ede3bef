"""Scorers in a task: the names and options that a request may have."""

import re

import pytest
from pydantic import ValidationError

from concord.assessment import TaskSpec
from concord.assessment.scorers import (
    MAX_PATTERN,
    MAX_REPEATS,
    MAX_TARGETS,
    NEED_TARGET,
    SCORER_CHOICE,
    SCORER_NAMES,
    JsonScorer,
    PackageScorer,
    PatternScorer,
    syntax_errors,
)

REQUIRED: dict[str, dict[str, object]] = {"pattern": {"pattern": "(a)"}, "json": {"schema": {"type": "object"}}}
"""The options that a scorer requires."""


def task(scorer: object, target: object = None) -> TaskSpec:
    return TaskSpec.model_validate({"id": "task", "text": "work", "scorer": scorer, "target": target})


@pytest.mark.parametrize("name", [*SCORER_NAMES, "rouge"])
@pytest.mark.parametrize("by_alias", [True, False])
def test_a_scorer_survives_serialisation(name: str, by_alias: bool) -> None:
    given = task({"name": name, **REQUIRED.get(name, {})}, "42" if name in NEED_TARGET else None)
    assert given.scorer is not None
    assert given.scorer.name == name
    assert TaskSpec.model_validate_json(given.model_dump_json(by_alias=by_alias)) == given


@pytest.mark.parametrize("name", SCORER_NAMES)
def test_a_name_alone_is_the_scorer_with_its_defaults(name: str) -> None:
    target = "42" if name in NEED_TARGET else None
    if name in REQUIRED:
        with pytest.raises(ValidationError):
            task(name, target)
    else:
        assert task(name, target) == task({"name": name}, target)


def test_another_name_is_a_packages_scorer_with_any_options() -> None:
    scorer = task({"name": "rouge", "n": 2, "stem": {"language": "en"}}).scorer
    assert isinstance(scorer, PackageScorer)
    assert scorer.options == {"n": 2, "stem": {"language": "en"}}


@pytest.mark.parametrize("name", SCORER_NAMES)
def test_an_unknown_option_of_a_built_in_scorer_is_refused(name: str) -> None:
    with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
        SCORER_CHOICE.validate_python({"name": name, **REQUIRED.get(name, {}), "fuzzy": True})


@pytest.mark.parametrize("scorer", [{}, {"name": ""}, {"name": 3}, 3, ["exact"]])
def test_a_scorer_without_a_name_is_refused(scorer: object) -> None:
    with pytest.raises(ValidationError):
        task(scorer, "42")


class TestPatterns:
    @pytest.mark.parametrize(
        "pattern",
        [
            r"answer: (\w+)",
            "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
            "(?<=is )(?P<it>.*?)(?= today)",
            "[[a]",
            r"\{300\}",
            f"a{{{MAX_REPEATS}}}",
            "(a*)*" * (MAX_PATTERN // 5),
        ],
    )
    def test_a_regular_expression_is_accepted(self, pattern: str) -> None:
        assert PatternScorer(pattern=pattern).pattern == pattern
        assert syntax_errors({"p": pattern}) == {}

    @pytest.mark.parametrize(
        "pattern", ["(", "[a", "a**", r"\p{L}", "(?P<1>a)", "a{5,2}", "a{99999999999}", "((" * 200]
    )
    def test_an_invalid_expression_is_named(self, pattern: str) -> None:
        errors = syntax_errors({"good": "a+", "bad": pattern})
        assert list(errors) == ["bad"]
        assert errors["bad"].startswith("is not a regular expression: ")

    def test_no_expression_is_compiled_with_the_model_since_that_may_take_seconds(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("concord.assessment.scorers.re.compile", None)
        assert PatternScorer(pattern="(").pattern == "("

    @pytest.mark.parametrize(
        "pattern", ["(?:(?:a{300}){300}){300}", "(?:(?:a{50,}b){50,99}){50}", "a{4294967294}", "(a){400}(b){400}"]
    )
    def test_an_expression_with_excessive_repetition_is_refused(self, pattern: str) -> None:
        re.compile(pattern)
        with pytest.raises(ValidationError, match="counted repetitions that multiply to more than 100,000"):
            PatternScorer(pattern=pattern)

    def test_a_pattern_has_a_bounded_length(self) -> None:
        with pytest.raises(ValidationError, match="at most 1000 characters"):
            PatternScorer(pattern="a" * (MAX_PATTERN + 1))


class TestJson:
    def test_a_json_scorer_needs_a_schema_or_values(self) -> None:
        with pytest.raises(ValidationError, match="give a `schema` or `values`"):
            JsonScorer()

    @pytest.mark.parametrize("pointer", ["", "/", "/a", "/a/0/b", "/a~1b/~0", "//"])
    def test_a_json_pointer_is_accepted(self, pointer: str) -> None:
        assert JsonScorer(values={pointer: 1}).values == {pointer: 1}

    @pytest.mark.parametrize("pointer", ["a", "$.a", "#/a", "/a~", "/a~2", " /a"])
    def test_an_invalid_json_pointer_is_refused(self, pointer: str) -> None:
        with pytest.raises(ValidationError, match="is not a JSON Pointer"):
            JsonScorer(values={pointer: 1})

    def test_targets_of_a_json_scorer_are_refused(self) -> None:
        with pytest.raises(ValidationError, match="the scorer 'json' takes no `target`"):
            task({"name": "json", "values": {"/a": 1}}, "1")


class TestTargets:
    @pytest.mark.parametrize("name", sorted(NEED_TARGET))
    def test_a_comparing_scorer_needs_a_target(self, name: str) -> None:
        with pytest.raises(ValidationError, match=f"the scorer '{name}' needs a `target`"):
            task(name)

    @pytest.mark.parametrize("target", ["", " ", ["Paris", "\n"], [], ["a"] * (MAX_TARGETS + 1)])
    def test_blank_empty_and_too_many_targets_are_refused(self, target: object) -> None:
        with pytest.raises(ValidationError):
            task("exact", target)

    def test_a_blank_forbidden_text_is_refused(self) -> None:
        with pytest.raises(ValidationError):
            task({"name": "includes", "forbidden": [" "]}, "Paris")

    def test_a_numeric_target_without_a_number_is_refused(self) -> None:
        with pytest.raises(ValidationError, match="the scorer 'numeric' compares numbers, and 'forty' is not a number"):
            task("numeric", ["40", "forty"])

    @pytest.mark.parametrize("option", ["tolerance", "relative_tolerance"])
    @pytest.mark.parametrize("given", [-1, float("nan"), float("inf")])
    def test_a_negative_or_infinite_tolerance_is_refused(self, option: str, given: float) -> None:
        with pytest.raises(ValidationError):
            task({"name": "numeric", option: given}, 42)
