"""The programs of `concord green`: what each gets on its command line and in its environment."""

from concord_cli.green.plan import Address, green_programs
from concord_cli.stack.probes import HttpProbe

REDIS_URL = "redis://:secret@127.0.0.1:7000/0"
PLATFORM = Address("0.0.0.0", 9009, "http://green-agent:9009")  # noqa: S104 - as the platform starts it


def test_one_server_and_a_worker_of_each_queue_share_the_redis() -> None:
    programs = green_programs(PLATFORM, REDIS_URL)
    assert [each.name for each in programs] == ["server", "evaluator-fast", "evaluator-llm"]
    assert all(each.env == {"REDIS_URL": REDIS_URL} for each in programs)
    assert not any("secret" in word for each in programs for word in each.command)


def test_the_server_gets_the_platforms_arguments() -> None:
    server = green_programs(PLATFORM, REDIS_URL)[0]
    assert server.command[2:] == (
        *("concord_cli.green", "--host", "0.0.0.0", "--port", "9009"),  # noqa: S104
        *("--card-url", "http://green-agent:9009"),
    )
    assert "--card-url" not in green_programs(Address("127.0.0.1", 9009, None), REDIS_URL)[0].command


def test_the_server_is_probed_at_an_address_of_this_machine() -> None:
    assert green_programs(PLATFORM, REDIS_URL)[0].probe == HttpProbe("http://127.0.0.1:9009/readyz")
    assert green_programs(Address("10.0.0.7", 80, None), REDIS_URL)[0].probe == HttpProbe("http://10.0.0.7:80/readyz")
