"""What every HTTP service of the house shares: settings, logs, probes, limits, and how it is served."""

from concord.service.doors import TokenDoor
from concord.service.limits import BodyLimit
from concord.service.logs import configure_logging
from concord.service.probes import probe_routes, process_metrics
from concord.service.serve import address_parser, serve
from concord.service.settings import ServiceSettings, StatefulServiceSettings

__all__ = [
    "BodyLimit",
    "ServiceSettings",
    "StatefulServiceSettings",
    "TokenDoor",
    "address_parser",
    "configure_logging",
    "probe_routes",
    "process_metrics",
    "serve",
]
