"""Teams of tiny agents, each made to work together, or to fail at it, in one way of its own."""
