"""The calls of the modality `location`: the user's current and earlier places."""

from typing import ClassVar

from concord_environment_client.endpoints import S
from concord_environment_client.operations import CHANGES_ANY, ModalityCalls, Operation, QueryCall, StateCall
from concord_environment_client.responses import Json


class LocationCalls(ModalityCalls[S]):
    """The user's current and earlier places."""

    name: ClassVar = "location"

    get_state = StateCall("/location/state", Json)
    query = QueryCall("/location/query", Json)
    update = Operation("/location/update", "update", CHANGES_ANY)
