"""The programs of a scenario: arguments, environment and ports."""

import sys
from itertools import pairwise
from pathlib import Path

import pytest

from concord_cli.errors import UsageError
from concord_cli.scenario.scenario_file import ScenarioFile
from concord_cli.stack.local import fixed_stack_ports
from concord_cli.stack.plan import Listening, Ports, StackPlan, plan_stack
from concord_cli.stack.probes import HttpProbe
from concord_cli.stack.supervisor import Program

REDIS_URL = "redis://:secret@127.0.0.1:7000/0"

MIXED = ScenarioFile.model_validate(
    {
        "team": {"wiring": "chain"},
        "participants": [
            {"role": "guest", "endpoint": "http://guest:9009"},
            {"name": "reviewer", "function": "reviewer"},
        ],
    }
)


def planned(*, separate: bool = False) -> StackPlan:
    ports = Ports(7000, Listening("127.0.0.1", 7002, 7001), {"reviewer": 7003})
    return plan_stack(MIXED, ports, REDIS_URL, Path("out"), separate=separate)


def names(plan: StackPlan) -> list[list[str]]:
    return [[each.name for each in group] for group in plan.groups]


def program(name: str, *, separate: bool = False) -> Program:
    plan = planned(separate=separate)
    return next(each for group in plan.groups for each in group if each.name == name)


def argument(name: str, option: str, *, separate: bool = False) -> str:
    return next(value for key, value in pairwise(program(name, separate=separate).command) if key == option)


def test_the_services_are_one_program_beside_the_team() -> None:
    assert names(planned()) == [["reviewer", "concord"]]


def test_separate_services_come_first_and_the_gateway_last() -> None:
    assert names(planned(separate=True)) == [["collector", "evaluator-fast", "evaluator-llm"], ["reviewer", "gateway"]]


def test_every_program_runs_as_a_module_of_the_current_python() -> None:
    for plan in (planned(), planned(separate=True)):
        for group in plan.groups:
            for each in group:
                assert each.command[:2] == (sys.executable, "-m")


def test_the_gateways_card_carries_the_url_that_clients_use() -> None:
    assert planned().gateway_url == "http://127.0.0.1:7002/"
    assert argument("concord", "--card-url") == planned().gateway_url
    assert argument("gateway", "--card-url", separate=True) == planned().gateway_url


def test_the_services_environment_has_the_collectors_url_and_the_output_folder() -> None:
    assert program("concord").env == program("gateway", separate=True).env
    assert program("concord").env == {
        "REDIS_URL": REDIS_URL,
        "CONCORD_COLLECTOR_URL": "http://127.0.0.1:7001/",
        "CONCORD_OUTPUT_DIR": "out",
    }


def test_an_agents_arguments_have_its_id_function_and_team_and_no_redis_url() -> None:
    assert argument("reviewer", "--agent-id") == "reviewer"
    assert argument("reviewer", "--function") == "reviewer"
    assert argument("reviewer", "--team") == "chain"
    assert program("reviewer").env == {}


def test_only_the_services_get_the_secret_of_the_tasks() -> None:
    scenario = ScenarioFile.model_validate(
        {"participants": [{"name": "spy", "cmd": "python -m spy", "env": {"GIVEN": "${CONCORD_TASK_SECRET:-nothing}"}}]}
    )
    ports = Ports(7000, Listening("127.0.0.1", 7002, 7001), {"spy": 7003})
    seen = {"CONCORD_TASK_SECRET": "of the operator", "CONCORD_PUBLISHED": "tasks.json"}
    seen["CONCORD_PARTICIPANT_CREDENTIALS"] = "{}"
    plan = plan_stack(scenario, ports, REDIS_URL, Path("out"), environment=seen, task_secret="of the check")
    [[spy, services]] = plan.groups
    assert services.env["CONCORD_TASK_SECRET"] == "of the check"
    assert spy.env == {"GIVEN": "nothing"}
    assert spy.hidden == seen.keys()


def test_services_are_probed_at_readyz_and_agents_at_their_cards() -> None:
    assert program("concord").probe == HttpProbe("http://127.0.0.1:7002/readyz")
    assert program("collector", separate=True).probe == HttpProbe("http://127.0.0.1:7001/readyz")
    assert program("reviewer").probe == HttpProbe("http://127.0.0.1:7003/.well-known/agent-card.json")
    assert program("evaluator-fast", separate=True).probe is None


def test_no_command_line_contains_the_redis_password() -> None:
    for plan in (planned(), planned(separate=True)):
        assert not any("secret" in word for group in plan.groups for each in group for word in each.command)


def test_started_and_external_participants_keep_their_order() -> None:
    assert list(planned().agent_urls.items()) == [
        ("guest", "http://guest:9009/"),
        ("reviewer", "http://127.0.0.1:7003/"),
    ]


def test_services_on_every_interface_are_probed_here_and_reached_by_the_cards_host() -> None:
    listening = Listening("0.0.0.0", 7002, 7001, "http://box:80/")  # noqa: S104
    plan = plan_stack(MIXED, Ports(7000, listening, {"reviewer": 7003}), REDIS_URL, Path("out"), "10.0.0.0/8")
    [[_, services]] = plan.groups
    assert services.probe == HttpProbe("http://127.0.0.1:7002/readyz")
    assert (plan.gateway_url, plan.collector_url) == ("http://box:80/", "http://box:7001/")
    assert services.env["CONCORD_COLLECTOR_URL"] == "http://box:7001/"
    # The gateway otherwise refuses agents on the loopback interface if other machines reach it.
    assert services.env["CONCORD_ALLOWED_HOSTS"] == "10.0.0.0/8,127.0.0.1:7003"


def test_services_on_every_interface_need_a_url() -> None:
    with pytest.raises(UsageError, match="give --card-url"):
        fixed_stack_ports(MIXED, Listening("0.0.0.0", 7002, 7001), 7003)  # noqa: S104


def test_an_adapted_command_runs_behind_its_proxy_with_the_addresses_of_its_peers() -> None:
    team = [{"role": "lead", "cmd": "python lead.py --peer {helper}", "adapt": True}, {"role": "helper", "cmd": "run"}]
    ports = Ports(7000, Listening("127.0.0.1", 7002, 7001), {"lead": 7003, "helper": 7004})
    plan = plan_stack(ScenarioFile.model_validate({"participants": team}), ports, REDIS_URL, Path("out"))
    lead = next(each for group in plan.groups for each in group if each.name == "lead")
    before, after = " ".join(lead.command).split(" -- ")
    assert before.startswith(f"{sys.executable} -m concord_cli adapt lead --host 127.0.0.1 --port 7003")
    assert after == f"{sys.executable} lead.py --peer http://127.0.0.1:7004/"


def test_only_a_command_can_be_adapted() -> None:
    with pytest.raises(ValueError, match="`adapt` is for an agent with `cmd`"):
        ScenarioFile.model_validate({"participants": [{"role": "a", "endpoint": "http://a:9009", "adapt": True}]})
