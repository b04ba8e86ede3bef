"""The A2A compatibility kit against Concord's A2A server and the bare SDK."""
