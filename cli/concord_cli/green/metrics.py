"""`/metrics` of the green agent: the metrics of all its programs in one exposition, each sample with its `part`."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import httpx
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from concord.plain_http import NO_CERTIFICATES
from concord.service.probes import process_metrics

_SCRAPE_TIMEOUT: Final = "X-Prometheus-Scrape-Timeout-Seconds"
"""The header in which Prometheus states how long it waits for the exposition."""

_DEFAULT_SCRAPE_TIMEOUT_S: Final = 10.0
"""Prometheus's default."""

_MAX_SCRAPE_TIMEOUT_S: Final = 60.0

_PROGRAMS_SHARE: Final = 0.8
"""The programs' share of the scrape's timeout. The rest is for the exposition's way to Prometheus."""


def metrics_route(local: Mapping[str, CollectorRegistry], elsewhere: Mapping[str, str]) -> Route:
    """`/metrics` over the registries of this process and the URLs of other programs' metrics, both by part."""
    registries = {**local, "server": process_metrics()}

    async def exposition(request: Request) -> Response:
        timeout_s = _timeout_s(request.headers.get(_SCRAPE_TIMEOUT, ""))
        async with httpx.AsyncClient(timeout=timeout_s, trust_env=False, verify=NO_CERTIFICATES) as client:
            texts = await asyncio.gather(*(_scrape(client, url, timeout_s) for url in elsewhere.values()))
        scraped = dict(zip(elsewhere, texts, strict=True))
        parts: list[tuple[str, Iterable[Metric]]] = [(part, each.collect()) for part, each in registries.items()]
        parts += [(part, text_string_to_metric_families(text)) for part, text in scraped.items() if text is not None]
        up = GaugeMetricFamily("concord_part_up", "Whether a program of the green agent answered.", labels=["part"])
        for part, text in scraped.items():
            up.add_metric([part], text is not None)
        return Response(generate_latest(_Families((*_merged(parts), up))), media_type=CONTENT_TYPE_LATEST)

    return Route("/metrics", exposition, methods=["GET"])


def _timeout_s(scrape_timeout: str) -> float:
    """How long a program may take to answer, in seconds. `scrape_timeout`: Prometheus's header, "" if it is absent."""
    try:
        stated = float(scrape_timeout)
    except ValueError:
        stated = _DEFAULT_SCRAPE_TIMEOUT_S
    scrape_timeout_s = stated if 0 < stated <= _MAX_SCRAPE_TIMEOUT_S else _DEFAULT_SCRAPE_TIMEOUT_S
    return scrape_timeout_s * _PROGRAMS_SHARE


async def _scrape(client: httpx.AsyncClient, url: str, timeout_s: float) -> str | None:
    """A program's exposition; None if the program does not answer in time."""
    try:
        async with asyncio.timeout(timeout_s):
            return (await client.get(url)).raise_for_status().text
    except (httpx.HTTPError, TimeoutError):
        return None


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
