"""`python -m concord_environment`: serves one simulated user's environment."""

import sys
from datetime import UTC, datetime

from concord.service.logs import configure_logging
from concord.service.serve import address_parser, serve
from concord_environment.app import create_app
from concord_environment.core.faults import Fault
from concord_environment.environment import Environment
from concord_environment.gc_thresholds import raise_gc_thresholds
from concord_environment.settings import EnvironmentSettings

DESCRIPTION = "A simulated user's email, SMS, calendar and chat. The admin key: UES_ADMIN_KEY or UES_ADMIN_KEY_FILE."


def main() -> None:
    """Parses arguments and settings, and serves until stopped."""
    arguments = address_parser("concord_environment", DESCRIPTION, port=8000).parse_args()
    settings = EnvironmentSettings()
    configure_logging("environment", level=settings.log_level, form=settings.log_format)
    raise_gc_thresholds()
    try:
        environment = Environment(settings.seed)
        secret, made_up = settings.admin_secret()
        environment.keys.set_admin(secret, datetime.now(UTC))
    except (Fault, OSError) as error:
        sys.exit(f"concord_environment: {error}")
    if made_up:
        # A generated key appears nowhere else. Printed to standard output, because log collectors read standard error.
        print(f"Admin key, shown once: {secret}", flush=True)  # noqa: T201
    serve(create_app(environment, settings), arguments.host, arguments.port)


if __name__ == "__main__":
    main()
