"""The files of `deploy/kubernetes`: valid by Kubernetes's schemas, complete, and true to the services' settings."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate  # type: ignore[import-untyped]
import pytest
import yaml
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from concord.assessment.jobs import Queue
from concord.llm import LLMSettings
from concord_collector.metrics import Metrics, QueueState, StorageState
from concord_collector.settings import CollectorSettings
from concord_evaluator.settings import EvaluatorSettings
from concord_gateway.settings import GatewaySettings

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "deploy" / "kubernetes"
OVERLAYS = ("small", "production")
OLDEST, NEWEST = "1.30", "1.34"
"""The versions of Kubernetes by whose schemas the files are checked, and what is built from them."""

Document = dict[str, Any]

KUSTOMIZATIONS = sorted(FOLDER.rglob("kustomization.yaml"))
RESOURCES = sorted(
    path for path in FOLDER.rglob("*.yaml") if path.name not in {"kustomization.yaml", "public-urls.yaml"}
)


def documents(path: Path) -> list[Document]:
    return [each for each in yaml.safe_load_all(path.read_text(encoding="utf-8")) if each]


def kustomization(path: Path) -> Document:
    (document,) = documents(path)
    return document


def built_by() -> list[str] | None:
    """The command that builds a folder: kustomize, or kubectl, which contains it."""
    if shutil.which("kustomize"):
        return ["kustomize", "build"]
    return ["kubectl", "kustomize"] if shutil.which("kubectl") else None


@pytest.fixture(scope="module", params=OVERLAYS)
def overlay(request: pytest.FixtureRequest) -> list[Document]:
    """All documents of an overlay: as kustomize builds them, if it is installed, else as the files have them."""
    command = built_by()
    folder = FOLDER / "overlays" / request.param
    if command is None:
        return [each for path in files_of(folder) for each in documents(path)]
    built = subprocess.run([*command, str(folder)], capture_output=True, text=True, check=True)
    return [each for each in yaml.safe_load_all(built.stdout) if each]


def files_of(folder: Path) -> Iterator[Path]:
    """The files of a folder and of all folders that it names."""
    parsed = kustomization(folder / "kustomization.yaml")
    for name in [*parsed.get("resources", []), *parsed.get("components", [])]:
        path = (folder / name).resolve()
        if path.is_dir():
            yield from files_of(path)
        else:
            yield path


def pods(overlay: list[Document]) -> list[Document]:
    """Deployments and StatefulSets."""
    return [each for each in overlay if each["kind"] in {"Deployment", "StatefulSet"}]


def containers(overlay: list[Document]) -> list[tuple[str, Document]]:
    """Each container with its pod's name."""
    return [
        (pod["metadata"]["name"], container)
        for pod in pods(overlay)
        for container in pod["spec"]["template"]["spec"]["containers"]
    ]


def labels_of(pod: Document) -> dict[str, str]:
    labels: dict[str, str] = pod["spec"]["template"]["metadata"]["labels"]
    return labels


def selected(overlay: list[Document], selector: Document) -> list[str]:
    """The names of the pods that a selector by labels selects."""
    wanted = selector.get("matchLabels", {}).items()
    return [pod["metadata"]["name"] for pod in pods(overlay) if wanted <= labels_of(pod).items()]


@pytest.mark.parametrize("path", KUSTOMIZATIONS, ids=lambda path: path.parent.name)
def test_a_kustomization_names_only_files_that_exist_and_every_file_is_named(path: Path) -> None:
    parsed = kustomization(path)
    named = [*parsed.get("resources", []), *parsed.get("components", [])]
    named += [patch["path"] for patch in parsed.get("patches", [])]
    assert [name for name in named if not (path.parent / name).exists()] == []
    own = {each.name for each in path.parent.glob("*.yaml")} - {"kustomization.yaml"}
    assert own <= set(named)


@pytest.mark.parametrize("path", KUSTOMIZATIONS, ids=lambda path: path.parent.name)
def test_every_patch_has_a_target_in_the_base(path: Path) -> None:
    base = {(each["kind"], each["metadata"]["name"]) for file in files_of(FOLDER / "base") for each in documents(file)}
    for patch in kustomization(path).get("patches", []):
        for document in documents(path.parent / patch["path"]):
            assert (document["kind"], document["metadata"]["name"]) in base


@pytest.mark.parametrize("path", RESOURCES, ids=lambda path: str(path.relative_to(FOLDER)))
def test_a_file_is_valid_by_the_schemas_of_kubernetes(path: Path) -> None:
    for document in documents(path):
        if document["kind"] != "ScaledObject":
            kubernetes_validate.validate(document, OLDEST, strict=True)


