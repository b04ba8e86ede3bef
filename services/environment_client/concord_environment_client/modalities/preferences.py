"""The calls of the modality `time`: the user's preferences for times and dates."""

from typing import ClassVar

from concord_environment_client.endpoints import S
from concord_environment_client.operations import CHANGES_ANY, ModalityCalls, Operation, QueryCall, StateCall
from concord_environment_client.responses import Json


class PreferencesCalls(ModalityCalls[S]):
    """The user's preferences for times and dates."""

    name: ClassVar = "time"

    get_state = StateCall("/time/state", Json)
    query = QueryCall("/time/query", Json)
    update = Operation("/time/update", "update", CHANGES_ANY, granted_by="time:preferences")
