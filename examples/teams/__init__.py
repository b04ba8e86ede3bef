"""Teams of tiny agents, each of which works together, or fails to, in its own way."""
