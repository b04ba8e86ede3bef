"""Pipeline: each seat works on the results of others."""
