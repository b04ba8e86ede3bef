"""Pool: one seat needs something from every other."""
