"""A small language model in every place that a model can take: `make lab NAME=real-model`."""
