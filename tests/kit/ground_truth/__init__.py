"""The data set of coordination patterns with known graphs, and independent counts for it."""
