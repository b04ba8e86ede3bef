"""Replies as language models write them: each has the reading that a person would give it, or none."""

import json
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from concord_gateway.rounds.reply import Outgoing, gives_nothing, read_reply, without_thinking

CLEAN: Final = '{"messages": [{"to": "b", "text": "12345"}], "answer": 7}'
SENT: Final = (Outgoing(("b",), "12345"),)

AS_CLEAN: Final = {
    "clean": CLEAN,
    "on several lines": json.dumps(json.loads(CLEAN), indent=2),
    "a fenced block": f"```json\n{CLEAN}\n```",
    "a fenced block without a language": f"```\n{CLEAN}\n```",
    "a fence that is never closed": f"```json\n{CLEAN}",
    "a fence that was never opened": f"{CLEAN}\n```",
    "text before it": f"Sure! Here is my reply:\n{CLEAN}",
    "text after it": f"{CLEAN}\nI hope that this helps.",
    "text around a fenced block": f"My reply:\n```json\n{CLEAN}\n```\nLet me know!",
    "braces in the text before it": f"The set {{1, 2}} is small. {CLEAN}",
    "brackets in the text after it": f"{CLEAN} [end of reply]",
    "the same reply twice": f"{CLEAN}\n\n{CLEAN}",
    "messages and answer in two objects": '{"messages": [{"to": "b", "text": "12345"}]}\n{"answer": 7}',
    "a further key": '{"reasoning": "7 is most", "messages": [{"to": "b", "text": "12345"}], "answer": 7}',
    "keys in another order": '{"answer": 7, "messages": [{"text": "12345", "to": "b"}]}',
    "a trailing comma in the object": '{"messages": [{"to": "b", "text": "12345"}], "answer": 7,}',
    "a trailing comma in the list": '{"messages": [{"to": "b", "text": "12345"},], "answer": 7}',
    "a trailing comma in a message": '{"messages": [{"to": "b", "text": "12345",}], "answer": 7}',
    "trailing commas in a fenced block": '```json\n{"messages": [{"to": "b", "text": "12345"},], "answer": 7,}\n```',
    "single quotes": "{'messages': [{'to': 'b', 'text': '12345'}], 'answer': 7}",
    "single and double quotes": "{\"messages\": [{'to': 'b', 'text': '12345'}], \"answer\": 7}",
    "typographic quotes": "{“messages”: [{“to”: “b”, “text”: “12345”}], “answer”: 7}",
    "keys without quotes": '{messages: [{to: "b", text: "12345"}], answer: 7}',
    "a missing comma between members": '{"messages": [{"to": "b", "text": "12345"}] "answer": 7}',
    "a missing comma between lines": '{"messages": [{"to": "b", "text": "12345"}]\n"answer": 7}',
    "a missing last brace": CLEAN[:-1],
    "a missing last brace in a fence": f"```json\n{CLEAN[:-1]}\n```",
    "missing last brackets": '{"answer": 7, "messages": [{"to": "b", "text": "12345"}',
    "a missing bracket of the list": '{"answer": 7, "messages": [{"to": "b", "text": "12345"}}',
    "one message without its list": '{"messages": {"to": "b", "text": "12345"}, "answer": 7}',
    "white space around everything": f"\n\n   {CLEAN}   \n",
    "a byte order mark": f"\ufeff{CLEAN}",
    "non-breaking spaces outside": f"\u00a0{CLEAN}\u00a0",
    "thinking before it": f"<think>\nWho has the most? Perhaps c.\n</think>\n{CLEAN}",
    "thinking in capitals": f"<THINK>c?</THINK>{CLEAN}",
    "thinking under another name": f"<reasoning>c?</reasoning>{CLEAN}",
    "thinking with a draft": f'<think>{{"messages": [], "answer": 6}} is wrong</think>{CLEAN}',
    "thinking with braces": f"<think>the set {{6, 7}}</think>\n{CLEAN}",
    "thinking whose opening tag was cut": f"so c has it.\n</think>\n{CLEAN}",
    "thinking twice": f"<think>a</think><think>b</think>{CLEAN}",
    "thinking within thinking": f"<think>a <think>b</think> c</think>{CLEAN}",
    "thinking before a trailing comma": f"<think>hm</think>{CLEAN[:-1]},}}",
    "empty thinking": f"<think></think>\n\n{CLEAN}",
    "thinking in the answer": '{"messages": [{"to": "b", "text": "12345"}], "answer": "<think>6? no</think>7"}',
}

READINGS: Final[dict[str, tuple[str, str, JsonValue]]] = {
    "a raw line break in a text": ('{"messages": [{"to": "b", "text": "one\ntwo"}], "answer": 1}', "one\ntwo", 1),
    "several raw line breaks": ('{"messages": [{"to": "b", "text": "one\n\ntwo\n"}]}', "one\n\ntwo\n", None),
    "a raw tab": ('{"messages": [{"to": "b", "text": "one\ttwo"}]}', "one\ttwo", None),
    "an escaped line break": ('{"messages": [{"to": "b", "text": "one\\ntwo"}]}', "one\ntwo", None),
    "an apostrophe in double quotes": ('{"messages": [{"to": "b", "text": "it\'s 5"}],}', "it's 5", None),
    "escaped quotes": ('{"messages": [{"to": "b", "text": "the \\"red\\" one"}],}', 'the "red" one', None),
    "an escaped character": ('{"messages": [{"to": "b", "text": "caf\\u00e9"}],}', "café", None),
    "braces in a text": ('{"messages": [{"to": "b", "text": "{1, 2}"}],}', "{1, 2}", None),
    "thinking tags in a text": ('{"messages": [{"to": "b", "text": "no <think> tag"}]}', "no <think> tag", None),
    "None of Python": ("{'messages': [{'to': 'b', 'text': 'x'}], 'answer': None}", "x", None),
    "an answer as a list": ('{"messages": [{"to": "b", "text": "x"}], "answer": ["a", "b",]}', "x", ["a", "b"]),
    "an answer as an object": ('{"messages": [{"to": "b", "text": "x"}], "answer": {"a": 1,}}', "x", {"a": 1}),
    "a false answer": ('{"messages": [{"to": "b", "text": "x"}], "answer": false}', "x", False),
    "a decimal answer": ('{"messages": [{"to": "b", "text": "x"}], "answer": 1.5}', "x", 1.5),
    "a grouped number": ('{"messages": [{"to": "b", "text": "x"}], "answer": "3 420"}', "x", "3 420"),
}

