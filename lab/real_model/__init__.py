"""A small language model in every place that a model can take: `make real-model`."""
