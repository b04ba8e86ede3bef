"""Gateway, collector and workers as one program, the default where they need not scale apart."""
