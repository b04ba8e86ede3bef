"""Writes observations with the models of Langfuse's SDK: `pip install langfuse`, `python record_langfuse.py FOLDER`."""

import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from langfuse.api.commons.types.observation_v2 import ObservationV2
from langfuse.api.observations.types.observations_v2meta import ObservationsV2Meta
from langfuse.api.observations.types.observations_v2response import ObservationsV2Response

FOLDER = Path(sys.argv[1])
NOON = datetime(2026, 9, 8, 12, tzinfo=UTC)
NAMES_IN_BUCKETS = {
    "traceId": "trace_id",
    "parentObservationId": "parent_observation_id",
    "startTime": "start_time",
    "endTime": "end_time",
    "statusMessage": "status_message",
    "projectId": "project_id",
}

OBSERVATIONS = [
    (1, None, "AGENT", "planner", 0, 900),
    (2, 1, "GENERATION", "plan", 10, 60),
    (3, 1, "AGENT", "researcher", 100, 400),
    (4, 3, "TOOL", "search", 110, 200),
    (5, 3, "GENERATION", "sum up", 210, 390),
    (6, 1, "AGENT", "critic", 410, 800),
    (7, 6, "GENERATION", "judge", 420, 700),
    (8, 1, "EVALUATOR", "score", 810, 820),
]


def observation(number, parent, kind, name, start, end):
    failed = name == "critic"
    return ObservationV2(
        id=f"{number:016x}",
        trace_id="0f" * 16,
        project_id="p1",
        parent_observation_id=None if parent is None else f"{parent:016x}",
        type=kind,
        name=name,
        start_time=NOON + timedelta(milliseconds=start),
        end_time=NOON + timedelta(milliseconds=end),
        level="ERROR" if failed else "DEFAULT",
        status_message="cannot judge" if failed else None,
        session_id="trip",
    )


answer = ObservationsV2Response(data=[observation(*each) for each in OBSERVATIONS], meta=ObservationsV2Meta())
document = json.loads(answer.json())
(FOLDER / "langfuse-api.json").write_text(json.dumps(document, indent=1))
rows = [{NAMES_IN_BUCKETS.get(key, key): value for key, value in each.items()} for each in document["data"]]
for row in rows:
    del row["sessionId"]
(FOLDER / "langfuse-rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
