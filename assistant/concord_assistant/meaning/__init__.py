"""The meaning of short texts without a model: values, acts, and whether a text says what it should say."""
