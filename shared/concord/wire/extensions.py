"""The A2A extensions that Concord supports: their URIs and metadata keys."""

from typing import Final

TRACEABILITY_URI: Final = "https://github.com/a2aproject/a2a-samples/extensions/traceability/v1"
TRACEABILITY_KEY: Final = "github.com/a2aproject/a2a-samples/extensions/traceability/v1/traceability"

TIMESTAMP_URI: Final = "https://github.com/a2aproject/a2a-samples/samples/extensions/timestamp/v1"
TIMESTAMP_LIBRARY_URI: Final = "https://github.com/a2aproject/a2a-samples/extensions/timestamp/v1"
"""The URI in the samples' Python library for the same extension. Both are accepted and advertised."""
TIMESTAMP_KEY: Final = TIMESTAMP_URI.removeprefix("https://") + "/timestamp"

ASSIGNMENT_URI: Final = "https://github.com/concord-assessor/concord/extensions/assignment/v1"
ASSIGNMENT_KEY: Final = ASSIGNMENT_URI.removeprefix("https://") + "/assignment"

CALLS_URI: Final = "https://github.com/concord-assessor/concord/extensions/calls/v1"
"""In the card of an agent that plays tasks by calls: given the addresses of other seats, it calls them over A2A."""

TRACEPARENT_KEY: Final = "traceparent"
"""W3C Trace Context: the HTTP header, and the metadata key for agents whose A2A library hides headers."""

SUPPORTED_URIS: Final = (TRACEABILITY_URI, TIMESTAMP_URI, TIMESTAMP_LIBRARY_URI, ASSIGNMENT_URI)