def test_a_built_overlay_is_valid_by_the_schemas_of_kubernetes(overlay: list[Document]) -> None:
    for document in overlay:
        if document["kind"] != "ScaledObject":
            kubernetes_validate.validate(document, NEWEST, strict=True)


# KEDA's own schema is not in a Python package. These are the fields that the files use, with the types that it has.
SCALED_OBJECT = {
    "type": "object",
    "additionalProperties": False,
    "required": ["scaleTargetRef", "triggers"],
    "properties": {
        "scaleTargetRef": {
            "type": "object",
            "additionalProperties": False,
            "required": ["name"],
            "properties": {name: {"type": "string"} for name in ("apiVersion", "kind", "name")},
        },
        "fallback": {
            "type": "object",
            "additionalProperties": False,
            "required": ["failureThreshold", "replicas"],
            "properties": {name: {"type": "integer"} for name in ("failureThreshold", "replicas")},
        },
        "triggers": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["type", "metadata"],
                "properties": {
                    "type": {"const": "metrics-api"},
                    "metadata": {
                        "type": "object",
                        "additionalProperties": {"type": "string"},
                        "required": ["url", "format", "valueLocation", "targetValue"],
                    },
                },
            },
        },
    }
    | {
        name: {"type": "integer", "minimum": 1}
        for name in ("minReplicaCount", "maxReplicaCount", "pollingInterval", "cooldownPeriod")
    },
}


def scaled_objects() -> list[Document]:
    return documents(FOLDER / "components" / "autoscaling" / "evaluators.yaml")


def test_scaled_objects_have_the_fields_of_keda() -> None:
    for each in scaled_objects():
        assert each["apiVersion"] == "keda.sh/v1alpha1"
        jsonschema.validate(each["spec"], SCALED_OBJECT)


def test_the_workers_of_each_queue_scale_by_the_depth_that_the_collector_exports() -> None:
    metrics = Metrics()
    queues = dict.fromkeys(Queue, QueueState(depth=3, oldest_s=1.0, has_worker=True))
    metrics.storage.state = StorageState(memory_used=1, memory_limit=None, queues=queues, dead_letters=0, errors={})
    exported = {
        f"{sample.name}{{{name}={value!r}}}".replace("'", '"')
        for family in text_string_to_metric_families(generate_latest(metrics.registry).decode())
        for sample in family.samples
        for name, value in sample.labels.items()
    }
    read = {
        each["spec"]["scaleTargetRef"]["name"]: each["spec"]["triggers"][0]["metadata"]["valueLocation"]
        for each in scaled_objects()
    }
    assert read.keys() == {f"evaluator-{queue}" for queue in Queue}
    assert set(read.values()) <= exported
    assert all(f'"{name.removeprefix("evaluator-")}"' in location for name, location in read.items())


def test_every_scaled_object_exists_and_has_no_fixed_number_of_pods(overlay: list[Document]) -> None:
    scalers = [each for each in overlay if each["kind"] in {"HorizontalPodAutoscaler", "ScaledObject"}]
    targets = {(each["spec"]["scaleTargetRef"]["kind"], each["spec"]["scaleTargetRef"]["name"]) for each in scalers}
    existing = {(pod["kind"], pod["metadata"]["name"]): pod for pod in pods(overlay)}
    assert targets <= existing.keys()
    assert [name for name in targets if "replicas" in existing[name]["spec"]] == []


def test_each_gateway_that_the_autoscaler_may_start_has_a_public_host() -> None:
    (scaler,) = documents(FOLDER / "components" / "autoscaling" / "gateway.yaml")
    hosts = documents(FOLDER / "components" / "outside-participants" / "gateway-hosts.yaml")
    names = [f"gateway-{number}" for number in range(scaler["spec"]["maxReplicas"])]
    assert [each["metadata"]["name"] for each in hosts if each["kind"] == "Service"] == names
    (ingress,) = (each for each in hosts if each["kind"] == "Ingress")
    routed = {rule["host"] for rule in ingress["spec"]["rules"]}
    assert {f"{name}.concord.example.org" for name in names} <= routed
    assert routed == set(ingress["spec"]["tls"][0]["hosts"])


def test_no_pod_runs_as_root_writes_its_root_or_has_a_token(overlay: list[Document]) -> None:
    for pod in pods(overlay):
        spec = pod["spec"]["template"]["spec"]
        assert spec["automountServiceAccountToken"] is False
        assert spec["securityContext"]["runAsNonRoot"] is True
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    for _, container in containers(overlay):
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }


