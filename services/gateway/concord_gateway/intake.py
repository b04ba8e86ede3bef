"""From a client's message to an assessment request, or the reason why it is none."""

import json

from pydantic import ValidationError

from concord.a2a import IncomingMessage
from concord.assessment import AssessmentRequest

_SHOWN_ERRORS = 5


class NotAnAssessmentError(Exception):
    """The message cannot be assessed; the text tells its sender why."""


def read_request(message: IncomingMessage) -> AssessmentRequest:
    """The request in a message: exactly one text part, whose text is a JSON object. Raises NotAnAssessmentError."""
    if len(message.text_parts) != 1 or message.data_parts or message.other_parts:
        raise NotAnAssessmentError("send exactly one text part, holding JSON: {participants: {role: url}, config: {}}")
    try:
        document = json.loads(message.text_parts[0])
    except (ValueError, RecursionError) as error:
        raise NotAnAssessmentError(f"the text is not JSON: {error}") from error
    if not isinstance(document, dict):
        raise NotAnAssessmentError("the JSON must be an object: {participants: {role: url}, config: {}}")
    try:
        return AssessmentRequest.model_validate(document)
    except ValidationError as error:
        raise NotAnAssessmentError(_complaints(error)) from error


def _complaints(error: ValidationError) -> str:
    complaints = [
        f"{'.'.join(str(part) for part in fault['loc']) or 'request'}: {fault['msg']}"
        for fault in error.errors(include_url=False, include_input=False)
    ]
    more = f" (and {len(complaints) - _SHOWN_ERRORS} more)" if len(complaints) > _SHOWN_ERRORS else ""
    return "; ".join(complaints[:_SHOWN_ERRORS]) + more
