"""The HTTP contract: one router for each resource."""
