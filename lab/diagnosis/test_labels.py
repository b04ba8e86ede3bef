"""The labels of failed runs: they name steps of the traces that are read from the same documents."""

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from lab.diagnosis.labels import labels_in
from tests.kit.failed_runs import GROUP_CHAT
from tests.kit.sources import read


def test_a_label_names_an_agent_and_a_step_of_the_trace(tmp_path: Path) -> None:
    (tmp_path / "1.json").write_text(json.dumps(GROUP_CHAT))
    [label] = labels_in(tmp_path)
    [trace] = read(json.dumps(GROUP_CHAT))
    by_step = {report.step.step_id: report.reporter for report in trace.reports()}
    assert (label.trace_id, by_step[label.step_id], label.agent) == (trace.trace_id, "Counter", "Counter")
    assert label.reason == "It counted twice."


def test_a_document_without_a_label_is_refused(tmp_path: Path) -> None:
    (tmp_path / "1.json").write_text(
        json.dumps({key: value for key, value in GROUP_CHAT.items() if "mistake" not in key})
    )
    with pytest.raises(ValidationError):
        list(labels_in(tmp_path))
