"""JSON-RPC of protocol 0.3: the SDK's adapter, corrected, and with the data of an answer as its handler gave them."""

from collections.abc import Mapping
from typing import Any, Final
from uuid import uuid4

import a2a.server.routes  # noqa: F401 - must be imported before the adapter's module
from a2a.compat.v0_3 import conversions
from a2a.compat.v0_3 import types as types_03
from a2a.compat.v0_3.jsonrpc_adapter import JSONRPC03Adapter
from a2a.compat.v0_3.request_handler import RequestHandler03
from a2a.server.context import ServerCallContext
from a2a.server.jsonrpc_models import InvalidParamsError, InvalidRequestError, JSONRPCError
from a2a.server.request_handlers import RequestHandler
from a2a.types import a2a_pb2 as pb
from starlette.responses import JSONResponse

from concord.a2a.callers import Callers
from concord.a2a.json_values import json_of
from concord.a2a.messages import data_part

# The SDK calls it for data and metadata of 0.3 only, which are a `Value` or a `Struct`.
conversions.MessageToDict = json_of  # type: ignore[assignment,attr-defined]  # not exported

_WRITTEN: Final = "concord.written"
_STAND_INS: Final = "concord.stand_ins"
"""Keys in a request's state: the JSON of artifacts' data by their ids, and by what stands for them in the answer."""


def keep_written(context: ServerCallContext, artifact_id: str, data: bytes) -> None:
    """Keeps the data that an artifact was made of, as JSON, until its request is answered."""
    context.state.setdefault(_WRITTEN, {})[artifact_id] = data


class Adapter03(JSONRPC03Adapter):
    """The SDK's 0.3 adapter, with two corrections by JSON-RPC 2.0.

    Invalid params of a known method get -32602 instead of -32600 (section 5.1), and a success without a value has the
    result null (section 5).
    """

    def __init__(self, requests: RequestHandler, callers: Callers) -> None:
        super().__init__(requests, callers)
        self.handler = _Requests03(requests)

    async def _process_non_streaming_request(
        self,
        request_id: str | int | None,
        request_obj: Any,  # noqa: ANN401 - the SDK's signature
        context: ServerCallContext,
    ) -> JSONResponse:
        response = await super()._process_non_streaming_request(request_id, request_obj, context)
        if request_obj.method == "tasks/pushNotificationConfig/delete":
            return JSONResponse({"jsonrpc": "2.0", "id": request_id, "result": None})
        if stand_ins := context.state.get(_STAND_INS):
            return _Written(_with_data(bytes(response.body), stand_ins))
        return response

    def _generate_error_response(self, request_id: str | int | None, error: Exception | JSONRPCError) -> JSONResponse:
        if isinstance(error, InvalidRequestError):
            error = InvalidParamsError(data=error.data)
        return super()._generate_error_response(request_id, error)


class _Requests03(RequestHandler03):
    """The SDK's handler. In the answer to a message, a name stands for data that were kept.

    To make a row of protobuf, of pydantic's models and of dictionaries again takes a tenth of a gateway's CPU.
    """

    async def on_message_send(
        self, request: types_03.SendMessageRequest, context: ServerCallContext
    ) -> types_03.Task | types_03.Message:
        sent = conversions.to_core_send_message_request(request)
        answer = await self.request_handler.on_message_send(sent, context)
        if isinstance(answer, pb.Message):
            return conversions.to_compat_message(answer)
        written: Mapping[str, bytes] = context.state.get(_WRITTEN, {})
        named = {uuid4().hex: artifact.artifact_id for artifact in answer.artifacts if artifact.artifact_id in written}
        context.state[_STAND_INS] = {name: written[artifact_id] for name, artifact_id in named.items()}
        return conversions.to_compat_task(_short(answer, {artifact_id: name for name, artifact_id in named.items()}))


class _Written(JSONResponse):
    """A response whose content is JSON already."""

    def render(self, content: bytes) -> bytes:
        return content


def _short(task: pb.Task, names: Mapping[str, str]) -> pb.Task:
    """A copy of a task with names for the data of artifacts, by their ids."""
    short = pb.Task(id=task.id, context_id=task.context_id, status=task.status, history=task.history)
    if task.HasField("metadata"):
        short.metadata.CopyFrom(task.metadata)
    for artifact in task.artifacts:
        if (name := names.get(artifact.artifact_id)) is None:
            short.artifacts.append(artifact)
            continue
        added = short.artifacts.add(
            artifact_id=artifact.artifact_id,
            name=artifact.name,
            description=artifact.description,
            extensions=artifact.extensions,
            parts=[data_part({name: None}) if part.HasField("data") else part for part in artifact.parts],
        )
        if artifact.HasField("metadata"):
            added.metadata.CopyFrom(artifact.metadata)
    return short


def _with_data(body: bytes, stand_ins: Mapping[str, bytes]) -> bytes:
    for name, data in stand_ins.items():
        body = body.replace(f'{{"{name}":null}}'.encode(), data, 1)
    return body
