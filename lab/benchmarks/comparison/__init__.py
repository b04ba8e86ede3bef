"""Two working trees compared: the same inputs, the same probes, by turns."""
