"""The rows of the recorded traces of agent frameworks keep their values."""

from pathlib import Path

import pytest
from pydantic import JsonValue

from concord.assessment import AssessmentConfig
from concord_evaluator.formats import FormatError, Source, read_traces
from concord_evaluator.offline import evaluate_trace
from tests.goldens.golden import check

RECORDINGS = Path(__file__).parents[1] / "recordings/frameworks"
NAMES = sorted(path.stem for path in RECORDINGS.glob("*.jsonl"))


def rows_of(path: Path) -> JsonValue:
    """The row of each trace of a file; of a refused file the reason."""
    try:
        with path.open("rb") as file:
            traces = list(read_traces(Source(path.name, file)))
    except FormatError as error:
        return f"refused: {error}"
    return [evaluate_trace(trace, AssessmentConfig()).model_dump(mode="json") for trace in traces]


@pytest.mark.parametrize("name", NAMES)
def test_the_rows_of_a_recording_keep_their_values(name: str) -> None:
    check(f"recordings/{name}", rows_of(RECORDINGS / f"{name}.jsonl"))
