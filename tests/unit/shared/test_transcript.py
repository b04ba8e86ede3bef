"""Transcripts: a judgment that is replayed has the recorded answers, faults and cancellations, and asks no model."""

import asyncio
from dataclasses import dataclass

import pytest

from concord.assessment.jobs import ModelExchange
from concord.judging.asking import (
    CachedAnswers,
    MissingAnswerError,
    NotJudgedError,
    Prompt,
    RecordedTranscript,
    ReplayedTranscript,
    take,
)
from concord.judging.model_answer import UnreadableAnswerError
from concord.llm import EmptyCompletionError, LLMUnavailableError


@dataclass(frozen=True, slots=True)
class Opinion:
    text: str
    unverified: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """A question whose answer is unreadable if it says so."""

    about: str

    def write(self, *, delimiter: str, code_word: str) -> Prompt:
        return Prompt(f"system {code_word}", f"{delimiter}{self.about}{delimiter}", {})

    def read(self, text: str) -> Opinion:
        if text == "unreadable":
            raise UnreadableAnswerError("it says so")
        return Opinion(text)

    def without_texts(self) -> "Question":
        return Question("")


class Model:
    """Returns its answers in turn, and raises the errors among them."""

    def __init__(self, *answers: str | Exception) -> None:
        self.answers = list(answers)

    async def ask(self, system: str, user: str, schema: object) -> str:  # noqa: ARG002
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


async def taken(model: Model, cache: CachedAnswers, about: str = "it", sample: int = 0) -> str:
    """The opinion, or the reason why there is none."""
    try:
        return (await take(model.ask, Question(about), cache, sample)).opinion.text
    except NotJudgedError as error:
        return f"not judged: {error}"


@pytest.mark.parametrize(
    "answers",
    [
        ["met"],
        ["unreadable", "met"],
        ["unreadable", "unreadable"],
        [EmptyCompletionError("nothing"), "met"],
        [LLMUnavailableError("no connection")],
    ],
    ids=str,
)
async def test_a_replay_has_the_recorded_answers_and_faults(answers: list[str | Exception]) -> None:
    recorded = RecordedTranscript()
    first = await taken(Model(*answers), CachedAnswers(transcript=recorded))
    replay = CachedAnswers(transcript=ReplayedTranscript(recorded.exchanges))
    assert await taken(Model(), replay) == first


async def test_equal_questions_of_several_samples_have_their_own_answers() -> None:
    recorded = RecordedTranscript()
    model, cache = Model("first", "second"), CachedAnswers(transcript=recorded)
    assert [await taken(model, cache, sample=number) for number in range(2)] == ["first", "second"]
    again = CachedAnswers(transcript=ReplayedTranscript(reversed(recorded.exchanges)))
    assert [await taken(Model(), again, sample=number) for number in range(2)] == ["first", "second"]


async def test_another_question_has_no_answer() -> None:
    recorded = RecordedTranscript()
    await taken(Model("met"), CachedAnswers(transcript=recorded))
    with pytest.raises(MissingAnswerError, match="the record has no answer of the model to the question"):
        await taken(Model(), CachedAnswers(transcript=ReplayedTranscript(recorded.exchanges)), about="another")


async def test_an_answer_of_the_cache_is_replayed_as_one() -> None:
    class Kept:
        async def get(self, key: str) -> str | None:  # noqa: ARG002
            return "met"

        async def put(self, key: str, answer: str) -> None:  # noqa: ARG002
            raise AssertionError

    recorded = RecordedTranscript()
    first = await take(Model().ask, Question("it"), CachedAnswers(Kept(), transcript=recorded))
    replay = CachedAnswers(transcript=ReplayedTranscript(recorded.exchanges))
    again = await take(Model().ask, Question("it"), replay)
    assert (first, first.cached) == (again, True)


async def test_a_cancelled_question_fails_after_all_others_are_answered() -> None:
    replay = ReplayedTranscript(
        [
            ModelExchange(question="slow", outcome="cancelled"),
            ModelExchange(question="fast", outcome="answered", text="met"),
        ]
    )
    ended: list[str] = []

    async def ask(question: str) -> None:
        async def model() -> str:
            raise AssertionError

        try:
            if question == "fast":
                await asyncio.sleep(0)
            await replay.reply(question, model)
        finally:
            ended.append(question)

    slow, _ = await asyncio.gather(ask("slow"), ask("fast"), return_exceptions=True)
    assert ended == ["fast", "slow"]
    assert isinstance(slow, TimeoutError)
