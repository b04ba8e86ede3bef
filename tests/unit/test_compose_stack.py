"""The Compose stack: limits, networks, secrets and images of its services."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
STACK = yaml.safe_load((ROOT / "docker-compose.yaml").read_text())
SERVICES: dict[str, dict[str, Any]] = STACK["services"]
SECRETS = {
    name: variable
    for path in (ROOT / "deploy/secrets").glob("*-given.yaml")
    for name, source in yaml.safe_load(path.read_text())["secrets"].items()
    for variable in source.values()
}


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_has_limits_of_memory_processors_and_processes(name: str) -> None:
    assert SERVICES[name]["deploy"]["resources"]["limits"].keys() == {"memory", "cpus", "pids"}


@pytest.mark.parametrize("name", SERVICES)
def test_no_secret_is_in_the_environment_of_a_container(name: str) -> None:
    assert set(SECRETS.values()).isdisjoint(SERVICES[name].get("environment", {}))


def test_every_secret_has_the_name_of_its_variable_and_an_empty_file_without_it() -> None:
    assert {name: name.upper() for name in SECRETS} == SECRETS
    for path in (ROOT / "deploy/secrets").glob("*-given.yaml"):
        alternative = path.with_name(path.name.replace("-given", ""))
        [name] = yaml.safe_load(path.read_text())["secrets"]
        assert yaml.safe_load(alternative.read_text()) == {"secrets": {name: {"file": "none"}}}
        assert f"deploy/secrets/{alternative.stem}${{{name.upper()}:+-given}}.yaml" in STACK["include"]
    assert (ROOT / "deploy/secrets/none").read_bytes() == b""


def test_only_concords_own_services_and_prometheus_reach_redis() -> None:
    near = {name for name, service in SERVICES.items() if "storage" in service.get("networks", ())}
    assert near == {"redis", "collector", "evaluator", "evaluator-llm", "gateway", "prometheus"}
    assert STACK["networks"]["storage"] == {"internal": True}


@pytest.mark.parametrize("name", SERVICES)
def test_published_ports_are_on_the_loopback_interface(name: str) -> None:
    assert all(port.startswith("127.0.0.1:") for port in SERVICES[name].get("ports", ()))


def test_images_of_others_are_pinned_to_a_version() -> None:
    images = {service["image"] for service in SERVICES.values() if "build" not in service}
    assert len(images) == 3
    assert all(re.search(r":v?\d[\w.-]*$", image) for image in images)


def test_prometheus_scrapes_the_ports_at_which_services_serve_their_metrics() -> None:
    jobs = yaml.safe_load((ROOT / "deploy/observability/prometheus.yml").read_text())["scrape_configs"]
    scraped = {
        name: target["port"] for job in jobs for target in job.get("dns_sd_configs", ()) for name in target["names"]
    }
    assert scraped == {"gateway": 9009, "collector": 9009, "evaluator": 9464, "evaluator-llm": 9464}
    for name, port in scraped.items():
        if "command" in SERVICES[name]:
            assert f"--port {port}" in " ".join(SERVICES[name]["command"])
