"""The document of a trial in storage: each part is saved once, and a document of another version is refused."""

from collections.abc import AsyncIterator

import pytest

from concord.storage.connection import connect
from concord.storage.trial_documents import ForeignDocumentError, TrialDocuments
from concord.trust.redaction import REDACTED, TOKEN_PREFIX


@pytest.fixture
async def trials(redis_url: str) -> AsyncIterator[TrialDocuments]:
    async with connect(redis_url) as storage:
        yield TrialDocuments(storage.assessments)


async def test_a_part_is_absent_until_it_is_added_and_then_what_was_added(trials: TrialDocuments) -> None:
    assert await trials.part("a", "trial-1", "verdict") is None
    await trials.add("a", "trial-1", "verdict", '{"score":1}')
    assert await trials.part("a", "trial-1", "verdict") == '{"score":1}'
    assert await trials.parts("a", ["trial-2", "trial-1"], "verdict") == [None, '{"score":1}']
    assert await trials.part("a", "trial-1", "evaluation") is None


async def test_a_part_is_saved_once(trials: TrialDocuments) -> None:
    await trials.add("a", "trial-1", "verdict", '"first"')
    await trials.add("a", "trial-1", "verdict", '"second"')
    assert await trials.part("a", "trial-1", "verdict") == '"first"'


async def test_a_part_replaces_only_the_one_that_its_author_has_seen(trials: TrialDocuments) -> None:
    await trials.add("a", "trial-1", "verdict", '"failed"')
    await trials.add("a", "trial-1", "verdict", '"retried"', instead_of='"failed"')
    await trials.add("a", "trial-1", "verdict", '"retried again"', instead_of='"failed"')
    assert await trials.part("a", "trial-1", "verdict") == '"retried"'


async def test_a_document_has_all_parts_as_they_were_read_and_those_that_it_added(trials: TrialDocuments) -> None:
    await trials.add("a", "trial-1", "outcome", '"closed"')
    document = await trials.document("a", "trial-1")
    await trials.add("a", "trial-1", "evidence", '"read"')
    await document.add("evaluation", '"evaluated"')
    parts = [document.part(part) for part in ("outcome", "evaluation", "evidence", "verdict")]
    assert parts == ['"closed"', '"evaluated"', None, None]


async def test_a_document_has_the_part_that_somebody_else_added_first(trials: TrialDocuments) -> None:
    document = await trials.document("a", "trial-1")
    await trials.add("a", "trial-1", "verdict", '"first"')
    await document.add("verdict", '"second"')
    assert document.part("verdict") == await trials.part("a", "trial-1", "verdict") == '"first"'


async def test_a_document_has_a_part_as_it_is_stored(trials: TrialDocuments) -> None:
    token = f"{TOKEN_PREFIX}eyJ{'a' * 40}"
    document = await trials.document("a", "trial-1")
    await document.add("evaluation", f'"told {token}"')
    assert document.part("evaluation") == await trials.part("a", "trial-1", "evaluation") == f'"told {REDACTED}"'


async def test_a_foreign_part_is_refused_when_it_is_asked_for(trials: TrialDocuments) -> None:
    await trials.assessments.save("a", "trial:trial-1:evaluation", '{"version":1,"content":{}}')
    document = await trials.document("a", "trial-1")
    assert document.part("verdict") is None
    with pytest.raises(ForeignDocumentError):
        document.part("evaluation")


@pytest.mark.parametrize("stored", ['{"version":1,"content":{}}', "{}", "not even JSON"])
async def test_a_document_of_another_version_is_refused(trials: TrialDocuments, stored: str) -> None:
    await trials.assessments.save("a", "trial:trial-1:outcome", stored)
    with pytest.raises(ForeignDocumentError, match=r"the document of trial-1 has .*, and this program reads version 2"):
        await trials.part("a", "trial-1", "outcome")
