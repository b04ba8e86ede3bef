"""Reviews a short text by what can be measured in it, without a language model."""
