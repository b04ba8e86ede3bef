"""Requests in plain words: the URLs of the agents to assess, with their names if each has one."""

import json
import re
from typing import Final

_URL: Final = re.compile(r"https?://[^\s<>\"'`|]+", re.IGNORECASE)
_NAMED: Final = re.compile(r"([A-Za-z][\w.-]{0,63})\s*[:=]\s*[<\"'`]?$")
_AFTER_A_URL: Final = ".,;:!?)]}*"

MISSING: Final = (
    "Which agents shall I assess? Send the URL of each agent's A2A endpoint, for example "
    "`assess writer: http://writer:9009 and critic: http://critic:9009`, or the whole request as JSON: "
    '{"participants": {"writer": "http://writer:9009", "critic": "http://critic:9009"}, "config": {}}.'
)
"""What a message without JSON and without a URL is answered."""


class MissingInputError(Exception):
    """The message does not say which agents to assess; the text asks for that."""


def request_in_words(text: str) -> str:
    """The request, as JSON, of a text that names agents by their URLs. Raises MissingInputError if it has none.

    Agents are called by the words before their URLs (`writer: http://…`) if each has one of its own, else `agent_1`,
    `agent_2` and so on. The config is empty, so the standard tasks are played.
    """
    urls: dict[str, str] = {}
    for found in _URL.finditer(text):
        name = _NAMED.search(text[: found.start()])
        urls.setdefault(found[0].rstrip(_AFTER_A_URL), name[1] if name else "")
    if not urls:
        raise MissingInputError(MISSING)
    names = list(urls.values())
    if "" in names or len(set(names)) < len(names):
        names = [f"agent_{number}" for number in range(1, len(names) + 1)]
    return json.dumps({"participants": dict(zip(names, urls, strict=True)), "config": {}})