UNREADABLE: Final = {
    "nothing": "",
    "prose": "The maximum is 7.",
    "a list": "[1, 2]",
    "another object": '{"result": 7}',
    "two different answers": '{"messages": [], "answer": 6} or {"messages": [], "answer": 7}',
    "two different lists of messages": f'{CLEAN} {{"messages": [{{"to": "c", "text": "12345"}}]}}',
    "one key with two values": '{"messages": [], "answer": 6, "answer": 7}',
    "one key with two values, and a slip": '{"messages": [], "answer": 6, "answer": 7,}',
    "a message that was cut off": '{"messages": [{"to": "b", "text": "the code is KX-44',
    "a reply that was cut off in a key": '{"messages": [{"to": "b", "te',
    "thinking that never ends": f"<think>I could send {CLEAN[:20]}",
    "words between the members": '{"messages": [], well "answer": 7,} and more "answer": 8}',
    "only an opening fence": "```json\n",
    # What SmolLM2-135M-Instruct wrote in its seats (`make lab NAME=real-model`), at the limit of its tokens.
    "a message cut off in a run of digits": (
        '{\n    "messages": [{\n        "to": "agent/2",\n        "text": "The answer is 123456789012345678901234567890'
    ),
    "a message cut off in a run of sentences": (
        '{\n  "messages": [{\n    "to": "agent/1",\n    "text": "The answer is 1. The answer is 1. The answer is 1.'
    ),
    "a further message cut off in its receiver": (
        '{\n    "messages": [{\n        "to": "agent/1",\n        "text": "The answer is 1234567890"\n    }, {\n'
        '        "to": "agent/1'
    ),
    "a sentence over and over": "The answer is 100.\n\nThe answer is 100.\n\nThe answer is 100.\n\n",
    "a quote that never ends": 'The answer is "The answer is 10000000000000000000000000000000000000000000000000000',
    "members where objects belong, cut off": (
        'The answer is: \n{"messages": [{"to": "agent/1", "text": "..."}, "to": "agent/3", "text": "..."}, '
        '"to": "agent/1", "text": "...", "text": "...", "text'
    ),
    "its own brief over again": (
        "You are the keeper of one gate. The counter at your gate shows 94557.\n\nThe question to the team:\nFind the "
        "highest current reading of all gates, and answer with the number."
    ),
    "only brackets": "{{{{[[[[",
}


@pytest.mark.parametrize("text", AS_CLEAN.values(), ids=AS_CLEAN)
def test_a_reply_is_read_as_it_was_meant(text: str) -> None:
    found = read_reply(text)
    assert (found.messages, str(found.answer), found.readable) == (SENT, "7", True)


@pytest.mark.parametrize(("text", "message", "answer"), READINGS.values(), ids=READINGS)
def test_a_slip_changes_no_character_of_a_message(text: str, message: str, answer: JsonValue) -> None:
    found = read_reply(text)
    assert (found.messages, found.answer, found.readable) == ((Outgoing(("b",), message),), answer, True)


@pytest.mark.parametrize("text", UNREADABLE.values(), ids=UNREADABLE)
def test_a_reply_without_one_reading_is_unreadable(text: str) -> None:
    found = read_reply(text)
    assert (found.messages, found.answer, found.readable) == ((), None, False)


@given(st.text(alphabet="{}[]\"',:abc1 \n\\<>/think", max_size=300))
def test_no_text_makes_the_reader_fail_or_invent_words(text: str) -> None:
    for message in read_reply(f'{{"messages": {text}').messages:
        assert set("".join(filter(str.isalnum, message.text))) <= set(text)


@given(st.text(), st.text())
def test_text_without_tags_is_kept(before: str, after: str) -> None:
    assert without_thinking(before.replace("<", "")) == before.replace("<", "")
    assert without_thinking(f"<think>{before.replace('<', '')}</think>{after.replace('<', '')}") == after.replace(
        "<", ""
    )


@pytest.mark.parametrize("answer", [None, "", "null", "NULL", "unknown", "Unknown", "n/a", "N/A"])
def test_words_for_nothing_are_no_answer(answer: JsonValue) -> None:
    assert gives_nothing(answer, {"right": {"a": "48213"}})


@pytest.mark.parametrize("answer", ["none", 0, False, [], "7"])
def test_other_values_are_answers(answer: JsonValue) -> None:
    assert not gives_nothing(answer, {"right": {"a": "48213"}})


def test_a_word_for_nothing_is_an_answer_where_the_key_has_it() -> None:
    assert not gives_nothing("unknown", {"right": {"a": ["unknown", "known"]}})


@given(said=st.text(st.characters(exclude_categories=()), min_size=1))
def test_half_a_surrogate_pair_is_replaced_so_that_the_text_can_be_stored(said: str) -> None:
    reply = read_reply(json.dumps({"messages": [{"to": "b", "text": said}]}))
    [sent] = reply.messages
    assert sent.text == said.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert sent.text.encode()
