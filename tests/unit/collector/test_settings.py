"""The collector's settings: by default a token is required and no private network is allowed."""

from ipaddress import ip_network

import pytest

from concord_collector.settings import CollectorSettings


def test_by_default_a_token_is_required_and_private_networks_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CONCORD_OPEN", "ALLOWED_PEER_NETWORKS"):
        monkeypatch.delenv(name, raising=False)
    settings = CollectorSettings()
    assert (settings.open, settings.allowed_peer_networks) == (False, ())


def test_networks_are_separated_by_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALLOWED_PEER_NETWORKS", "10.0.0.0/8, fd00::/8")
    assert CollectorSettings().allowed_peer_networks == (ip_network("10.0.0.0/8"), ip_network("fd00::/8"))


@pytest.mark.parametrize("networks", ["everywhere", "10.0.0.1/8"])
def test_an_invalid_network_is_refused_at_start(monkeypatch: pytest.MonkeyPatch, networks: str) -> None:
    monkeypatch.setenv("ALLOWED_PEER_NETWORKS", networks)
    with pytest.raises(ValueError, match="ALLOWED_PEER_NETWORKS"):
        CollectorSettings()
