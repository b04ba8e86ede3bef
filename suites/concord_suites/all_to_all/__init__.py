"""All to all: what one seat holds matters only together with what several others hold."""
