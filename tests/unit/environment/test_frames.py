"""Journal frames: reading distinguishes an incomplete last frame from a damaged one."""

from hypothesis import given
from hypothesis import strategies as st

from concord_environment.persistence.frames import MARK, framed, read_frames

CONTENTS = st.lists(st.one_of(st.binary(max_size=40), st.just(MARK), st.just(framed(7, b"within"))), max_size=6)


def written(contents: list[bytes]) -> bytes:
    return b"".join(framed(number, content) for number, content in enumerate(contents, start=1))


@given(CONTENTS)
def test_written_frames_are_read_back(contents: list[bytes]) -> None:
    data = written(contents)
    reading = read_frames(data, 0)
    assert [frame.content for frame in reading.frames] == contents
    assert [frame.number for frame in reading.frames] == list(range(1, len(contents) + 1))
    assert (reading.end, reading.resumes) == (len(data), None)


@given(CONTENTS, st.binary(max_size=40), st.data())
def test_an_incomplete_last_frame_is_cut_off(contents: list[bytes], last: bytes, data: st.DataObject) -> None:
    whole, torn = written(contents), framed(len(contents) + 1, last)
    length = data.draw(st.integers(0, len(torn) - 1))
    reading = read_frames(whole + torn[:length], 0)
    assert [frame.content for frame in reading.frames] == contents
    assert (reading.end, reading.resumes) == (len(whole), None)


@given(st.lists(st.binary(max_size=40), min_size=2, max_size=6), st.data())
def test_a_changed_byte_before_the_last_frame_is_reported_as_damage(contents: list[bytes], data: st.DataObject) -> None:
    whole, last = written(contents[:-1]), framed(len(contents), contents[-1])
    at = data.draw(st.integers(0, len(whole) - 1))
    changed = bytearray(whole + last)
    changed[at] ^= data.draw(st.integers(1, 255))
    reading = read_frames(bytes(changed), 0)
    assert reading.end <= at
    assert reading.resumes is not None
    assert reading.resumes > at
