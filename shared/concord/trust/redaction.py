"""Redaction: takes secrets out of whatever is to be kept, shown or logged, whoever wrote them there and in which form.

A token is known by its form, and so is its base64. Of the live ones, and of every other secret that a process holds,
any part of 16 characters or more is known as well, as it is and in base64.
"""

import re
import struct
from base64 import urlsafe_b64encode
from collections import OrderedDict
from collections.abc import Iterator
from typing import Final, overload

TOKEN_PREFIX: Final = "concord_"  # noqa: S105 - no secret
"""What every token starts with, so that it can be told from all other text, and from other people's tokens."""

REDACTED: Final = "-"
"""What stands in a token's place. A proxy's URL with it still names the callee, and leads nowhere."""

MIN_PART: Final = 16
"""Characters of a secret from which on a part of it is taken out: a shorter one is of no use to anybody."""

MAX_TOKENS: Final = 1024
"""Live tokens whose parts are known, the latest ones: about 20 KB each. The others are still known by their form."""

_MIN_SECRET: Final = 8
"""Characters of a secret that is looked for at all: a shorter one stands in too much innocent text."""

_GRAM: Final = 8
_STRIDE: Final = MIN_PART - _GRAM + 1
_URL_ALPHABET: Final = bytes.maketrans(b"+/", b"-_")
"""base64's two alphabets as one; a text stays as long as it was."""

_FORM: Final = TOKEN_PREFIX.encode() + rb"eyJ[\w-]*(?:\.[\w-]*){0,2}"
_TOKEN: Final = re.compile(_FORM)

_BLOCK: Final = struct.Struct("<" + f"Q{_STRIDE - _GRAM}x" * 128)
"""Eight bytes at every ninth place, as numbers: sixteen in a row hold one of these whole."""


def _encoded(secret: bytes) -> list[bytes]:
    """What stands for the secret in the base64 of a text with it: one form for each place in a group of three."""
    found = []
    for before in range(3):
        whole = urlsafe_b64encode(bytes(before) + secret).rstrip(b"=")
        fixed_from = -(-before * 8 // 6)
        fixed_to = (before + len(secret)) * 8 // 6
        found.append(whole[fixed_from:fixed_to])
    return found


_BEGINNINGS: Final = _encoded(TOKEN_PREFIX.encode() + b"eyJ")
_ENCODED_TOKEN: Final = re.compile(b"(?:" + b"|".join(_BEGINNINGS) + rb")[\w+/-]*=*")


class Secrets:
    """The live secrets of a process. What it takes out of a text, it takes out in time linear in the text's length."""

    def __init__(self) -> None:
        self._tokens: OrderedDict[str, frozenset[int]] = OrderedDict()
        self._lasting: set[int] = set()
        self._grams: set[int] = set()
        """What stands in all of them, eight bytes a number."""
        self._short: set[bytes] = set()

    def learn_token(self, token: str) -> None:
        """Learns a participant's token: of a JWT its signature, since all begin alike and the rest is no secret."""
        if token in self._tokens:
            self._tokens.move_to_end(token)
            return
        self._tokens[token] = grams = frozenset(_grams_of(token.rpartition(".")[2].encode()))
        self._grams |= grams
        while len(self._tokens) > MAX_TOKENS:
            _, forgotten = self._tokens.popitem(last=False)
            self._grams -= forgotten - self._lasting

    def learn(self, secret: str) -> None:
        """Learns a secret that lasts as long as the process. One of less than eight characters is none."""
        written = secret.encode()
        if len(written) >= MIN_PART:
            self._lasting |= set(_grams_of(written))
            self._grams |= self._lasting
        elif len(written) >= _MIN_SECRET:
            self._short |= {written, *_encoded(written)}

    def redact(self, text: bytes) -> bytes:
        """The text with `REDACTED` in the place of every secret, and of every part of one that is long enough."""
        if TOKEN_PREFIX.encode() in text:
            text = _TOKEN.sub(REDACTED.encode(), text)
        if any(beginning in text for beginning in _BEGINNINGS):
            text = _ENCODED_TOKEN.sub(REDACTED.encode(), text)
        for secret in self._short:
            text = text.replace(secret, REDACTED.encode())
        plain = text.translate(_URL_ALPHABET)
        padded = plain + bytes(-len(plain) % _BLOCK.size)
        if all(map(self._grams.isdisjoint, _BLOCK.iter_unpack(padded))):
            return text
        return self._without_parts(text, plain)

    def _without_parts(self, text: bytes, plain: bytes) -> bytes:
        kept, done = bytearray(), 0
        for start, end in self._parts_in(plain):
            kept += text[done:start] + REDACTED.encode()
            done = end
        return bytes(kept + text[done:])

    def _parts_in(self, plain: bytes) -> Iterator[tuple[int, int]]:
        """Where the parts stand, from and to. Each known gram begins one place after the one before it."""
        start: int | None = None
        for at in range(len(plain) - _GRAM + 2):
            if at <= len(plain) - _GRAM and _gram(plain, at) in self._grams:
                start = at if start is None else start
            elif start is not None:
                if (end := at + _GRAM - 1) - start >= MIN_PART:
                    yield start, end
                start = None


def _grams_of(secret: bytes) -> Iterator[int]:
    for form in (secret, *_encoded(secret)):
        plain = form.translate(_URL_ALPHABET)
        yield from (_gram(plain, at) for at in range(len(plain) - _GRAM + 1))


def _gram(plain: bytes, at: int) -> int:
    return int.from_bytes(plain[at : at + _GRAM], "little")


_LIVE: Final = Secrets()
"""Those of this process: every token that it issues or accepts, and the keys in its settings."""


def learn_token(token: str) -> None:
    """Has `redact` know a participant's token."""
    _LIVE.learn_token(token)


def learn_secret(secret: str) -> None:
    """Has `redact` know a key for as long as the process runs."""
    _LIVE.learn(secret)


@overload
def redact(text: str) -> str: ...
@overload
def redact(text: bytes) -> bytes: ...
def redact(text: str | bytes) -> str | bytes:
    """The text with `REDACTED` in the place of every secret of this process, and of every token whosever it is."""
    if isinstance(text, bytes):
        return _LIVE.redact(text)
    written = text.encode("utf-8", "surrogatepass")
    redacted = _LIVE.redact(written)
    return text if redacted is written else redacted.decode("utf-8", "surrogatepass")


def holds_token(text: bytes) -> bool:
    """Whether a token, or the base64 of one, begins anywhere in a text."""
    encoded = any(beginning in text.translate(_URL_ALPHABET) for beginning in _BEGINNINGS)
    return encoded or _TOKEN.search(text) is not None
