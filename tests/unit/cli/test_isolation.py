"""Seats in containers: what a scenario may ask for, what each container is started with, and what it can reach."""

import json
import ssl
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord.assessment.plan import StartedContainers
from concord.assessment.results import SeatContainers
from concord_cli.assessing import local_scenario, up
from concord_cli.errors import UsageError
from concord_cli.isolation.exits import is_for_seats
from concord_cli.isolation.model_endpoints import ModelEndpoint, NoServerNameError, server_name
from concord_cli.isolation.seats import Isolation
from concord_cli.scenario.scenario_file import ScenarioFile, read_scenario, with_sample_agent
from concord_cli.stack.containers import ImageIdentity, check_engine, identity_of
from concord_cli.stack.plan import Listening, Ports, StackPlan, plan_stack
from concord_cli.terminal import ProgressLog

IMAGE_ID = "sha256:" + "1" * 64
TEAM: list[dict[str, object]] = [{"name": "ann", "image": "agent:1"}, {"name": "bob", "image": "agent:1"}]


def scenario(participants: list[dict[str, object]], **document: object) -> ScenarioFile:
    team = {"isolation": "container", **dict(document.pop("team", {}))}  # type: ignore[call-overload]
    return ScenarioFile.model_validate({"team": team, "participants": participants, **document})


def planned(*endpoints: str, env: dict[str, str] | None = None) -> StackPlan:
    containers = SeatContainers(image="agent:1", image_id=IMAGE_ID, image_digest=None, model_endpoints=endpoints)
    ports = Ports(7000, Listening("127.0.0.1", 7002, 7001), {"ann": 7003, "bob": 7004})
    return plan_stack(
        scenario([{**each, "env": env or {}} for each in TEAM]),
        ports,
        "redis://",
        Path("out"),
        environment={"SECRET": "s3cret"},
        run_id="r1",
        isolation=Isolation(containers, Path("/run/x")),
    )


def commands(plan: StackPlan) -> dict[str, tuple[str, ...]]:
    programs = [*plan.relays, *(each for group in plan.groups for each in group)]
    return {each.name: each.command for each in programs}


def options(command: tuple[str, ...], name: str) -> list[str]:
    """The values of an option, in both ways to write them."""
    return [
        command[i + 1] if word == name else word.partition("=")[2]
        for i, word in enumerate(command)
        if word == name or word.startswith(f"{name}=")
    ]


def test_a_seat_shares_the_network_of_its_relay_alone_and_has_no_volume() -> None:
    plan = commands(planned())
    for number, role in enumerate(("ann", "bob"), start=1):
        assert options(plan[role], "--network") == [f"container:concord-r1-{number}"]
        assert options(plan[f"{role}-relay"], "--name") == [f"concord-r1-{number}"]
        assert options(plan[role], "--name") == [f"concord-r1-{number}-seat"]
        assert options(plan[f"{role}-relay"], "--network") == ["none"]
        assert not {"--volume", "-v", "--mount", "--volumes-from", "--privileged", "--cap-add", "--device"} & {
            *plan[role]
        }
        mounted = f"type=bind,source=/run/x/{number},target=/run/concord"
        assert options(plan[f"{role}-relay"], "--mount") == [mounted], "the sockets of one seat"


def test_a_seat_is_bounded_and_runs_the_image_that_was_inspected_as_the_platform_starts_it() -> None:
    command = commands(planned(env={"KEY": "${SECRET}"}))["ann"]
    for name in ("--memory", "--memory-swap", "--pids-limit", "--cpus"):
        assert len(options(command, name)) == 1, name
    assert options(command, "--cap-drop") == ["ALL"]
    assert "--read-only" in command
    assert command[command.index(IMAGE_ID) :] == (
        *(IMAGE_ID, "--host", "127.0.0.1", "--port", "7003"),
        *("--card-url", "http://127.0.0.1:7003/"),
    )
    *cleared, last = options(command, "--env")
    assert last == "KEY"
    assert {"HTTP_PROXY=", "https_proxy="} <= {*cleared}, "those of docker's own configuration lead nowhere"
    assert "s3cret" not in " ".join(command)


def test_a_relay_leads_to_the_services_and_the_named_endpoints_and_nowhere_else() -> None:
    plan = planned(
        "https://api.example.com", "http://api.example.com:8000", "https://b.example", "http://127.0.0.1:11434"
    )
    relay = commands(plan)["ann-relay"]
    text = relay.index("-I") + 2
    assert relay[text + 1 :] == (
        *("7003", "127.0.0.1:7002=gateway", "127.0.0.1:7001=collector"),
        *("127.0.1.1:443=endpoint-1", "127.0.1.1:8000=endpoint-2", "127.0.1.2:443=endpoint-3"),
        "127.0.0.1:11434=endpoint-4",
    )
    assert options(relay, "--add-host") == ["api.example.com:127.0.1.1", "b.example:127.0.1.2"]


