"""`concord explain --judge`: a model over HTTP gives its opinion on a failure, and nothing else changes."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from concord.assessment import AssessmentConfig
from concord.llm import LLMSettings
from concord_cli.causes.command import causes, causes_with_opinions
from concord_cli.errors import UsageError
from concord_cli.results_file import write_results
from concord_evaluator.offline import evaluate_trace
from tests.kit.llm_server import Asked, FakeModel, Say, evidence_in, fake_model
from tests.kit.sources import read

pytestmark = pytest.mark.usefixtures("research_formats")

RUN: dict[str, Any] = {
    "question": "How many trees has the park?",
    "question_ID": "park",
    "is_correct": False,
    "history": [
        {"name": "Ann", "role": "assistant", "content": "```python\ncount('zoo')\n```"},
        {
            "name": "Terminal",
            "role": "user",
            "content": "exitcode: 0 (execution succeeded)\nCode output: zoo: 12 trees",
        },
        {"name": "Bob", "role": "assistant", "content": "The park has 12 trees in all."},
    ],
    "system_prompt": {"Ann": "Count.", "Bob": "Answer."},
}

ANSWER: dict[str, object] = {
    "quote": "The park has 12 trees",
    "step": "step 3",
    "agent": "agent 2",
    "instead": "agent 2 should have asked where \x1b[31m they were counted.",
    "code_word": "no",
}


@pytest.fixture
def failed(tmp_path: Path) -> Path:
    path = tmp_path / "run.json"
    path.write_text(json.dumps(RUN))
    return path


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AGENTBEATS_LLM_API_KEY", raising=False)


def saying(*answers: Mapping[str, object] | str) -> Say:
    """Gives these answers in turn, each as changes to the one that is right."""
    left = iter(answers)

    def say(_: Asked) -> str:
        answer = next(left)
        return answer if isinstance(answer, str) else json.dumps({**ANSWER, **answer})

    return say


def configure(settings: LLMSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    assert settings.api_key is not None
    monkeypatch.setenv("AGENTBEATS_LLM_API_KEY", settings.api_key.get_secret_value())
    monkeypatch.setenv("AGENTBEATS_LLM_BASE_URL", settings.base_url)
    monkeypatch.setenv("AGENTBEATS_LLM_MODEL", "gpt-4o-mini")
    monkeypatch.setenv("AGENTBEATS_LLM_MAX_RETRIES", "0")


class Explained:
    """What the command prints of a failed run, with a model and without."""

    def __init__(self, failed: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._failed, self._patch, self._capsys = failed, monkeypatch, capsys

    async def by(self, model: FakeModel, *, as_json: bool = False) -> str:
        async with fake_model(model) as settings:
            configure(settings, self._patch)
            await causes_with_opinions([self._failed], None, as_json=as_json)
        return self._capsys.readouterr().out

    async def opinion(self, model: FakeModel) -> dict[str, Any]:
        opinion: dict[str, Any] = json.loads(await self.by(model, as_json=True))["opinion"]
        return opinion

    def without_model(self, *, as_json: bool = False) -> str:
        causes([self._failed], None, as_json=as_json)
        return self._capsys.readouterr().out


@pytest.fixture
def explained(failed: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Explained:
    return Explained(failed, monkeypatch, capsys)


async def test_an_opinion_names_agent_step_and_what_would_have_turned_it(explained: Explained) -> None:
    opinion = await explained.opinion(FakeModel(saying({})))
    assert opinion == {
        "model": "gpt-4o-mini",
        "verdict": "named",
        "agent": "Bob",
        "step_id": "0002",
        "instead": "Bob should have asked where \x1b[31m they were counted.",
        "quote": "The park has 12 trees",
        "supported": True,
        "problem": None,
        "condensed": False,
        "model_calls": 1,
        "tokens": 15,
        "money": pytest.approx(10 * 0.15e-6 + 5 * 0.6e-6),
        "currency": "USD",
        "prompt_version": "1",
        "kind": "opinion of a model",
    }


async def test_an_opinion_is_printed_apart_with_its_model_and_no_terminal_obeys_it(explained: Explained) -> None:
    plain = explained.without_model()
    shown = await explained.by(FakeModel(saying({})))
    assert shown.startswith(plain)
    assert shown.removeprefix(plain).splitlines() == [
        "  Opinion of the model gpt-4o-mini (not found by code; costs no points)",
        "    0002 Bob caused the failure",
        "      it quotes: The park has 12 trees",
        "      instead: Bob should have asked where \N{REPLACEMENT CHARACTER}[31m they were counted.",
        "    1 answer, 15 tokens, 0.0000 USD",
    ]


async def test_an_opinion_changes_nothing_else(explained: Explained) -> None:
    plain = json.loads(explained.without_model(as_json=True))
    told = json.loads(await explained.by(FakeModel(saying({})), as_json=True))
    assert {name: value for name, value in told.items() if name != "opinion"} == plain


async def test_the_model_reads_texts_and_tools(explained: Explained) -> None:
    model = FakeModel(saying({}))
    await explained.by(model)
    [_, tool, _] = evidence_in(model.asked[0])["steps"]
    assert (tool["asked"], "zoo: 12 trees" in tool["returned"]) == ("count('zoo')\n", True)


async def test_a_false_quote_is_asked_for_once_more_and_then_the_opinion_is_unsupported(explained: Explained) -> None:
    false = {"quote": "The park has 13 trees"}
    model = FakeModel(saying(false, false))
    opinion = await explained.opinion(model)
    assert (opinion["verdict"], opinion["supported"], opinion["quote"]) == ("named", False, "")
    assert len(model.asked) == 2
    assert (await explained.opinion(FakeModel(saying(false, {}))))["supported"]
    shown = await explained.by(FakeModel(saying(false, false)))
    assert "unsupported: what it quotes does not stand in this step" in shown


async def test_that_it_cannot_tell_is_an_answer(explained: Explained) -> None:
    model = FakeModel(saying({"step": "cannot_tell", "agent": "cannot_tell", "quote": ""}))
    assert "it cannot tell who caused the failure" in await explained.by(model)
    assert len(model.asked) == 1


@pytest.mark.parametrize(
    ("model", "problem"),
    [
        (FakeModel(lambda _: "It was Bob."), "the model's answers cannot be read: Invalid JSON"),
        (FakeModel(saying({"step": "step 9"}, {"step": "step 9"})), "cannot be read: there is no step 'step 9'"),
        (FakeModel(saying({"agent": "Zoe"}, {"agent": "Zoe"})), "cannot be read: there is no agent 'Zoe'"),
        (FakeModel(saying("{}", {"agent": "agent 1"})), "cannot be read: Ann has no part in step 3"),
        (FakeModel(lambda _: " "), "the model's answer is empty"),
        (FakeModel(lambda _: "", refusal="I do not blame."), "the model refused: I do not blame."),
        (FakeModel(lambda _: "", statuses=[500]), "InternalServerError"),
    ],
)
async def test_a_model_that_fails_has_no_opinion_and_one_line_says_why(
    explained: Explained, model: FakeModel, problem: str
) -> None:
    shown = await explained.by(model)
    [line] = [line for line in shown.splitlines() if line.startswith("    it has none: ")]
    assert problem in line


async def test_a_model_that_takes_too_long_has_no_opinion(
    explained: Explained, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENTBEATS_LLM_TIMEOUT_S", "0.05")
    opinion = await explained.opinion(FakeModel(saying({}), delay_s=0.5))
    assert (opinion["verdict"], opinion["model_calls"]) == ("none", 0)
    assert "timed out" in opinion["problem"]


async def test_a_model_that_obeys_a_text_is_found_out(explained: Explained) -> None:
    def obey(asked: Asked) -> str:
        return json.dumps(ANSWER | {"code_word": "yes" if evidence_in(asked)["task"] else "no"})

    opinion = await explained.opinion(FakeModel(obey))
    assert opinion["verdict"] == "none"
    assert opinion["problem"].startswith("the model followed instructions in the agents' texts")


@pytest.fixture
def succeeded(failed: Path) -> None:
    failed.write_text(json.dumps(RUN | {"is_correct": True}))


@pytest.mark.usefixtures("succeeded")
async def test_of_a_run_that_succeeded_no_model_is_asked(explained: Explained) -> None:
    model = FakeModel(saying())
    assert await explained.opinion(model) is None
    assert not model.asked


async def test_without_a_model_one_line_names_the_setting(failed: Path) -> None:
    with pytest.raises(UsageError, match=r"^AGENTBEATS_LLM_API_KEY is not set: set it, or leave out --judge"):
        await causes_with_opinions([failed], None, as_json=False)


CALL = {
    "step_id": "1",
    "trace_id": "trip",
    "call_type": "AGENT",
    "additional_attributes": {"response_text": "The coast is sunny all week."},
    "step_action": {"agent_invocation": {"agent_name": "bob", "requests": {"text": "Is the coast fine?"}}},
}


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A results file with the row of one trace, in which ann asks bob."""
    (trace,) = read("\n".join(map(json.dumps, [{"trace": {"trace_id": "trip"}}, {"reporter": "ann", "step": CALL}])))
    path = tmp_path / "results.json"
    write_results(path, {}, [evaluate_trace(trace, AssessmentConfig()).model_dump(mode="json")])
    return path


async def test_of_a_row_the_model_reads_the_work_that_the_row_has(
    results: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model = FakeModel(saying({"quote": "The coast is sunny", "step": "step 2", "agent": "agent 2"}))
    told = json.loads(await Explained(results, monkeypatch, capsys).by(model, as_json=True))
    assert (told["trace_id"], told["verdict"]) == ("trip", "Not judged")
    assert (told["opinion"]["agent"], told["opinion"]["step_id"], told["opinion"]["supported"]) == ("bob", "1", True)
