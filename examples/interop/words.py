"""The common part of the agents of `make lab NAME=interop`: their arguments, and the texts of their answers."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

WORD = "heron"


@dataclass(frozen=True, slots=True)
class Arguments:
    """The agent's host and port, its address in its card, and the addresses of its peers."""

    host: str
    port: int
    card_url: str
    peers: Sequence[str]
    word: str

    @property
    def text(self) -> str:
        """What the agent knows."""
        return f"The word is {self.word}."


def arguments(*switches: str) -> Arguments:
    """The arguments of the command line. `switches`: further ones, which the program reads itself."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--card-url", required=True)
    parser.add_argument("--peer", action="append", default=[])
    parser.add_argument("--word", default=WORD)
    for switch in switches:
        parser.add_argument(switch, action="store_true")
    given = parser.parse_args()
    return Arguments(given.host, given.port, given.card_url, given.peer, given.word)


def answer_of(heard: Sequence[str]) -> str:
    """The answer of an agent that asked its peers."""
    known = sum(WORD in text for text in heard)
    return f"I asked {len(heard)}, and {known} said: the word is {WORD}." if known else "Nobody knows the word."


def pieces_of(text: str, size: int = 3) -> Sequence[str]:
    """A text in pieces, as a model streams it: no piece has the whole word."""
    return [text[start : start + size] for start in range(0, len(text), size)]
