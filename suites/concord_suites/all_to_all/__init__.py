"""All to all: the facts of one seat mean something only together with those of several others."""
