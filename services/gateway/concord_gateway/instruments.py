"""The gateway's Prometheus metrics."""

from prometheus_client import CollectorRegistry, Counter, Gauge


class Instruments:
    """The gateway's metrics, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.assessments = Counter(
            "concord_gateway_assessments_total", "Messages by how they ended.", ["outcome"], registry=self.registry
        )
        self.carried = Counter(
            "concord_gateway_carried_calls_total",
            "Calls between participants that the proxy carried, by how they ended.",
            ["outcome"],
            registry=self.registry,
        )
        self.under_way = Gauge(
            "concord_gateway_exchanges_under_way", "Requests that the proxy has in hand.", registry=self.registry
        )
