"""An environment from what is stored of it. Undo does not reach behind that; ids and the chain go on."""

from pydantic import ValidationError

from concord.trust.urls import PeerUrls
from concord_environment.access.keys import Key
from concord_environment.core.engine import Position
from concord_environment.core.events import Event
from concord_environment.core.faults import Invalid
from concord_environment.core.simulation import Simulation
from concord_environment.core.world import Terms
from concord_environment.environment import Environment
from concord_environment.modalities.registry import apply, parse
from concord_environment.modalities.world import EnvironmentWorld
from concord_environment.notices.webhooks import Webhook, Webhooks
from concord_environment.persistence.stored import Snapshot, StoredEvent


def read(content: bytes) -> Snapshot:
    """The snapshot that bytes hold. Invalid for bytes that hold none."""
    try:
        return Snapshot.model_validate_json(content)
    except ValidationError as error:
        raise Invalid("this is no snapshot of an environment") from error


def restore(snapshot: Snapshot) -> Environment:
    """The environment that a snapshot holds."""
    world = EnvironmentWorld()
    for name, table in world.tables.items():
        for key, _ in list(table.items()):
            table.write(key, None)
        for key, row in snapshot.tables.get(name, {}).items():
            table.write(key, table.adapter.validate_python(row))
    position = Position(snapshot.clock, snapshot.sequence, snapshot.head)
    events = [_event(stored) for stored in snapshot.events]
    simulation = Simulation(world, apply, position, events, Terms(snapshot.seed, snapshot.lineage))
    keys = [Key(**dict(stored)) for stored in snapshot.keys]
    environment = Environment(snapshot.seed, simulation, keys)
    environment.webhooks = Webhooks(PeerUrls(()), [Webhook(**dict(stored)) for stored in snapshot.webhooks])
    for name, value in snapshot.lifecycle:
        setattr(environment.lifecycle, name, value)
    environment.scenario_metadata = snapshot.scenario_metadata
    return environment


def _event(stored: StoredEvent) -> Event:
    fields = {name: value for name, value in stored if name not in ("data", "modality")}
    return Event(**fields, action=parse(stored.modality, stored.data))
