"""Metrics, alerts, dashboard, logs and traces of a real run, as Prometheus and a receiver of OTLP see them."""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from concord.loopback import LOOPBACK
from tests.kit.concord import bare_environment, concord
from tests.kit.ports import row_of_free_ports
from tests.kit.processes import until

ROOT = Path(__file__).parents[2]
KIT = ROOT / "deploy/observability"
PROMETHEUS, PROMTOOL = shutil.which("prometheus"), shutil.which("promtool")

needs_prometheus = pytest.mark.skipif(
    None in (PROMETHEUS, PROMTOOL) and "REQUIRE_PROMETHEUS" not in os.environ,
    reason="needs prometheus and promtool (Debian's package prometheus)",
)

SCENARIO = """
[green_agent]
endpoint = "{green}"

[[participants]]
role = "agent"
endpoint = "{agent}"

[config]
suite = "maximum"
difficulty = 1
num_runs = 1
exchange = "calls"
"""

RULES = yaml.safe_load((KIT / "alerts.yml").read_text())["groups"][0]["rules"]
DASHBOARD = json.loads((KIT / "grafana/dashboards/concord.json").read_text())
QUERIES = {
    f"{panel['title']} {target['refId']}": target["expr"]
    for panel in DASHBOARD["panels"]
    for target in panel.get("targets", ())
}


