"""Who calls: keys, what they grant, and a log of the calls."""