def test_the_gateway_is_told_of_the_containers_in_its_environment() -> None:
    plan = planned("https://api.example.com")
    [services] = [each for group in plan.groups for each in group if each.name == "concord"]
    started = StartedContainers.model_validate_json(services.env["CONCORD_STARTED_CONTAINERS"])
    assert started.urls == {"http://127.0.0.1:7003/", "http://127.0.0.1:7004/"}
    assert (started.containers.image_id, started.containers.model_endpoints) == (IMAGE_ID, ("https://api.example.com",))


@pytest.mark.parametrize(
    ("participants", "reason"),
    [
        ([], "needs participants"),
        ([{"name": "ann", "image": "a", "cmd": "agent"}], "give ann an `image`, and nothing else"),
        ([{"name": "ann", "image": "a", "function": "reviewer"}], "give ann an `image`, and nothing else"),
        ([{"name": "ann", "endpoint": "http://127.0.0.1:1/"}], "give ann an `image`, and nothing else"),
        ([{"name": "ann", "image": "a"}, {"name": "bob", "image": "b"}], "one image for all seats, not 2"),
    ],
)
def test_only_seats_of_one_image_can_be_isolated(participants: list[dict[str, object]], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        scenario(participants)


def test_a_lone_image_becomes_a_container_for_each_seat() -> None:
    [lone] = TEAM[:1]
    five = scenario([lone], config={"suite": "quick"}).with_seats()
    assert [each.role for each in five.participants] == [f"ann_{number}" for number in range(1, 6)]
    assert {each.image for each in five.participants} == {"agent:1"}
    two = scenario([lone], config={"suite": "quick", "seats": 2}).with_seats()
    assert [each.role for each in two.participants] == ["ann_1", "ann_2"]
    assert two.config == {"suite": "quick"}


@pytest.mark.parametrize(
    ("participants", "seats"), [(TEAM, 2), (TEAM, {"ann": 2}), (TEAM[:1], {"ann": 2}), (TEAM[:1], 1)]
)
def test_no_container_takes_two_seats_and_no_seat_is_alone(
    participants: list[dict[str, object]], seats: object
) -> None:
    with pytest.raises(ValueError, match="seat"):
        scenario(participants, config={"seats": seats}).with_seats()


def test_the_sample_agent_plays_from_its_image_where_seats_are_isolated() -> None:
    sample = with_sample_agent(Path("s.toml"), scenario(TEAM[:1], config={"suite": "quick"})).with_seats()
    assert {(each.image, each.cmd) for each in sample.participants} == {("concord-sample", None)}
    assert len(sample.participants) == 5


def test_model_endpoints_are_for_containers_only(tmp_path: Path) -> None:
    path = tmp_path / "scenario.toml"
    path.write_text('team = { model_endpoints = ["https://api.example.com"] }\n')
    with pytest.raises(
        UsageError, match='team: `model_endpoints` is for seats in containers: add `isolation = "container"`'
    ):
        read_scenario(path)


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("https://api.example.com/v1", "without a path"),
        ("https://user@api.example.com", "is not the URL of a server"),
        ("api.example.com", "is not the URL of a server"),
        ("ftp://api.example.com", "is not the URL of a server"),
        ("http://10.0.0.5:8000", "name the server by a host name"),
        ("http://[::1]:8000", "name the server by a host name"),
        ("https://*.example.com", "is not the URL of a server"),
        ("https://a.example:2=gateway", "is not the URL of a server"),
    ],
)
def test_a_model_endpoint_is_a_server_with_a_name(url: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        ModelEndpoint.parse(url)


@pytest.mark.parametrize("url", ["https://api.example.com", "http://model:8000", "http://127.0.0.1:11434"])
def test_a_model_endpoint_is_stated_as_it_was_named(url: str) -> None:
    assert ModelEndpoint.parse(url).url == url


@given(
    st.sampled_from(["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"]),
    st.text(alphabet="/a2.-%eprstck?", max_size=20),
)
def test_only_the_proxy_peers_and_reports_are_for_seats(method: str, rest: str) -> None:
    path = f"/{rest}".partition("?")[0]
    expected = path.startswith("/a2a/") or (method, path) in {("GET", "/peers"), ("POST", "/traces")}
    assert is_for_seats(method, f"/{rest}") is expected


@pytest.mark.parametrize(
    "path", ["/", "/register", "/tasks", "/metrics", "/readyz", "/message:send", "/v1/traces/..", "//a2a/x"]
)
def test_what_would_let_a_seat_leave_something_for_another_is_not_for_seats(path: str) -> None:
    assert not any(is_for_seats(method, path) for method in ("GET", "POST"))


def hello(name: str | None) -> bytes:
    """The first bytes of a TLS client."""
    context = ssl.create_default_context()
    context.check_hostname = name is not None
    outgoing = ssl.MemoryBIO()
    with pytest.raises(ssl.SSLWantReadError):
        context.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname=name).do_handshake()
    return outgoing.read()


