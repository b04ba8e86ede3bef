"""What the gateway counts, for Prometheus."""

from prometheus_client import CollectorRegistry, Counter


class Instruments:
    """The gateway's metrics, on a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.assessments = Counter(
            "concord_gateway_assessments_total", "Messages by how they ended.", ["outcome"], registry=self.registry
        )
