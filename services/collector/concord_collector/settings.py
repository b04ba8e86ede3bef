"""The collector's settings, from the environment."""

from concord.service import StatefulServiceSettings


class CollectorSettings(StatefulServiceSettings):
    """`REDIS_URL` and `CONCORD_MAX_BODY_BYTES` beside what every service has."""

    max_body_bytes: int = 4 * 1024 * 1024
