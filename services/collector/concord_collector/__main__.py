"""`python -m concord_collector`: serves the collector."""

from concord.service import address_parser, configure_logging, serve
from concord_collector.app import create_app
from concord_collector.settings import CollectorSettings


def main() -> None:
    """Reads arguments and environment, and serves until stopped."""
    arguments = address_parser(
        "concord_collector", "Takes reports of steps from agents and queues them in Redis (REDIS_URL).", port=9010
    ).parse_args()
    settings = CollectorSettings()
    configure_logging("collector", level=settings.log_level, form=settings.log_format)
    serve(create_app(settings), arguments.host, arguments.port)


if __name__ == "__main__":
    main()
