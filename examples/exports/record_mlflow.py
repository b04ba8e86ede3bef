"""Records a traced team with MLflow: `pip install mlflow-skinny`, then `python record_mlflow.py FOLDER`."""

import json
import os
import sys
import tempfile
from pathlib import Path

os.environ |= {"MLFLOW_ALLOW_FILE_STORE": "true", "MLFLOW_ENABLE_ASYNC_TRACE_LOGGING": "false"}

import mlflow
from mlflow.entities import SpanType

FOLDER = Path(sys.argv[1])


@mlflow.trace(name="search", span_type=SpanType.TOOL)
def search(question):
    return f"found {question}"


@mlflow.trace(name="gpt", span_type=SpanType.CHAT_MODEL)
def model(question):
    return f"answer to {question}"


@mlflow.trace(name="researcher", span_type=SpanType.AGENT)
def researcher(question):
    search(question)
    return model(question)


@mlflow.trace(name="critic", span_type=SpanType.AGENT)
def critic(text):
    model(text)
    raise RuntimeError("cannot judge")


@mlflow.trace(name="planner", span_type=SpanType.AGENT)
def planner(question):
    found = researcher(question) + researcher(f"{question} again")
    try:
        critic(found)
    except RuntimeError:
        return found


with tempfile.TemporaryDirectory() as store:
    mlflow.set_tracking_uri(f"file:{store}")
    mlflow.set_experiment("team")
    planner("Where to?")
    trace = json.loads(mlflow.get_trace(mlflow.get_last_active_trace_id()).to_json())

metadata = trace["info"]["trace_metadata"]
for key in [key for key in metadata if key == "mlflow.user" or key.startswith("mlflow.source.")]:
    del metadata[key]
del trace["info"]["tags"]["mlflow.artifactLocation"]
for span in trace["data"]["spans"]:
    for event in span["events"]:
        event["attributes"].pop("exception.stacktrace", None)
(FOLDER / "mlflow-trace.json").write_text(json.dumps(trace, indent=1))
(FOLDER / "mlflow-artifact.json").write_text(json.dumps({"spans": trace["data"]["spans"]}))
