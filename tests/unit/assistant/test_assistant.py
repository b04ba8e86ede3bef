"""Replies of assistants: what counts as one, and the reason for refusing anything else."""

import json

import pytest
from pydantic import JsonValue

from concord.a2a import Answer, TaskState
from concord_assistant.assistant import A2AAssistant, InvalidReplyError, read_reply
from concord_assistant.messages import AssessmentCompleteMessage, EarlyCompletionMessage, TurnCompleteMessage

DONE: dict[str, JsonValue] = {"message_type": "turn_complete", "notes": "done", "time_step": "PT30M"}


def answer(
    *data: JsonValue,
    status: tuple[JsonValue, ...] = (),
    texts: tuple[str, ...] = (),
    state: TaskState = TaskState.COMPLETED,
    task_id: str = "",
) -> Answer:
    """An assistant's answer."""
    return Answer(
        state=state,
        text="\n".join(texts),
        status_text="said so",
        text_parts=texts,
        data_parts=data,
        artifacts=1,
        is_task=True,
        task_id=task_id,
        context_id="c",
        status_data=status,
    )


@pytest.mark.parametrize(
    "given",
    [
        answer(DONE),
        answer({"anything": "else"}, DONE, "text"),
        answer(status=(DONE,)),
        answer(texts=(json.dumps(DONE),)),
        answer(DONE, state=TaskState.INPUT_REQUIRED),
        answer({**DONE, "confidence": 1}),
    ],
    ids=["artifact", "among others", "status message", "text", "asks for input", "unknown fields"],
)
def test_a_reply_is_read_wherever_the_answer_has_it(given: Answer) -> None:
    reply = read_reply(given)
    assert isinstance(reply, TurnCompleteMessage)
    assert (reply.notes, reply.time_step.total_seconds()) == ("done", 1800)


def test_an_early_completion_is_a_reply() -> None:
    assert read_reply(answer({"message_type": "early_completion"})) == EarlyCompletionMessage()


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (answer(), "has 0 data parts"),
        (answer(DONE, DONE), "has 2 data parts"),
        (answer(texts=("I would rather talk about the weather.",)), "has 0 data parts"),
        (answer(texts=("[" * 50_000,)), "has 0 data parts"),
        (answer({"message_type": "turn_complete", "time_step": "PT0S"}), "turn_complete.time_step"),
        (answer({"message_type": "turn_complete", "time_step": 3600}), "turn_complete.time_step"),
        (answer({"message_type": "turn_complete", "notes": "x" * 10_001}), "turn_complete.notes"),
        (answer({"message_type": "assessment_complete"}), "has 0 data parts"),
        (answer({"message_type": ["turn_complete"]}), "has 0 data parts"),
        (answer(DONE, state=TaskState.FAILED), "the assistant's task ended with failed: said so"),
        (answer(DONE, state=TaskState.REJECTED), "the assistant's task ended with rejected"),
    ],
)
def test_anything_else_is_refused_with_the_reason(given: Answer, reason: str) -> None:
    with pytest.raises(InvalidReplyError) as raised:
        read_reply(given)
    assert reason in str(raised.value)


async def test_a_connection_stays_in_the_assistants_context_and_in_a_task_that_asks_for_input() -> None:
    sent: list[tuple[str, str]] = []
    states = iter([TaskState.COMPLETED, TaskState.INPUT_REQUIRED, TaskState.COMPLETED, TaskState.COMPLETED])

    async def send(_: JsonValue, task_id: str, context_id: str) -> Answer:
        sent.append((task_id, context_id))
        return answer(state=next(states), task_id=f"task-{len(sent)}")

    assistant = A2AAssistant("http://a/", send)
    for _ in range(4):
        await assistant.send(AssessmentCompleteMessage(reason="error"))
    assert sent == [("", ""), ("", "c"), ("task-2", "c"), ("", "c")]
