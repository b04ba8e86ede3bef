"""A store of an earlier version: what a program cannot read in it, it refuses, and says which versions they are."""

from pathlib import Path

import pytest

from concord.assessment import TimeLimits
from concord.storage import trial_documents
from concord.storage.connection import connect
from concord.storage.trial_documents import VERSION, ForeignDocumentError
from concord_gateway.assessment_record import AssessmentRecord
from tests.kit.assessing import PATTERN
from tests.kit.stack import stack
from tests.kit.trials import outcome, plan

EARLIER = VERSION - 1
SAID = f"has version {EARLIER}, and this program reads version {VERSION}"


@pytest.fixture
def written_earlier(monkeypatch: pytest.MonkeyPatch) -> None:
    """Documents are written as an earlier version of the program wrote them."""
    monkeypatch.setattr(trial_documents, "_document", lambda content: f'{{"version":{EARLIER},"content":{content}}}')


@pytest.mark.usefixtures("written_earlier")
async def test_a_gateway_takes_over_no_assessment_of_an_earlier_version(redis_url: str) -> None:
    planned = plan(["a"], trials=2)
    async with connect(redis_url) as storage:
        record = await AssessmentRecord.begin(storage.assessments, planned, TimeLimits(60, 60), [])
        await record.close_trial(planned.trials[0], outcome("trial-1"))
        with pytest.raises(ForeignDocumentError, match=f"trial-1.* {SAID}"):
            await AssessmentRecord.of(storage.assessments, planned.assessment_id)


@pytest.mark.usefixtures("written_earlier")
async def test_an_assessment_fails_with_both_versions_where_its_trials_cannot_be_read(
    redis_url: str, tmp_path: Path
) -> None:
    async with stack(redis_url, tmp_path) as running:
        answer = await running.assess({}, tasks=[{"id": "ring", "interaction_pattern": PATTERN}])
    assert not answer.data_parts
    assert answer.status_text == f"Failed: no result: the document of trial-1 {SAID}"
