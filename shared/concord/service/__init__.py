"""Code that the services share: settings, logs, probes, request limits and serving.

It exports nothing, so that a worker, which uses only settings and logs, does not import FastAPI.
"""
