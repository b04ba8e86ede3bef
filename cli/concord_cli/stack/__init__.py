"""The local stack: Redis, the services and a team of agents, as processes on this machine."""
