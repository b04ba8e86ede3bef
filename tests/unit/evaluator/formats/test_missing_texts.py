"""A recording without texts says by which setting of its recorder they are written."""

from typing import Any

import pytest

from tests.kit.sources import read
from tests.unit.evaluator.formats.spans import as_lines, exported, invocation, span


def recorded(scope: str, **said: str) -> list[str]:
    """The warnings of two traces of an agent that asks a model, recorded in a scope."""

    def trace(number: str) -> dict[str, Any]:
        model = span(f"m{number}", f"a{number}", trace=number * 32, operation="chat")
        model["attributes"] += [{"key": key, "value": {"stringValue": value}} for key, value in said.items()]
        return exported("team", invocation(f"a{number}", "lead", trace=number * 32), model, scope=scope)

    found = {warning: None for each in read(as_lines(trace("1"), trace("2"))) for warning in each.warnings}
    return [warning for warning in found if "no texts" in warning]


@pytest.mark.parametrize(
    ("scope", "setting"),
    [
        ("gcp.vertex.agent", "ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=true"),
        ("openinference.instrumentation.openai", "OPENINFERENCE_HIDE_INPUTS=false"),
        ("com.anthropic.claude_code.tracing", "OTEL_LOG_USER_PROMPTS=1"),
        ("agent_framework", "ENABLE_SENSITIVE_DATA=true"),
        ("my-library", "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true"),
    ],
)
def test_names_the_setting_of_its_recorder_once_a_file(scope: str, setting: str) -> None:
    [warning] = recorded(scope)
    assert setting in warning


def test_with_one_text_says_nothing() -> None:
    assert recorded("my-library", **{"gen_ai.prompt": "Which boats are free?"}) == []


def test_with_a_hidden_text_has_none() -> None:
    assert len(recorded("openinference.instrumentation.openai", **{"input.value": "__REDACTED__"})) == 1


def test_without_a_model_says_nothing() -> None:
    [trace] = read(as_lines(exported("team", invocation("a", "lead"), invocation("b", "writer", "a"))))
    assert not any("no texts" in warning for warning in trace.warnings)
