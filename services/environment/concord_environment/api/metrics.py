"""`/metrics`: Prometheus metrics of the process, its calls and its simulation."""

from collections.abc import Iterator

from fastapi import APIRouter, Depends, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from concord.service.probes import process_metrics
from concord_environment.api.access import Served, permitted
from concord_environment.core.events import EventStatus
from concord_environment.environment import Environment

router = APIRouter(prefix="/metrics", tags=["metrics"])

_PROCESS = process_metrics()


class _EnvironmentMetrics(Collector):
    """The figures of an environment at the time of the scrape."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    def collect(self) -> Iterator[Metric]:
        calls = CounterMetricFamily("concord_environment_calls", "Calls with a key, by HTTP status.", labels=["status"])
        for status, count in sorted(self._environment.access_log.totals.items()):
            calls.add_metric([str(status)], count)
        yield calls
        events = GaugeMetricFamily("concord_environment_events", "Events of the simulation.", labels=["status"])
        for event_status in EventStatus:
            events.add_metric([event_status.value], self._environment.simulation.count(event_status))
        yield events


# The number of pending events would tell an assistant that something is about to happen, so a key is needed.
@router.get("", dependencies=[Depends(permitted("logs:read"))], include_in_schema=False)
async def exposition(environment: Served) -> Response:
    """Returns the metrics in Prometheus's text format."""
    own = CollectorRegistry()
    own.register(_EnvironmentMetrics(environment))
    return Response(generate_latest(own) + generate_latest(_PROCESS), media_type=CONTENT_TYPE_LATEST)
