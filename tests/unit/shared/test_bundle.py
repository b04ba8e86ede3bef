"""Bundles: what was written is read again, and every difference from the manifest is named."""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_STORED, ZipFile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord.bundle import (
    MANIFEST,
    BundleError,
    BundleTooLargeError,
    BundleWriter,
    batch_of_line,
    read_bundle,
    report_line,
)
from concord.trace.report import Channel, ReportBatch, pack, unpack
from tests.kit.traces import RECEIVED_AT

MEMBERS = {"plan.json": b"{}", "trials/trial-1/reports.jsonl": b"one\ntwo\n"}


def written(members: dict[str, bytes] = MEMBERS) -> bytes:
    """A bundle with these members."""
    file = BytesIO()
    writer = BundleWriter(file)
    for name, content in members.items():
        with writer.member(name) as write:
            write(content)
    writer.close("a1", None)
    return file.getvalue()


def repacked(change: Callable[[dict[str, bytes]], object]) -> bytes:
    """A bundle with changed members, and the manifest as it was."""
    with ZipFile(BytesIO(written())) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    file = BytesIO()
    with ZipFile(file, "w", ZIP_STORED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def faults_of(content: bytes, folder: Path) -> tuple[str, ...]:
    """The faults of a bundle with this content."""
    path = folder / "bundle.zip"
    path.write_bytes(content)
    with pytest.raises(BundleError) as raised:
        read_bundle(path)
    return raised.value.faults


NAMES = st.text("abc/._-", min_size=1, max_size=20)


@given(st.dictionaries(NAMES, st.binary(max_size=100), max_size=4))
def test_what_is_written_is_read_again_and_always_as_the_same_bytes(
    tmp_path_factory: pytest.TempPathFactory, members: dict[str, bytes]
) -> None:
    content = written(members)
    path = tmp_path_factory.getbasetemp() / "bundle.zip"
    path.write_bytes(content)
    assert read_bundle(path).members == members
    assert written(members) == content


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda each: each.pop("plan.json"), "plan.json: is missing"),
        (lambda each: each.update({"x": b""}), "x: is not in the manifest"),
        (lambda each: each.update({"plan.json": b"{ }"}), "plan.json: has 3 bytes, not the 2 of the manifest"),
        (lambda each: each.update({"plan.json": b"[]"}), "plan.json: does not have the SHA-256 "),
        (lambda each: each.pop(MANIFEST), "has no manifest.json"),
        (lambda each: each.update({MANIFEST: b"{}"}), "manifest.json: assessment_id: Field required"),
        (
            lambda each: each.update({MANIFEST: each[MANIFEST].replace(b'"version": 2', b'"version": 1')}),
            "manifest.json: version: Input should be 2",
        ),
    ],
    ids=["missing", "added", "longer", "changed", "no manifest", "empty manifest", "version"],
)
def test_a_difference_from_the_manifest_is_named(
    change: Callable[[dict[str, bytes]], object], fault: str, tmp_path: Path
) -> None:
    [found] = faults_of(repacked(change), tmp_path)
    assert found.startswith(fault)


def test_a_duplicated_member_is_named(tmp_path: Path) -> None:
    file = BytesIO(written())
    with ZipFile(file, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("plan.json", b"{}")
    assert "plan.json: occurs more than once" in faults_of(file.getvalue(), tmp_path)


def test_a_file_that_is_not_a_zip_file_is_not_a_bundle(tmp_path: Path) -> None:
    assert faults_of(b"hello", tmp_path) == ("is not a bundle: File is not a zip file",)


def test_members_beyond_the_limit_are_not_written() -> None:
    writer = BundleWriter(BytesIO(), max_content=10)
    writer.add("a", "123456")
    with pytest.raises(BundleTooLargeError, match="its members exceed 10 bytes"):
        writer.add("b", "12345")


@given(st.binary(max_size=50))
def test_a_batch_keeps_the_bytes_of_its_body(body: bytes) -> None:
    batch = ReportBatch("b1", "t1", "agent", True, Channel.HTTP, RECEIVED_AT, 1, 0, pack(body))
    again = batch_of_line(report_line(batch))
    assert unpack(again.body) == body
    assert (again.reporter, again.channel, again.received_at) == ("agent", Channel.HTTP, RECEIVED_AT)
