"""The evaluation of an assistant: criteria checked by code and by a model."""