@dataclass(frozen=True)
class Run:
    """A green agent that assessed a team: its URL, its log, and the scrapes of its metrics by Prometheus, if any."""

    url: str
    log: Path
    row: dict[str, Any]
    prometheus_url: str | None
    spans: list[Span]

    @property
    def events(self) -> list[dict[str, Any]]:
        """The lines of the log, without those of Redis and the supervisor."""
        lines = self.log.read_text().splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]

    def ask(self, path: str, **parameters: str) -> Any:  # noqa: ANN401 - JSON
        """The data of an answer of Prometheus's HTTP API."""
        assert self.prometheus_url is not None
        answer = _get(f"{self.prometheus_url}/api/v1/{path}?{urllib.parse.urlencode(parameters)}")
        return json.loads(answer)["data"]

    def values(self, query: str) -> list[float]:
        """The last values of a query's result within a minute: a single scrape may fail on a busy machine."""
        last = f"last_over_time(({query})[1m:])"
        return [float(each["value"][1]) for each in self.ask("query", query=last)["result"]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """One assessment of the sample team by `concord serve`, scraped every half second."""
    folder = tmp_path_factory.mktemp("observed")
    green_port, agent_port, prometheus_port = row_of_free_ports(3)
    url, agent_url = f"http://{LOOPBACK}:{green_port}", f"http://{LOOPBACK}:{agent_port}"
    agent = [sys.executable, "-m", "concord_suites.agent", "--host", LOOPBACK, "--port", str(agent_port)]
    # No job may reach its time limit on a busy machine: the span of a job that runs again has an error.
    options = {
        "CONCORD_EXPOSE": "metrics",
        "CONCORD_LOG_FORMAT": "json",
        "CONCORD_OUTPUT_DIR": str(folder / "output"),
        "CONCORD_JOB_TIMEOUT_FAST_S": "60",
    }
    spans: list[Span] = []
    arguments = ("green", "--port", str(green_port), "--card-url", f"{url}/")
    with (
        _receiver(spans) as receiver,
        _running([*agent, "--card-url", f"{agent_url}/"]),
        concord(folder, *arguments, **options, **traced_to(receiver)) as green,
        _prometheus(folder, url, prometheus_port) as prometheus_url,
    ):
        until(lambda: _answers(f"{url}/readyz") and _answers(f"{agent_url}/.well-known/agent-card.json"), 60)
        (folder / "scenario.toml").write_text(SCENARIO.format(green=f"{url}/", agent=f"{agent_url}/"))
        with concord(folder, "assess", "scenario.toml", "-o", "results.json") as client:
            assert client.finish() == 0, client.output
        [row] = json.loads((folder / "results.json").read_text())["results"]
        finished = Run(url, folder / f"stderr-{green.mark}", row, prometheus_url, spans)
        if prometheus_url is not None:
            counted = 'sum_over_time(concord_gateway_assessments_total{outcome="completed"}[5s])'
            until(lambda: any(value >= 2 for value in finished.values(counted)), 30)
        until(lambda: "assessment" in {each.name for each in spans}, 30)
        yield finished


def traced_to(receiver: str) -> dict[str, str]:
    return {"OTEL_EXPORTER_OTLP_ENDPOINT": receiver, "OTEL_BSP_SCHEDULE_DELAY": "200"}


@contextmanager
def _receiver(spans: list[Span]) -> Iterator[str]:
    """Receives OTLP over HTTP and adds the spans to a list; yields its URL."""

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.path == "/v1/traces"
            export = ExportTraceServiceRequest.FromString(self.rfile.read(int(self.headers["content-length"])))
            spans.extend(span for each in export.resource_spans for scope in each.scope_spans for span in scope.spans)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer((LOOPBACK, 0), Receiver) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://{LOOPBACK}:{server.server_port}"
        server.shutdown()


@contextmanager
def _prometheus(folder: Path, url: str, port: int) -> Iterator[str | None]:
    """Prometheus with the rules and jobs of the kit, and `url` as its only target; None where it is not installed."""
    if PROMETHEUS is None:
        yield None
        return
    configuration = yaml.safe_load((KIT / "prometheus.yml").read_text())
    configuration["global"] = {"scrape_interval": "500ms", "evaluation_interval": "1s", "scrape_timeout": "500ms"}
    configuration["rule_files"] = [str(KIT / "alerts.yml")]
    [job] = [each for each in configuration["scrape_configs"] if each["job_name"] == "concord-green"]
    job["static_configs"] = [{"targets": [url.removeprefix("http://")]}]
    configuration["scrape_configs"] = [job]
    (folder / "prometheus.yml").write_text(yaml.safe_dump(configuration))
    address = f"{LOOPBACK}:{port}"
    options = (f"--web.listen-address={address}", f"--storage.tsdb.path={folder / 'tsdb'}", "--log.level=error")
    with _running([PROMETHEUS, f"--config.file={folder / 'prometheus.yml'}", *options]):
        until(lambda: _answers(f"http://{address}/-/ready"), 30)
        yield f"http://{address}"


@contextmanager
def _running(command: list[str]) -> Iterator[None]:
    process = subprocess.Popen(command, cwd=ROOT, env=bare_environment(), stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        process.wait(30)


def _get(url: str) -> str:
    return httpx.get(url, timeout=60, trust_env=False).raise_for_status().text


def _answers(url: str) -> bool:
    try:
        _get(url)
    except httpx.HTTPError:
        return False
    return True


def selectors(query: str) -> list[str]:
    """The vector selectors of a PromQL expression."""
    return re.findall(r"\b(?:concord_\w+|process_\w+|up\b)(?:\{[^}]*\})?", query)


@needs_prometheus
@pytest.mark.parametrize("name", QUERIES)
def test_every_query_of_the_dashboard_has_a_result_after_a_run(run: Run, name: str) -> None:
    assert run.values(QUERIES[name].replace("$__rate_interval", "1m")) != []


@needs_prometheus
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_every_series_that_an_alert_reads_exists(run: Run, rule: dict[str, str]) -> None:
    found = selectors(rule["expr"])
    assert found
    assert {selector: bool(run.values(selector)) for selector in found} == dict.fromkeys(found, True)


@needs_prometheus
def test_prometheus_accepts_every_rule_and_none_fires_after_a_good_run(run: Run) -> None:
    [group] = run.ask("rules")["groups"]
    assert {rule["name"]: rule["health"] for rule in group["rules"]} == {rule["alert"]: "ok" for rule in RULES}
    assert [each for each in run.ask("alerts")["alerts"] if each["state"] == "firing"] == []


@needs_prometheus
def test_the_metrics_count_what_the_row_says(run: Run) -> None:
    scoring = run.row["detail"]["scoring"]
    judged = scoring["usable_trials"] - scoring["unjudged"]
    assert judged > 0
    assert run.values('concord_gateway_trials_total{outcome="judged"}') == [judged]
    assert run.values('concord_evaluator_jobs_total{function="evaluate_trial",outcome="completed"}') == [judged]
    assert run.values("concord_gateway_trace_batches_count") == [judged]
    assert sum(run.values("concord_gateway_carried_calls_total")) > 0


@needs_prometheus
def test_every_part_of_the_green_agent_is_up(run: Run) -> None:
    last = "last_over_time(concord_part_up[1m])"
    parts = {each["metric"]["part"]: each["value"][1] for each in run.ask("query", query=last)["result"]}
    assert parts == dict.fromkeys(("gateway", "evaluator-fast", "evaluator-llm"), "1")


@needs_prometheus
def test_the_exposition_follows_the_conventions(run: Run) -> None:
    assert PROMTOOL is not None
    checked = subprocess.run(
        [PROMTOOL, "check", "metrics"], input=_get(f"{run.url}/metrics"), capture_output=True, text=True, check=False
    )
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")


def test_no_label_has_a_value_that_a_participant_chose(run: Run) -> None:
    exposition = _get(f"{run.url}/metrics")
    ids = {run.row["detail"]["assessment_id"], *(agent["id"] for agent in run.row["detail"]["agents"])}
    assert [each for each in ids if f'"{each}"' in exposition] == []


def attribute(span: Span, name: str) -> str:
    return next((each.value.string_value for each in span.attributes if each.key == name), "")


def test_one_trace_reaches_from_the_request_to_the_row(run: Run) -> None:
    by_id = {span.span_id: span for span in run.spans}
    parents = {(span.name, by_id[span.parent_span_id].name) for span in run.spans if span.parent_span_id}
    assert len({span.trace_id for span in run.spans}) == 1
    assert [span.name for span in run.spans if not span.parent_span_id] == ["assessment"]
    assert parents == {
        ("plan", "assessment"),
        ("trial", "assessment"),
        ("call", "trial"),
        ("evaluation", "assessment"),
        ("job evaluate_trial", "evaluation"),
        ("aggregation", "assessment"),
        ("job aggregate_assessment", "aggregation"),
    }
    assert {span.status.code for span in run.spans} == {Status.STATUS_CODE_UNSET}


def test_spans_name_the_assessment_and_its_trials(run: Run) -> None:
    trials = {(trial["trial_id"], trial["trace_id"]) for trial in run.row["detail"]["trials"]}
    named = [span for span in run.spans if span.name == "trial"]
    assert {
        (attribute(each, "concord.trial_id"), attribute(each, "concord.participants_trace_id")) for each in named
    } == trials
    [root] = [span for span in run.spans if span.name == "assessment"]
    assert attribute(root, "concord.assessment_id") == run.row["detail"]["assessment_id"]


def test_concords_own_trace_is_not_a_participants_trace(run: Run) -> None:
    assert run.spans[0].trace_id.hex() not in {trial["trace_id"] for trial in run.row["detail"]["trials"]}


def test_the_log_lines_of_jobs_name_assessment_trial_and_trace(run: Run) -> None:
    ids = {trial["trial_id"]: trial["trace_id"] for trial in run.row["detail"]["trials"]}
    lines = [line for line in run.events if line["event"] in {"evaluated a trial", "judged a trial"}]
    assert len(lines) == 2 * len(ids)
    assert {(line["trial_id"], line["trace_id"]) for line in lines} == set(ids.items())
    assert {line["assessment_id"] for line in lines} == {run.row["detail"]["assessment_id"]}


def test_every_log_line_names_its_part(run: Run) -> None:
    parts = {line["service"] for line in run.events}
    assert {"gateway", "evaluator-fast"} == parts - {"collector", "concord", "evaluator-llm"}


def test_the_gateways_log_lines_about_an_assessment_name_it(run: Run) -> None:
    lines = [line for line in run.events if line["logger"] == "concord_gateway.handler"]
    assert len(lines) == 2
    assert {line["assessment_id"] for line in lines} == {run.row["detail"]["assessment_id"]}
