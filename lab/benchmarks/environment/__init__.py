"""The environment: advances, calls over HTTP, and whole states."""
