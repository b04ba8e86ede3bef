"""`python -m concord_cli.green`: serves gateway and collector on one port; `concord green` starts it with the rest."""

from concord.service.logs import configure_logging
from concord.service.serve import address_parser, serve
from concord.tracing import configure_tracing
from concord_cli.green.app import create_app
from concord_collector.settings import CollectorSettings
from concord_gateway.settings import GatewaySettings


def main() -> None:
    """Reads arguments and environment, and serves until stopped."""
    parser = address_parser("concord_cli.green", "Gateway and collector on one port. State is in Redis (REDIS_URL).")
    parser.add_argument("--card-url", help="URL in the agent card, where clients and participants reach this port")
    parser.add_argument(
        "--metrics-of",
        nargs=2,
        action="append",
        default=[],
        metavar=("PART", "URL"),
        help="the metrics of another program, which /metrics includes",
    )
    arguments = parser.parse_args()
    gateway, collector = GatewaySettings(), CollectorSettings()
    configure_logging("green", level=gateway.log_level, form=gateway.log_format)
    configure_tracing("gateway")
    bound_to = f"{arguments.host}:{arguments.port}"
    app = create_app(gateway, collector, arguments.card_url, bound_to, dict(arguments.metrics_of))
    serve(app, arguments.host, arguments.port)


if __name__ == "__main__":
    main()