def test_every_container_has_probes_and_resources(overlay: list[Document]) -> None:
    for _, container in containers(overlay):
        assert {"startupProbe", "livenessProbe", "readinessProbe"} <= container.keys()
        for kind in ("requests", "limits"):
            assert {"cpu", "memory"} <= container["resources"][kind].keys()


def test_every_service_may_lose_one_pod_at_a_time(overlay: list[Document]) -> None:
    budgets = [each for each in overlay if each["kind"] == "PodDisruptionBudget"]
    assert all(each["spec"]["maxUnavailable"] == 1 for each in budgets)
    covered = [name for each in budgets for name in selected(overlay, each["spec"]["selector"])]
    assert sorted(covered) == ["collector", "evaluator-fast", "evaluator-llm", "gateway"]


def test_nothing_is_allowed_in_the_network_by_default(overlay: list[Document]) -> None:
    policies = {each["metadata"]["name"]: each["spec"] for each in overlay if each["kind"] == "NetworkPolicy"}
    assert policies["default-deny"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    for name, spec in policies.items():
        assert spec["podSelector"] == {} or selected(overlay, spec["podSelector"]), name
    open_to_all = [name for name, spec in policies.items() for rule in spec.get("ingress", []) if "from" not in rule]
    assert open_to_all == []


def test_redis_is_reached_by_the_pods_that_have_its_address_and_by_no_other(overlay: list[Document]) -> None:
    with_address = {
        name for name, container in containers(overlay) for each in container["env"] if each["name"] == "REDIS_URL"
    }
    assert set(selected(overlay, {"matchLabels": {"concord/redis": "true"}})) == with_address
    assert "redis" not in with_address


def test_services_and_headless_services_lead_to_pods(overlay: list[Document]) -> None:
    names = {each["metadata"]["name"] for each in overlay if each["kind"] == "Service"}
    for each in overlay:
        if each["kind"] == "Service" and "statefulset.kubernetes.io/pod-name" not in each["spec"]["selector"]:
            assert selected(overlay, {"matchLabels": each["spec"]["selector"]}), each["metadata"]["name"]
        if each["kind"] == "StatefulSet":
            assert each["spec"]["serviceName"] in names


SETTINGS = {
    "collector": (CollectorSettings,),
    "evaluator-fast": (EvaluatorSettings, LLMSettings),
    "evaluator-llm": (EvaluatorSettings, LLMSettings),
    "gateway": (GatewaySettings, LLMSettings),
}


def setting_names(service: str) -> set[str]:
    """The environment variables that a service reads."""
    return {
        str(field.validation_alias or f"{kind.model_config.get('env_prefix', '')}{name}").upper()
        for kind in SETTINGS[service]
        for name, field in kind.model_fields.items()
    }


def test_every_variable_of_a_container_is_a_setting_of_its_service(overlay: list[Document]) -> None:
    for name, container in containers(overlay):
        if name in SETTINGS:
            given = {each["name"] for each in container["env"]}
            inserted = {each for each in given if f"$({each})" in str(container)}
            assert given - inserted <= setting_names(name), name


def test_every_line_of_the_configuration_is_a_setting_of_some_service() -> None:
    known = set().union(*map(setting_names, SETTINGS))
    for path in KUSTOMIZATIONS:
        for generator in kustomization(path).get("configMapGenerator", []):
            assert {line.partition("=")[0] for line in generator["literals"]} <= known


def test_a_variable_is_defined_before_another_one_inserts_it(overlay: list[Document]) -> None:
    for _, container in containers(overlay):
        defined: list[str] = []
        for each in container["env"]:
            inserted = [part.partition(")")[0] for part in each.get("value", "").split("$(")[1:]]
            assert set(inserted) <= set(defined), each["name"]
            defined.append(each["name"])


def test_a_workers_processes_fit_into_its_memory_limit(overlay: list[Document]) -> None:
    for name, container in containers(overlay):
        if name.startswith("evaluator"):
            values = {each["name"]: each.get("value") for each in container["env"]}
            limit = int(container["resources"]["limits"]["memory"].removesuffix("Gi")) * 1024**3
            processes = int(values["CONCORD_POOL_PROCESSES"])
            assert processes * int(values["CONCORD_POOL_MEMORY_BYTES"]) < limit
            assert processes == max(2, int(container["resources"]["limits"]["cpu"])), "one trial may use half of them"


def test_every_secret_that_a_pod_needs_is_documented(overlay: list[Document]) -> None:
    text = (ROOT / "docs" / "kubernetes.md").read_text(encoding="utf-8")
    for _, container in containers(overlay):
        for each in container["env"]:
            if (secret := each.get("valueFrom", {}).get("secretKeyRef")) is not None:
                assert secret["name"] in text
                assert secret["key"] in text
