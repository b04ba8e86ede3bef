"""`python -m concord_environment`: serves one simulated user's environment."""

import sys
from datetime import UTC, datetime

from concord.service import address_parser, configure_logging, serve
from concord_environment.app import create_app
from concord_environment.core.faults import Fault
from concord_environment.environment import Environment
from concord_environment.garbage import collect_rarely
from concord_environment.persistence.snapshot import restore
from concord_environment.settings import EnvironmentSettings

DESCRIPTION = "A simulated user's email, SMS, calendar and chat. The admin key: UES_ADMIN_KEY or UES_ADMIN_KEY_FILE."


def main() -> None:
    """Parses arguments and settings, and serves until stopped."""
    arguments = address_parser("concord_environment", DESCRIPTION, port=8000).parse_args()
    settings = EnvironmentSettings()
    configure_logging("environment", level=settings.log_level, form=settings.log_format)
    collect_rarely()
    environment = _environment(settings)
    secret, made_up = settings.admin_secret()
    try:
        environment.keyring.make_admin(secret, datetime.now(UTC))
    except Fault as fault:
        sys.exit(f"concord_environment: {fault}")
    if made_up:
        # Nobody else knows a generated key. Standard output, because log collectors read standard error.
        print(f"Admin key, shown once: {secret}", flush=True)  # noqa: T201
    serve(create_app(environment, settings), arguments.host, arguments.port)


def _environment(settings: EnvironmentSettings) -> Environment:
    """The environment from the snapshot file, or a new one without such a file."""
    if settings.snapshot_file is not None and settings.snapshot_file.exists():
        return restore(settings.snapshot_file.read_bytes())
    return Environment(settings.seed)


if __name__ == "__main__":
    main()
