"""The program of `concord serve`: what it gets on its command line and in its environment."""

from concord_cli.green.plan import Address, green_program
from concord_cli.stack.probes import HttpProbe

REDIS_URL = "redis://:secret@127.0.0.1:7000/0"
PLATFORM = Address("0.0.0.0", 9009, "http://green-agent:9009")  # noqa: S104 - as the platform starts it


def test_one_program_has_the_redis_in_its_environment_and_not_on_its_command_line() -> None:
    program = green_program(PLATFORM, REDIS_URL)
    assert program.env == {"REDIS_URL": REDIS_URL}
    assert not any("secret" in word for word in program.command)


def test_the_program_gets_the_platforms_arguments() -> None:
    command = green_program(PLATFORM, REDIS_URL).command
    assert command[2:7] == ("concord_cli.program", "--host", "0.0.0.0", "--port", "9009")  # noqa: S104
    assert command[-2:] == ("--card-url", "http://green-agent:9009")
    assert "--card-url" not in green_program(Address("127.0.0.1", 9009, None), REDIS_URL).command


def test_the_program_is_probed_at_an_address_of_this_machine() -> None:
    assert green_program(PLATFORM, REDIS_URL).probe == HttpProbe("http://127.0.0.1:9009/readyz")
    assert green_program(Address("10.0.0.7", 80, None), REDIS_URL).probe == HttpProbe("http://10.0.0.7:80/readyz")
