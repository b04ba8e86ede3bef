"""Redaction: removes secrets from everything that is stored, shown or logged.

Tokens are recognised by their form, as they are and in base64. Of live tokens and all other secrets of the process, any
part of 16 characters or more is recognised, as it is and in base64.
"""

import re
import struct
from base64 import urlsafe_b64encode
from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator, Set
from typing import TYPE_CHECKING, Final, overload

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# Blocks of known secrets, eight bytes each, by which a text is searched for any part of one.

SIZE: Final = 8
MIN_PART: Final = 16
"""Any part of a text of this length contains a block at one of the positions that are looked at."""

_STRIDE: Final = MIN_PART - SIZE + 1
_AT_ONCE: Final = 128
_BLOCKS: Final = struct.Struct("<" + f"Q{_STRIDE - SIZE}x" * _AT_ONCE)
_MIN_VECTOR: Final = 2048
"""The shortest text that is worth the calls of NumPy (bytes)."""

_WORD: Final = 4
_SPREAD: Final = 0x9E3779B1
"""A prime near 2^32 divided by the golden ratio, which spreads words over a table (Knuth, volume 3, section 6.4)."""
_MIN_BITS: Final = 16
_MIN_ROOM: Final = 16
"""How many places a table has for each block when it is made, at least."""


def blocks_of(text: bytes) -> list[int]:
    """The blocks at all positions, as integers, in the order of their positions modulo `SIZE`."""
    starts = range(min(SIZE, max(0, len(text) - SIZE + 1)))
    return [block for start in starts for block in struct.unpack_from(f"<{(len(text) - start) // SIZE}Q", text, start)]


def block_at(text: bytes, at: int) -> int:
    """The block at a position, as an integer."""
    return int.from_bytes(text[at : at + SIZE], "little")


class KnownBlocks:
    """The blocks of all known secrets. `marks`: texts of 11 bytes or more, which `may_hold` looks for too."""

    def __init__(self, marks: Iterable[bytes]) -> None:
        self._known: set[int] = set()
        self._marks = {block for mark in marks for block in blocks_of(mark)}
        self._table: _BlockTable | None = None

    def scan_with_numpy(self) -> None:
        """From now on, `may_hold` tells most texts that hold nothing. Raises ImportError without NumPy."""
        self._table = _BlockTable(self._known | self._marks)

    def learn(self, blocks: Collection[int]) -> None:
        """Adds blocks."""
        self._known.update(blocks)
        if self._table is not None:
            self._table.add(blocks)
            if self._table.is_full:
                self.scan_with_numpy()

    def forget(self, blocks: Collection[int]) -> None:
        """Removes blocks."""
        self._known.difference_update(blocks)

    def __contains__(self, block: int) -> bool:
        return block in self._known

    def may_hold(self, text: bytes) -> bool:
        """False if a text holds neither a mark nor `MIN_PART` bytes of a secret. Always true for a short text."""
        if self._table is None or len(text) < _MIN_VECTOR:
            return True
        found = self._table.candidates(text)
        return not (self._known.isdisjoint(found) and self._marks.isdisjoint(found))

    def positions_in(self, text: bytes) -> Iterator[int]:
        """Ascending positions of known blocks in a text, at least one of them in each part of `MIN_PART` bytes."""
        if not self._known:
            return
        padded = text + bytes(-len(text) % _BLOCKS.size)
        for number, blocks in enumerate(_BLOCKS.iter_unpack(padded)):
            if not self._known.isdisjoint(blocks):
                first = number * _AT_ONCE
                yield from ((first + n) * _STRIDE for n, block in enumerate(blocks) if block in self._known)


class _BlockTable:
    """Tells most blocks of a text from given ones by a table of the hashes of their words, all blocks at once.

    A block that is forgotten stays, and becomes one more candidate.
    """

    def __init__(self, blocks: Set[int]) -> None:
        import numpy as np

        self._np = np
        # As small as the blocks permit: in a table that fits the processor's caches, a text takes half of the time.
        self._bits = max(_MIN_BITS, (len(blocks) * _MIN_ROOM).bit_length())
        self._holds = np.zeros(1 << self._bits, bool)
        self._n_added = 0
        self.add(blocks)

    @property
    def is_full(self) -> bool:
        """Whether so many blocks were added that a new table finds fewer candidates."""
        return self._n_added * _MIN_ROOM > 2 * len(self._holds)

    def add(self, blocks: Collection[int]) -> None:
        """Adds blocks."""
        added = self._np.fromiter(blocks, self._np.uint64, len(blocks))
        self._holds[self._places(added.view(self._np.uint32))] = True
        self._n_added += len(blocks)

    def candidates(self, text: bytes) -> list[int]:
        """The blocks at every fourth position whose two words are both in the table.

        Of these positions, 11 bytes hold a whole block, wherever they begin.
        """
        np = self._np
        held = self._holds.take(self._places(np.frombuffer(text, "<u4", len(text) // _WORD)))
        (at,) = np.nonzero(held[:-1] & held[1:])
        blocks = np.ndarray(len(held) - 1, "<u8", text, strides=_WORD)
        found: list[int] = blocks[at].tolist()
        return found

    def _places(self, words: "NDArray[np.uint32]") -> "NDArray[np.uint32]":
        hashes = words * self._np.uint32(_SPREAD)
        hashes >>= self._np.uint32(32 - self._bits)
        return hashes


# The secrets that a process knows, and their removal.

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
