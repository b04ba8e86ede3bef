"""The weather, at as many places as anybody reports it from."""
