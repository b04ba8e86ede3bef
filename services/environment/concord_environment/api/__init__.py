"""The REST API: a router for each resource."""
