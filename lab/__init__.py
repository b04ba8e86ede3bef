"""The laboratory: gates, benchmarks, attacks and recorders, which `make lab` lists. No product imports it."""
