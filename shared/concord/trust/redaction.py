"""Redaction: removes secrets from everything that is stored, shown or logged.

Tokens are recognised by their form, as they are and in base64. Of live tokens and all other secrets of the process, any
part of 16 characters or more is recognised, as it is and in base64.
"""

import re
from base64 import urlsafe_b64encode
from collections import OrderedDict
from collections.abc import Iterator
from typing import Final, overload

from concord.trust.secret_blocks import MIN_PART, SIZE, KnownBlocks, block_at, blocks_of

TOKEN_PREFIX: Final = "concord_"  # noqa: S105 - no secret
"""The prefix of every token, which distinguishes Concord's tokens from other text and other tokens."""

REDACTED: Final = "-"
"""Replaces a secret. A proxy URL with it still names the callee, and the proxy rejects it."""

MAX_TOKENS: Final = 1024
"""Live tokens whose parts are recognised, the latest ones: about 20 KB each. Older ones are recognised by their form.
"""

_MIN_SECRET: Final = 8
"""The shortest secret that is removed (characters): anything shorter occurs in ordinary text."""


_BEGINNING: Final = TOKEN_PREFIX.encode() + b"eyJ"
_FORM: Final = _BEGINNING + rb"[\w-]*(?:\.[\w-]*){0,2}"
_TOKEN: Final = re.compile(_FORM)


def _encoded(secret: bytes) -> list[bytes]:
    """The base64 of the secret inside a longer text: one form for each offset modulo three."""
    found = []
    for before in range(3):
        whole = urlsafe_b64encode(bytes(before) + secret).rstrip(b"=")
        fixed_from = -(-before * 8 // 6)
        fixed_to = (before + len(secret)) * 8 // 6
        found.append(whole[fixed_from:fixed_to])
    return found


_BEGINNINGS: Final = _encoded(_BEGINNING)
_ENCODED_TOKEN: Final = re.compile(b"(?:" + b"|".join(_BEGINNINGS) + rb")[\w+/-]*=*")


class Secrets:
    """The live secrets of a process. Redaction takes time linear in the length of the text."""

    def __init__(self) -> None:
        self._tokens: OrderedDict[str, frozenset[int]] = OrderedDict()
        self._lasting: set[int] = set()
        self.blocks: Final = KnownBlocks(marks=(_BEGINNING, *_BEGINNINGS))
        self._short: set[bytes] = set()

    def learn_token(self, token: str) -> None:
        """Adds a participant's token. Only a JWT's signature counts: headers are alike, and the rest is not secret."""
        if token in self._tokens:
            self._tokens.move_to_end(token)
            return
        self._tokens[token] = blocks = frozenset(_blocks_of(token.rpartition(".")[2].encode()))
        self.blocks.learn(blocks)
        while len(self._tokens) > MAX_TOKENS:
            _, forgotten = self._tokens.popitem(last=False)
            self.blocks.forget(forgotten - self._lasting)

    def learn(self, secret: str) -> None:
        """Adds a secret for the lifetime of the process. Fewer than eight characters are ignored."""
        written = secret.encode()
        if len(written) >= MIN_PART:
            blocks = set(_blocks_of(written))
            self._lasting |= blocks
            self.blocks.learn(blocks)
        elif len(written) >= _MIN_SECRET:
            self._short |= {written, *_encoded(written)}

    def redact(self, text: bytes) -> bytes:
        """The text with every secret, and every long enough part of one, replaced by `REDACTED`."""
        if self.blocks.may_hold(_in_url_alphabet(text)):
            text = self._without_parts(_without_tokens(text))
        for secret in self._short:
            text = text.replace(secret, REDACTED.encode())
        return text

    def _without_parts(self, text: bytes) -> bytes:
        kept, done = bytearray(), 0
        for start, end in self._parts_in(_in_url_alphabet(text)):
            kept += text[done:start] + REDACTED.encode()
            done = end
        return bytes(kept + text[done:]) if done else text

    def _parts_in(self, plain: bytes) -> Iterator[tuple[int, int]]:
        """The start and end of each part found: known blocks begin at all of its positions but the last seven."""
        after = 0
        for at in self.blocks.positions_in(plain):
            if at < after:
                continue
            start = at
            while start > after and block_at(plain, start - 1) in self.blocks:
                start -= 1
            after = at + 1
            while block_at(plain, after) in self.blocks:
                after += 1
            if (end := after + SIZE - 1) - start >= MIN_PART:
                yield start, end


def _without_tokens(text: bytes) -> bytes:
    if _BEGINNING in text:
        text = _TOKEN.sub(REDACTED.encode(), text)
    if any(beginning in text for beginning in _BEGINNINGS):
        text = _ENCODED_TOKEN.sub(REDACTED.encode(), text)
    return text


def _in_url_alphabet(text: bytes) -> bytes:
    """The text with base64's two alphabets as one. Two searches take a fifth of the time of `translate`."""
    return text.replace(b"+", b"-").replace(b"/", b"_")


def _blocks_of(secret: bytes) -> Iterator[int]:
    for form in (secret, *_encoded(secret)):
        yield from blocks_of(_in_url_alphabet(form))


_LIVE: Final = Secrets()
"""The process's secrets: every token that it issues or accepts, and the keys in its settings."""


def scan_with_numpy() -> None:
    """Makes `redact` take a tenth of the time for long texts, in a process that redacts many. Needs NumPy."""
    _LIVE.blocks.scan_with_numpy()


def learn_token(token: str) -> None:
    """Makes `redact` recognise a participant's token."""
    _LIVE.learn_token(token)


def learn_secret(secret: str) -> None:
    """Makes `redact` recognise a key for the lifetime of the process."""
    _LIVE.learn(secret)


@overload
def redact(text: str) -> str: ...
@overload
def redact(text: bytes) -> bytes: ...
def redact(text: str | bytes) -> str | bytes:
    """The text with every secret of this process, and every token, replaced by `REDACTED`."""
    if isinstance(text, bytes):
        return _LIVE.redact(text)
    written = text.encode("utf-8", "surrogatepass")
    redacted = _LIVE.redact(written)
    return text if redacted is written else redacted.decode("utf-8", "surrogatepass")


def holds_token(text: bytes) -> bool:
    """Whether a token, or the base64 of one, begins anywhere in a text."""
    encoded = any(beginning in _in_url_alphabet(text) for beginning in _BEGINNINGS)
    return encoded or _TOKEN.search(text) is not None
