"""What the services and the agents tell each other: ids, the roster of agents, assignments and A2A extensions."""
