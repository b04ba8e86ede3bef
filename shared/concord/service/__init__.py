"""Code that the HTTP services share: settings, logs, probes, request limits and serving."""

from concord.service.limits import BodyLimit
from concord.service.logs import configure_logging
from concord.service.probes import probe_routes, process_metrics
from concord.service.serve import address_parser, serve
from concord.service.settings import ServiceSettings, StatefulServiceSettings
from concord.service.token_paths import TokenPathLimit

__all__ = [
    "BodyLimit",
    "ServiceSettings",
    "StatefulServiceSettings",
    "TokenPathLimit",
    "address_parser",
    "configure_logging",
    "probe_routes",
    "process_metrics",
    "serve",
]
