"""The proxy between participants: carries their calls, and records each one that it carries.

A request passes through the modules in this order: `endpoint` receives and authorises it, and refuses what the trial's
topology does not allow; `callees` finds the callee's URL; `rpc_request` reads it; `carrier` forwards it through
`upstream` and streams the answer back; `call_recorder` reads that and records the call. `endpoint` also finds the
participant at an address, for agents that do not take their peers' addresses from `/peers`.
"""

from starlette.routing import Route

from concord.storage.connection import Storage
from concord.trust.proxy_urls import PROXY_PATH
from concord.trust.tokens import ClosedTrials, TokenKeys
from concord_gateway.calls import Channels
from concord_gateway.proxy.call_recorder import CallRecorder
from concord_gateway.proxy.callees import Callees
from concord_gateway.proxy.carrier import Carrier
from concord_gateway.proxy.endpoint import NO_CALLEE, ProxyEndpoint
from concord_gateway.proxy.limits import ByteBudget
from concord_gateway.proxy.upstream import Upstream

__all__ = ["ByteBudget", "CallRecorder", "Carrier", "Upstream", "proxy_routes"]


def proxy_routes(
    token_keys: TokenKeys, storage: Storage, upstream: Upstream, carrier: Carrier, closed: ClosedTrials, public_url: str
) -> list[Route]:
    """The proxy's routes; `public_url` is where participants reach this gateway."""
    channels = Channels(storage.assessments, storage.registry, public_url)
    callees = Callees(storage.assessments, upstream)
    endpoint = ProxyEndpoint(token_keys, callees, channels, carrier, closed, public_url)
    paths = (f"{PROXY_PATH}/{{token}}/{{callee}}", f"{PROXY_PATH}/{{token}}/{{callee}}/{{rest:path}}")
    calls = [Route(path, endpoint, include_in_schema=False) for path in paths]
    return [
        Route(f"{PROXY_PATH}/{{token}}/{NO_CALLEE}", endpoint.address, methods=["GET"], include_in_schema=False),
        *calls,
    ]
