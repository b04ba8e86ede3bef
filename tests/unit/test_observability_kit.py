"""The kit for Prometheus and Grafana: its alerts are tested and documented, and its panels do not overlap."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.unit.test_documents import anchors

ROOT = Path(__file__).parents[2]
KIT = ROOT / "deploy/observability"
PROMTOOL = shutil.which("promtool")

needs_prometheus = pytest.mark.skipif(
    PROMTOOL is None and "REQUIRE_PROMETHEUS" not in os.environ, reason="needs promtool (Debian's package prometheus)"
)

RULES = yaml.safe_load((KIT / "alerts.yml").read_text())["groups"][0]["rules"]
TESTS = yaml.safe_load((KIT / "alerts.test.yml").read_text())["tests"]
DASHBOARD = json.loads((KIT / "grafana/dashboards/concord.json").read_text())


@pytest.mark.programs
@needs_prometheus
def test_promtool_accepts_the_configuration_and_every_test_of_an_alert() -> None:
    assert PROMTOOL is not None
    for arguments in (("check", "config", "prometheus.yml"), ("test", "rules", "alerts.test.yml")):
        checked = subprocess.run([PROMTOOL, *arguments], cwd=KIT, capture_output=True, text=True, check=False)
        assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize("alert", [rule["alert"] for rule in RULES])
def test_every_alert_is_tested_in_health_and_in_its_failure(alert: str) -> None:
    expected = [each["exp_alerts"] for test in TESTS for each in test["alert_rule_test"] if each["alertname"] == alert]
    assert [bool(each) for each in expected] == [False, True]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_the_runbook_of_every_alert_is_a_section_of_the_documentation(rule: dict[str, Any]) -> None:
    document, _, anchor = rule["annotations"]["runbook_url"].partition("/blob/main/")[2].partition("#")
    assert anchor in anchors(ROOT / document)


def test_the_panels_of_the_dashboard_do_not_overlap() -> None:
    cells = [
        (x, y)
        for place in (panel["gridPos"] for panel in DASHBOARD["panels"])
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(cells) == len(set(cells))
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
