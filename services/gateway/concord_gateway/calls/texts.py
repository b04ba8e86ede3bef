"""The texts that a seat gets in a trial by calls: its brief, and then the question."""

from collections.abc import Mapping

from concord.suite import SuiteTask
from concord_gateway.rounds.texts import receipts_text


def brief_text(task: SuiteTask, seat: str, addresses: Mapping[str, str]) -> str:
    """The first message to a seat. `addresses`: the URL of each neighbour at the proxy, for this seat alone."""
    sections = [
        f"You are {seat}, one of {len(task.seats)} seats of a team. The seats call each other over A2A.",
        f"What only you know:\n{task.briefs[seat]}",
    ]
    if addresses:
        lines = "\n".join(f"{name}: {url}" for name, url in addresses.items())
        sections += [
            f"You may call these seats, at addresses that are for you alone:\n{lines}",
            "A call is an A2A message, and its answer comes to you alone. Say in a call who you are. Calls of other "
            "seats come in this conversation: answer them with what they need.",
        ]
    sections.append('The question comes with the next message. Call nobody before, and reply with "ready" now.')
    return "\n\n".join(sections)


def question_text(task: SuiteTask, seat: str) -> str:
    """The second message to a seat, in the context of its brief."""
    must = "You have to answer." if seat in task.answerers else "You need not answer yourself."
    return "\n\n".join(
        [
            f"The question to the team:\n{task.question}\n{must}",
            f"You are {seat}. You may call: {', '.join(task.neighbours[seat]) or 'nobody'}. Call whom you want to, and "
            "then reply to this message. Your reply ends your turn.",
            receipts_text(task.message_limit),
            'Reply with one JSON object and nothing else: {"answer": ...}. "answer" is null if you have none.',
        ]
    )
