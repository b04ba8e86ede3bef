"""The exchange by calls: the seats of a team call each other through the proxy, along their topology."""