@given(st.integers(1, 100))
def test_a_tls_connection_is_known_by_the_server_that_it_names_once_enough_has_arrived(cut: int) -> None:
    whole = hello("api.example.com")
    assert server_name(whole) == "api.example.com"
    assert server_name(whole[: -len(whole) * cut // 101]) is None


@pytest.mark.parametrize("first", [hello(None), b"GET / HTTP/1.1\r\n\r\n", b"SSH-2.0-x\r\n"])
def test_a_connection_that_names_no_server_is_recognised(first: bytes) -> None:
    with pytest.raises(NoServerNameError):
        server_name(first)


async def test_without_docker_isolation_is_refused_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UsageError, match="isolation needs docker, which is not installed: install Docker Engine"):
        await check_engine()


@pytest.mark.parametrize(
    ("info", "reason"),
    [
        ("echo 'Docker Desktop [name=seccomp,profile=builtin]'", "Docker Desktop runs containers in another one"),
        ("echo 'Debian 13 [name=cgroupns]'", "needs docker with seccomp"),
        ("echo 'Debian 13 [name=seccomp,profile=unconfined]'", "needs docker with seccomp"),
        ("echo 'Cannot connect to the Docker daemon' >&2; exit 1", "docker does not answer: Cannot connect"),
    ],
)
async def test_an_engine_that_cannot_isolate_is_refused_with_the_reason(
    info: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docker = tmp_path / "docker"
    docker.write_text(f"#!/bin/sh\n{info}\n")
    docker.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(UsageError, match=reason):
        await check_engine()


@pytest.mark.parametrize(
    ("image", "digests", "expected"),
    [
        ("ghcr.io/you/agent:1", ["ghcr.io/me/agent@sha256:b", "ghcr.io/you/agent@sha256:c"], "sha256:c"),
        ("localhost:5000/agent", ["localhost:5000/agent@sha256:d"], "sha256:d"),
        ("agent@sha256:e", ["agent@sha256:e"], "sha256:e"),
        ("renamed:1", ["ghcr.io/me/agent@sha256:b"], "sha256:b"),
        ("local:1", [], None),
        ("local:1", None, None),
    ],
)
async def test_an_image_is_known_by_its_id_and_by_the_digest_in_its_registry(
    image: str, digests: list[str] | None, expected: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docker = tmp_path / "docker"
    docker.write_text(f"#!/bin/sh\ncat <<'END'\n{json.dumps({'Id': IMAGE_ID, 'RepoDigests': digests})}\nEND\n")
    docker.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert await identity_of(image) == ImageIdentity(IMAGE_ID, expected)


def test_the_seats_of_a_lone_image_are_the_participants_that_a_config_may_name(tmp_path: Path) -> None:
    path = tmp_path / "scenario.toml"
    text = (
        '[team]\nisolation = "container"\n[[participants]]\nname = "agent"\nimage = "agent:1"\n'
        '[config]\ntask = "Count."\nseats = 3\nstart = "{}"\n'
    )
    path.write_text(text.format("agent_3"))
    assert [each.role for each in local_scenario(path).participants] == ["agent_1", "agent_2", "agent_3"]
    path.write_text(text.format("agent_3").replace("seats = 3", "seats = 1"))
    with pytest.raises(UsageError, match=f"{path}: isolation needs at least two seats"):
        local_scenario(path)


async def test_a_running_gateway_has_no_isolated_seats(tmp_path: Path) -> None:
    path = tmp_path / "scenario.toml"
    path.write_text('[team]\nisolation = "container"\n[[participants]]\nname = "agent"\nimage = "agent:1"\n')
    with pytest.raises(UsageError, match="isolation is for `concord run`"):
        await up(path, Listening("127.0.0.1", 1, 2), 3, tmp_path, ProgressLog())


def test_a_folder_whose_sockets_would_have_too_long_names_is_refused() -> None:
    isolation = Isolation(
        SeatContainers(image="agent:1", image_id=IMAGE_ID, image_digest=None, model_endpoints=()), Path("/x" * 50)
    )
    with pytest.raises(UsageError, match="a TMPDIR with a shorter name"):
        isolation.seats({"ann": 7003}, {}, "r1")
