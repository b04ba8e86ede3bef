"""The common part of the agents of `make interop`: their arguments, and the texts of their answers."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

KNOWN = "The word is heron."


@dataclass(frozen=True, slots=True)
class Arguments:
    """The agent's host and port, its address in its card, and the addresses of its peers."""

    host: str
    port: int
    card_url: str
    peers: Sequence[str]


def arguments() -> Arguments:
    """The arguments of the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--card-url", required=True)
    parser.add_argument("--peer", action="append", default=[])
    given = parser.parse_args()
    return Arguments(given.host, given.port, given.card_url, given.peer)


def answer_of(heard: Sequence[str]) -> str:
    """The answer of an agent that asked its peers."""
    known = sum("heron" in text for text in heard)
    return f"I asked {len(heard)}, and {known} said: the word is heron." if known else "Nobody knows the word."
