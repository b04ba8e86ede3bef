"""`python -m concord_collector`: serves the collector, or issues a token with which an agent registers itself."""

import argparse
import asyncio

from concord.service.logs import configure_logging
from concord.service.serve import address_parser, serve
from concord.service.servers import check_servers
from concord.storage.connection import connect
from concord.trust.tokens import TokenKeys
from concord.wire.roster import RESERVED_IDS
from concord_collector.app import create_app
from concord_collector.registry import registration_token
from concord_collector.settings import CollectorSettings


def main() -> None:
    """Reads arguments and environment, and serves until stopped."""
    parser = _parser()
    arguments = parser.parse_args()
    settings = CollectorSettings()
    configure_logging("collector", level=settings.log_level, form=settings.log_format)
    check_servers(settings)
    if arguments.issue_token is None:
        serve(create_app(settings), arguments.host, arguments.port)
    elif arguments.issue_token in RESERVED_IDS:
        parser.error(f"{arguments.issue_token!r} is reserved")
    else:
        print(asyncio.run(_issue(settings, arguments.issue_token, arguments.days)))  # noqa: T201 - the answer


async def _issue(settings: CollectorSettings, agent_id: str, days: float) -> str:
    async with connect(settings.redis_url, settings.queue_redis_url) as storage:
        token_keys = TokenKeys(settings.token_secret, storage.secrets.token_secret, storage.now)
        return (await registration_token(token_keys, agent_id, days)).get_secret_value()


def _parser() -> argparse.ArgumentParser:
    parser = address_parser(
        "concord_collector", "Takes reports of steps from agents and queues them in Redis (REDIS_URL).", port=9010
    )
    parser.add_argument("--issue-token", metavar="AGENT", help="print a standing token for this agent, and exit")
    parser.add_argument(
        "--days",
        type=float,
        default=7,
        help="validity of the token in days; for more than 7 days, set CONCORD_TOKEN_SECRET",
    )
    return parser


if __name__ == "__main__":
    main()
