"""The check of storage at the start of a program."""

import asyncio
import logging

from concord.errors import StorageUnavailableError, UnusableServerError
from concord.service.settings import StatefulServiceSettings
from concord.storage.connection import servers

logger = logging.getLogger(__name__)


def check_servers(settings: StatefulServiceSettings) -> None:
    """Logs which servers hold the state. Exits with one line if one cannot be used; goes on if none answers yet."""
    try:
        for server in asyncio.run(servers(settings.redis_url, settings.queue_redis_url)):
            logger.info("state is in %s", server)
    except UnusableServerError as error:
        raise SystemExit(str(error)) from None
    except StorageUnavailableError as error:
        logger.warning("%s", error)
