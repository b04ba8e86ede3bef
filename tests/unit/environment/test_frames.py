"""Journal frames: reading distinguishes an incomplete last frame from a damaged one."""

from hypothesis import given
from hypothesis import strategies as st

from concord_environment.persistence.frames import MAGIC, encode_frame, scan_frames

CONTENTS = st.lists(st.one_of(st.binary(max_size=40), st.just(MAGIC), st.just(encode_frame(7, b"within"))), max_size=6)


def written(contents: list[bytes]) -> bytes:
    return b"".join(encode_frame(number, content) for number, content in enumerate(contents, start=1))


@given(CONTENTS)
def test_written_frames_are_read_back(contents: list[bytes]) -> None:
    data = written(contents)
    scan = scan_frames(data, 0)
    assert [frame.content for frame in scan.frames] == contents
    assert [frame.number for frame in scan.frames] == list(range(1, len(contents) + 1))
    assert (scan.end, scan.next_intact) == (len(data), None)


@given(CONTENTS, st.binary(max_size=40), st.data())
def test_an_incomplete_last_frame_is_cut_off(contents: list[bytes], last: bytes, data: st.DataObject) -> None:
    whole, torn = written(contents), encode_frame(len(contents) + 1, last)
    length = data.draw(st.integers(0, len(torn) - 1))
    scan = scan_frames(whole + torn[:length], 0)
    assert [frame.content for frame in scan.frames] == contents
    assert (scan.end, scan.next_intact) == (len(whole), None)


@given(st.lists(st.binary(max_size=40), min_size=2, max_size=6), st.data())
def test_a_changed_byte_before_the_last_frame_is_reported_as_damage(contents: list[bytes], data: st.DataObject) -> None:
    whole, last = written(contents[:-1]), encode_frame(len(contents), contents[-1])
    at = data.draw(st.integers(0, len(whole) - 1))
    changed = bytearray(whole + last)
    changed[at] ^= data.draw(st.integers(1, 255))
    scan = scan_frames(bytes(changed), 0)
    assert scan.end <= at
    assert scan.next_intact is not None
    assert scan.next_intact > at
