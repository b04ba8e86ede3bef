"""The calls of the modality `weather`: weather reports by place."""

from typing import ClassVar

from concord_environment_client.endpoints import S
from concord_environment_client.operations import CHANGES_ANY, ModalityCalls, Operation, QueryCall, StateCall
from concord_environment_client.responses import Json


class WeatherCalls(ModalityCalls[S]):
    """Weather reports by place."""

    name: ClassVar = "weather"

    get_state = StateCall("/weather/state", Json)
    query = QueryCall("/weather/query", Json)
    update = Operation("/weather/update", "update", CHANGES_ANY)
