"""The `json` scorer: finds the JSON in an answer, checks it against a schema, and counts the right values."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import combinations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import JsonValue

from concord import json_text
from concord.json_text import MAX_DEPTH, NoJsonError, json_in
from concord_evaluator.scorers import ScorerFailedError, json_schema
from concord_evaluator.scorers.json_schema import schema_violation
from tests.unit.evaluator.scorers.grades import graded, value

TRIP = {"city": "Paris", "days": 3, "price": 199.5, "sure": True, "stops": [{"name": "Lyon"}, {"name": "Nice"}]}

scalars = st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.floats(-1e6, 1e6) | st.text(max_size=5)
documents: st.SearchStrategy[JsonValue] = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab/~", max_size=2), inner, max_size=3),
    max_leaves=8,
)
containers = documents.filter(lambda document: isinstance(document, dict | list))
schemas = st.recursive(
    st.sampled_from(
        [
            *({"type": name} for name in ("object", "array", "string", "number", "integer", "boolean", "null")),
            *(
                {"minimum": 0},
                {"maxItems": 1},
                {"uniqueItems": True},
                {"required": ["a"]},
                {"const": 1},
                {"enum": [0, ""]},
            ),
            *({"pattern": "a"}, {"minLength": 1}, {"propertyNames": {"maxLength": 1}}, True, False),
        ]
    ),
    lambda inner: st.one_of(
        st.fixed_dictionaries({"items": inner}),
        st.fixed_dictionaries({"properties": st.fixed_dictionaries({"a": inner}), "additionalProperties": inner}),
        st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=2)}),
        st.fixed_dictionaries({"not": inner}),
        st.fixed_dictionaries({"allOf": st.lists(inner, min_size=1, max_size=2), "unevaluatedProperties": inner}),
    ),
    max_leaves=4,
)


def values(**wanted: JsonValue) -> dict[str, object]:
    return {"name": "json", "values": {f"/{key}": each for key, each in wanted.items()}}


def schema(**keywords: JsonValue) -> dict[str, object]:
    return {"name": "json", "schema": keywords}


def paths(document: JsonValue, prefix: str = "") -> Iterator[tuple[str, JsonValue]]:
    """Every value in a document, with its JSON pointer."""
    yield prefix, document
    parts = (
        enumerate(document) if isinstance(document, list) else document.items() if isinstance(document, dict) else ()
    )
    for key, part in parts:
        yield from paths(part, f"{prefix}/{str(key).replace('~', '~0').replace('/', '~1')}")


class TestFinding:
    @given(documents, st.sampled_from(["", " ", "\n"]))
    def test_the_whole_answer_may_be_json(self, document: JsonValue, space: str) -> None:
        assert json_in(f"{space}{json.dumps(document)}{space}") == document

    @given(documents, containers)
    def test_the_last_fenced_block_precedes_json_around_it(self, document: JsonValue, other: JsonValue) -> None:
        first, last = json.dumps(other), json.dumps(document, indent=1)
        assume("```" not in first + last)  # a fence in a string ends the block as well
        answer = f"A draft:\n```\n{first}\n```\nNow:\n```json\n{last}\n```\nAs in {first} [1]. ```\nno json\n```"
        assert json_in(answer) == document

    @given(st.lists(containers, min_size=1, max_size=3), st.sampled_from(["so", "{x}", "[a", '"', "see }"]))
    def test_in_prose_the_last_object_or_array_counts(self, given: list[JsonValue], prose: str) -> None:
        answer = f"{prose}: " + f" {prose} ".join(map(json.dumps, given)) + " is all"
        assert json_in(answer) == given[-1]

    @pytest.mark.parametrize("answer", ["", "yes", "{", "]", '{"a": }', "{'a': 1}", "NaN", "[NaN]", "[1e999]", '"a'])
    def test_an_answer_without_json_is_refused(self, answer: str) -> None:
        with pytest.raises(NoJsonError, match="the answer contains no JSON"):
            json_in(answer)

    def test_a_number_beyond_a_double_is_no_json(self) -> None:
        for number in ("1e999", "-Infinity", "1" + 400 * "0", "1" * 5000):
            with pytest.raises(NoJsonError, match="the answer contains no JSON"):
                json_in(number)

    def test_the_last_of_equal_keys_counts(self) -> None:
        assert json_in('{"city": "Rome", "city": "Paris"}') == {"city": "Paris"}

    def test_nesting_is_read_to_the_maximum_depth(self) -> None:
        assert json_in("[" * MAX_DEPTH + "]" * MAX_DEPTH) != []
        for depth in (MAX_DEPTH + 1, 5_000, 49_000):
            with pytest.raises(NoJsonError, match="the JSON is nested more than 64 deep"):
                json_in(f"so: {'[' * depth}{']' * depth}")

    def test_broken_documents_in_each_other_are_read_a_bounded_number_of_times(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        read = 0

        def count(text: str) -> int:
            nonlocal read
            read += 1
            return int(text)

        monkeypatch.setattr(json_text, "_DECODER", json.JSONDecoder(parse_int=count))
        broken = ("[" + "1," * 40) * 900 + "x "
        with pytest.raises(NoJsonError, match="the answer contains no JSON"):
            json_in(broken * 5)
        assert read < 2_000_000

    @pytest.mark.parametrize("part", ["[", '{"', "[1,", "```\n", "```a\n{", '[{"a":', "{[", '"\\'])
    def test_unterminated_json_is_refused(self, part: str) -> None:
        with pytest.raises(NoJsonError):
            json_in(part * (99_000 // len(part)))


class TestValues:
    @given(documents)
    def test_a_document_has_all_its_own_values(self, document: JsonValue) -> None:
        wanted: dict[str, JsonValue] = dict(list(paths(document))[:200])
        assert value({"name": "json", "values": wanted}, [], json.dumps(document)) == 1

    @given(st.dictionaries(st.sampled_from("abcd"), st.integers(0, 1), min_size=1), st.integers(0, 1))
    def test_the_grade_is_the_share_of_right_values(self, wanted: dict[str, int], there: int) -> None:
        answer = json.dumps({"a": there, "b": there})
        right = sum(key in "ab" and each == there for key, each in wanted.items())
        assert value(values(**wanted), [], answer) == pytest.approx(right / len(wanted))

    @pytest.mark.parametrize(
        ("wanted", "there"),
        [
            (3, "3.0"),
            (3.0, "3"),
            (0.1, "1e-1"),
            (10**20, "100000000000000000000"),
            ("Paris", '" PARIS\\n"'),
            ("Straße", '"STRASSE"'),
            (None, "null"),
            (True, "true"),
            ([1, "a"], '[1.0, "A"]'),
            ({"a": 1, "b": []}, '{"b": [], "a": 1}'),
        ],
    )
    def test_equal_values_may_be_written_differently(self, wanted: JsonValue, there: str) -> None:
        assert value(values(x=wanted), [], f'{{"x": {there}}}') == 1

    @pytest.mark.parametrize(
        ("wanted", "there"),
        [
            (1, "true"),
            (True, "1"),
            (0, "false"),
            (0, "null"),
            (None, "false"),
            (3, '"3"'),
            ("3", "3"),
            ("", "null"),
            ([1, 2], "[2, 1]"),
            ([1], "[1, 1]"),
            ([], "{}"),
            ({"a": 1}, '{"a": 1, "b": 2}'),
            ({"a": [True]}, '{"a": [1]}'),
            (float("nan"), "1"),
        ],
    )
    def test_a_different_value_is_wrong(self, wanted: JsonValue, there: str) -> None:
        assert value(values(x=wanted), [], f'{{"x": {there}}}') == 0

    @given(st.integers(-100, 100), st.integers(0, 20), st.integers(0, 40))
    def test_a_number_may_differ_by_the_tolerance_in_both_directions(
        self, wanted: int, tolerance: int, off: int
    ) -> None:
        scorer = {**values(x=[wanted / 10]), "tolerance": tolerance / 10}
        grades = [value(scorer, [], json.dumps({"x": [each / 10]})) for each in (wanted - off, wanted + off)]
        assert grades == [off <= tolerance] * 2

    @pytest.mark.parametrize(
        "pointer", ["/no", "/city/0", "/stops/2", "/stops/-", "/stops/01", "/stops/name", "/days/0"]
    )
    def test_a_pointer_to_nothing_is_wrong(self, pointer: str) -> None:
        some: list[JsonValue] = ["P", None, "-", {}]
        for wanted in some:
            assert value({"name": "json", "values": {pointer: wanted}}, [], json.dumps(TRIP)) == 0

    def test_pointers_reach_into_arrays_and_escaped_keys(self) -> None:
        scorer = {"name": "json", "values": {"/stops/1/name": "Nice", "/a~1b/c~0d": 1, "/": 2}}
        assert value(scorer, [], json.dumps({**TRIP, "a/b": {"c~d": 1}, "": 2})) == 1

    def test_a_lone_surrogate_is_graded_like_any_text(self) -> None:
        result = graded({**schema(maxLength=0)}, [], r'"\ud800"')
        assert result.value == 0
        result.explanation.encode()


class TestSchema:
    def test_an_answer_that_violates_the_schema_is_graded_0(self) -> None:
        scorer = {**values(city="Paris"), "schema": {"required": ["days"]}}
        assert value(scorer, [], '{"city": "Paris"}') == 0
        assert value(scorer, [], '{"city": "Paris", "days": 1}') == 1
        assert value(scorer, [], '{"city": "Rome", "days": 1}') == 0

    def test_a_schema_alone_is_enough(self) -> None:
        assert [value(schema(type="object"), [], answer) for answer in ("{}", "[]", "none")] == [1, 0, 0]

    @given(schemas.filter(lambda each: isinstance(each, dict)), documents)
    def test_validation_agrees_with_the_jsonschema_library(
        self, keywords: dict[str, JsonValue], document: JsonValue
    ) -> None:
        assert (schema_violation(keywords, document) is None) == Draft202012Validator(keywords).is_valid(document)

    @given(
        st.lists(st.sampled_from([0, 1, 1.0, True, False, "1", None, [1], [True], {"a": 1}, {"a": True}]), max_size=5)
    )
    def test_items_are_unique_if_no_two_are_the_same_constant(self, items: list[JsonValue]) -> None:
        # The library's `uniqueItems` misses equal items that sorting does not bring together: [[true], [1], [true]].
        same = any(Draft202012Validator({"const": one}).is_valid(other) for one, other in combinations(items, 2))
        assert (schema_violation({"uniqueItems": True}, items) is not None) == same

    def test_the_schema_may_name_another_draft(self) -> None:
        pair: dict[str, JsonValue] = {"items": [{"type": "integer"}, {"type": "string"}]}
        draft_7: dict[str, JsonValue] = {"$schema": "http://json-schema.org/draft-07/schema#", **pair}
        assert (schema_violation(draft_7, [1, "a"]), schema_violation(draft_7, [1, 1])) == (
            None,
            "$[1]: 1 is not of type 'string'",
        )
        with pytest.raises(ScorerFailedError, match="is not a JSON Schema"):
            schema_violation(pair, [1])

    def test_a_schema_may_refer_to_itself(self) -> None:
        tree: dict[str, JsonValue] = {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "properties": {"below": {"type": "array", "items": {"$ref": "#"}}, "name": {"pattern": "^[a-z]+$"}},
            "required": ["name"],
        }
        assert schema_violation(tree, {"name": "a", "below": [{"name": "b"}, {"name": "c", "below": []}]}) is None
        assert (
            schema_violation(tree, {"name": "a", "below": [{"name": "B"}]})
            == "$.below[0].name: 'B' does not match '^[a-z]+$'"
        )

    def test_references_are_never_fetched(self) -> None:
        asked: list[str] = []

        class Server(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked.append(self.path)
                self.send_response(200)
                self.end_headers()
                self.wfile.write(b"{}")

        with HTTPServer(("127.0.0.1", 0), Server) as server:
            thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
            thread.start()
            try:
                for keyword in ("$ref", "$dynamicRef"):
                    with pytest.raises(ScorerFailedError, match="the schema cannot be applied"):
                        schema_violation({"items": {keyword: f"http://127.0.0.1:{server.server_port}/schema"}}, [1])
            finally:
                server.shutdown()
                thread.join()
        assert asked == []

    @pytest.mark.parametrize(
        ("keywords", "reason"),
        [
            ({"type": "nonsense"}, "the schema is not a JSON Schema: .*nonsense"),
            ({"pattern": "("}, "the schema is not a JSON Schema"),
            ({"items": {"pattern": "(?:(?:a{300}){300}){300}"}}, "has too many repetitions"),
            ({"$ref": "#"}, "cannot be applied: RecursionError"),
            ({"$ref": "#/$defs/none"}, "cannot be applied: .*does not exist"),
            ({"patternProperties": {"^a": {}}}, "`patternProperties` is not supported"),
            ({"items": {"patternProperties": {"^a": {}}}}, "`patternProperties` is not supported"),
        ],
    )
    def test_an_unusable_schema_is_the_scorers_failure(self, keywords: dict[str, JsonValue], reason: str) -> None:
        with pytest.raises(ScorerFailedError, match=f"the scorer json failed: .*{reason}"):
            schema_violation(keywords, ["a"])

    @pytest.mark.parametrize(
        "dialect", ["https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#"]
    )
    def test_a_schema_pattern_with_exponential_backtracking_is_aborted(
        self, dialect: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(json_schema, "SEARCH_S", 0.1)  # the search would take years
        keywords: dict[str, JsonValue] = {
            "$schema": dialect,
            "anyOf": [{"type": "array", "items": {"$ref": "#"}}, {"pattern": "^(a|aa)+$"}],
        }
        with pytest.raises(ScorerFailedError, match="takes too long"):
            schema_violation(keywords, [["a" * 60 + "!"]])

    def test_exponentially_many_alternatives_are_aborted(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(json_schema, "MAX_CHECKS", 1_000)
        twice: dict[str, JsonValue] = {"anyOf": [{"items": {"$ref": "#"}}, {"items": {"$ref": "#"}}], "minItems": 1}
        with pytest.raises(ScorerFailedError, match="takes more than 1,000 checks"):
            schema_violation(twice, json_in("[" * 60 + "]" * 60))

    def test_items_of_mixed_types_are_checked_for_uniqueness(self) -> None:
        items: list[JsonValue] = []
        for number in range(2_000):
            items += [number, [number], str(number)]
        assert schema_violation({"uniqueItems": True}, items) is None
        assert schema_violation({"uniqueItems": True}, [*items, "0"]) == "$: some items are equal"


def test_the_explanation_names_what_was_compared() -> None:
    scorer = {**values(city="Paris", days=4), "schema": {"type": "object"}}
    assert graded(scorer, [], json.dumps(TRIP)).explanation == (
        "the JSON fits the schema; 1 of 2 values are right, not /days"
    )
    assert graded(values(city="Paris"), [], json.dumps(TRIP)).explanation == "1 of 1 values are right"
    assert graded(schema(required=["hotel"]), [], json.dumps(TRIP)).explanation == (
        "the JSON does not fit the schema: $: 'hotel' is a required property"
    )
    assert graded(scorer, [], "Paris").explanation == "the answer contains no JSON"
