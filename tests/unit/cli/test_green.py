"""The program of `concord serve`: what it gets on its command line and in its environment."""

import sys
from pathlib import Path

import pytest

from concord_cli.program.__main__ import main
from concord_cli.scenario.scenario_file import ScenarioFile
from concord_cli.stack.plan import Listening, Ports, plan_stack
from concord_cli.stack.probes import HttpProbe
from concord_cli.stack.supervisor import Program

REDIS_URL = "redis://:secret@127.0.0.1:7000/0"
PLATFORM = Listening("0.0.0.0", 9009, None, "http://green-agent:9009")  # noqa: S104 - as the platform starts it


def green_program(services: Listening) -> Program:
    [[program]] = plan_stack(ScenarioFile(), Ports(7000, services, {}), REDIS_URL, Path("out")).groups
    return program


def test_one_program_has_the_redis_in_its_environment_and_not_on_its_command_line() -> None:
    program = green_program(PLATFORM)
    assert program.env == {"REDIS_URL": REDIS_URL}
    assert not any("secret" in word for word in program.command)


def test_the_program_gets_the_platforms_arguments() -> None:
    command = green_program(PLATFORM).command
    assert command[2:7] == ("concord_cli.program", "--host", "0.0.0.0", "--port", "9009")  # noqa: S104
    assert command[-2:] == ("--card-url", "http://green-agent:9009")
    assert {"--card-url", "--collector-port"} & {*green_program(Listening("127.0.0.1", 9009, None)).command} == set()


def test_the_program_is_probed_at_an_address_of_this_machine() -> None:
    assert green_program(PLATFORM).probe == HttpProbe("http://127.0.0.1:9009/readyz")
    assert green_program(Listening("10.0.0.7", 80, None)).probe == HttpProbe("http://10.0.0.7:80/readyz")


def test_an_invalid_setting_ends_the_program_with_its_name_and_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["concord_cli.program", "--host", "127.0.0.1", "--port", "0"])
    monkeypatch.setenv("CONCORD_TASK_SECRET", "x")
    with pytest.raises(SystemExit, match=r"task_secret: .*64 hexadecimal digits"):
        main()
