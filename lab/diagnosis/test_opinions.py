"""The measure of a model's opinions is right on a corpus known by hand; the command asks the configured model."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from concord_evaluator.judge import BlameOpinion
from lab.diagnosis.__main__ import main
from lab.diagnosis.labels import labels_in
from lab.diagnosis.measures import cases_in
from lab.diagnosis.opinions import Labelled, asked_about, figures, opinions_against_labels
from tests.kit.llm_server import Asked, FakeModel, evidence_in, fake_model
from tests.kit.serving import eventually

SAID = [("Lead", "Count the people in the county."), ("Counter", "I count 7 people."), ("Checker", "7 it is, then.")]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Four failed runs of three agents with a step each; in all of them, people blame the second one."""
    history = [{"name": name, "content": text, "role": "user"} for name, text in SAID]
    run = {"question": "How many?", "is_correct": False, "history": history, "mistake_agent": "Counter"}
    for number in range(4):
        labelled = run | {"question_ID": f"q{number}", "mistake_step": "1", "mistake_reason": ""}
        (tmp_path / f"{number}.json").write_text(json.dumps(labelled))
    return tmp_path


def labelled(corpus: Path, sample: int | None = None) -> list[Labelled]:
    return asked_about(cases_in(corpus), list(labels_in(corpus)), sample)


def test_a_sample_is_always_the_same_and_the_beginning_of_every_larger_one(corpus: Path) -> None:
    def names(sample: int | None) -> list[str]:
        return [each.case.trace.trace_id for each in labelled(corpus, sample)]

    assert len(set(names(None))) == 4
    assert names(2) == names(None)[:2] == names(2)


def test_a_label_that_names_no_step_of_the_run_is_left_out(corpus: Path) -> None:
    path = corpus / "0.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"mistake_step": "9"}))
    assert len(labelled(corpus)) == 3


def test_opinions_are_counted_beside_chance(corpus: Path) -> None:
    opinions = [
        BlameOpinion("m", "named", agent="Counter", step_id="0001", supported=True, model_calls=1, tokens=9),
        BlameOpinion("m", "named", agent="Lead", step_id="0000", model_calls=2, tokens=20),
        BlameOpinion("m", "cannot_tell", model_calls=1, tokens=5),
        BlameOpinion("m", "none", problem="the model's answer is empty"),
    ]  # fmt: skip
    assert dict(figures(labelled(corpus), opinions)) == {
        "agent right, of all": "1 of 4 (0.250; 0.046 to 0.699); chance 0.333",
        "step right, of all": "1 of 4 (0.250; 0.046 to 0.699); chance 0.333",
        "step within 1, of all": "2 of 4 (0.500; 0.150 to 0.850); chance 1.000",
        "agent right, of those named": "1 of 2 (0.500; 0.095 to 0.905); chance 0.333",
        "step right, of those named": "1 of 2 (0.500; 0.095 to 0.905); chance 0.333",
        "step within 1, of those named": "2 of 2 (1.000; 0.342 to 1.000); chance 1.000",
        "agent right, of those with a true quote": "1 of 1 (1.000; 0.207 to 1.000); chance 0.333",
        "step right, of those with a true quote": "1 of 1 (1.000; 0.207 to 1.000); chance 0.333",
        "step within 1, of those with a true quote": "1 of 1 (1.000; 0.207 to 1.000); chance 1.000",
        "cannot tell": "1 of 4 (0.250; 0.046 to 0.699)",
        "unsupported quotes, of those named": "1 of 2 (0.500; 0.095 to 0.905)",
        "no opinion": "1 of 4 (0.250; 0.046 to 0.699)",
        "  1": "the model's answer is empty",
        "answers, tokens": "4, 34",
    }


async def test_the_command_asks_the_configured_model_about_a_sample(
    corpus: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def say(asked: Asked) -> str:
        [step] = [each for each in evidence_in(asked)["steps"] if each["said"] == "I count 7 people."]
        opinion = {"quote": step["said"], "step": step["id"], "agent": step["agent"], "instead": "", "code_word": "no"}
        return json.dumps(opinion)

    model = FakeModel(say)
    async with fake_model(model) as settings:
        monkeypatch.setenv("AGENTBEATS_LLM_API_KEY", "none")
        monkeypatch.setenv("AGENTBEATS_LLM_BASE_URL", settings.base_url)
        monkeypatch.setenv("AGENTBEATS_LLM_MODEL", "fake")
        monkeypatch.setattr(sys, "argv", ["lab.diagnosis", "--judge", str(corpus), "--sample", "2", "--budget", "900"])
        assert await asyncio.to_thread(main) == 0
    assert len(model.asked) == 2
    printed = capsys.readouterr().out
    assert "fake on 2 labelled failures, 900 characters of each" in printed
    assert "2 of 2 (1.000; 0.342 to 1.000); chance 0.333" in printed


async def test_a_measurement_that_is_cancelled_tells_the_figures_so_far(corpus: Path) -> None:
    def say(_: Asked) -> str:
        model.delay_s = 30
        return json.dumps({"quote": "", "step": "cannot_tell", "agent": "cannot_tell", "code_word": "no"})

    model = FakeModel(say)
    async with fake_model(model) as settings:

        async def told() -> dict[str, str]:
            return {name: value async for name, value in opinions_against_labels(labelled(corpus), settings, 900, 100)}

        measuring = asyncio.create_task(told())
        await eventually(lambda: len(model.asked) == 2)
        measuring.cancel()
        assert (await measuring)["cannot tell"] == "1 of 1 (1.000; 0.207 to 1.000)"
