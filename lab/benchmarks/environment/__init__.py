"""The environment: advances, calls over HTTP, whole states and the journal."""
