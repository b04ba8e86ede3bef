"""`/metrics` of the green agent: the metrics of all its parts in one exposition, each sample with its `part`."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from concord.service.probes import process_metrics


def metrics_route(registries: Mapping[str, CollectorRegistry], up: Callable[[], Mapping[str, bool]]) -> Route:
    """`/metrics` over registries by part. `up`: whether each part of the program is running."""
    registries = {**registries, "program": process_metrics()}

    async def exposition(_: Request) -> Response:
        running = GaugeMetricFamily("concord_part_up", "Whether a part of the green agent runs.", labels=["part"])
        for part, is_up in up().items():
            running.add_metric([part], is_up)
        metrics = _Families((*_merged((part, each.collect()) for part, each in registries.items()), running))
        return Response(generate_latest(metrics), media_type=CONTENT_TYPE_LATEST)

    return Route("/metrics", exposition, methods=["GET"])


def _merged(parts: Iterable[tuple[str, Iterable[Metric]]]) -> tuple[Metric, ...]:
    """One family per name, with the samples of all parts: a name may occur only once in an exposition."""
    families: dict[str, Metric] = {}
    for part, metrics in parts:
        for metric in metrics:
            family = families.setdefault(metric.name, Metric(metric.name, metric.documentation, metric.type))
            family.samples += [each._replace(labels={**each.labels, "part": part}) for each in metric.samples]
    return tuple(families.values())


@dataclass(frozen=True, slots=True)
class _Families(Collector):
    """Metrics as a collector."""

    families: tuple[Metric, ...]

    def collect(self) -> Iterator[Metric]:
        return iter(self.families)
