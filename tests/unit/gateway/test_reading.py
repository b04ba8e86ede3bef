"""The reading of replies: nothing that takes long to read holds up the event loop."""

import threading
from collections.abc import Sequence

import pytest
from pydantic import JsonValue

from concord.a2a import Answer, TaskState
from concord_gateway.drivers import driver
from concord_gateway.drivers.driver import Reading
from concord_gateway.rounds.reply import Reply, read_reply

SHORT = '{"messages": [{"to": "all", "text": "%s"}], "answer": 1}'


def answer(text: str, status_text: str = "", data: Sequence[JsonValue] = ()) -> Answer:
    return Answer(TaskState.COMPLETED, text, status_text, (text,), tuple(data), 1, True, "t", "c")


@pytest.mark.parametrize(
    "given",
    [
        answer(SHORT),
        answer("", SHORT),
        answer("", data=[{"answer": "x" * 4_096}]),
        answer('{"a":' * 680),
        answer("[1," * 1300),
        answer('{"messages": [' + "{'to': 'all'} " * 250),
        answer('{"plan": {"messages": []}}'),
        answer(f"I say {SHORT}"),
    ],
)
async def test_no_reply_is_read_on_the_event_loop(monkeypatch: pytest.MonkeyPatch, given: Answer) -> None:
    threads = []

    def recorded(text: str, data: Sequence[JsonValue]) -> Reply:
        threads.append(threading.current_thread())
        return read_reply(text, data)

    monkeypatch.setattr(driver, "read_reply", recorded)
    read = await Reading().read("seat-1", given)
    assert read == read_reply(given.text or given.status_text, given.data_parts)
    assert [thread is threading.main_thread() for thread in threads] == [False]


async def test_a_trial_over_its_budget_names_the_seat_whose_reply_was_one_too_many() -> None:
    account = Reading(used_s=driver.MAX_READING_S + 1)
    assert [await account.read(seat, answer(SHORT)) for seat in ("seat-1", "seat-2")] == [None, None]
    assert str(account.fault).startswith("seat-1 exceeded a trial's budget of 60 s")
