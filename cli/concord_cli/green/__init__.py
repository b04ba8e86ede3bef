"""The whole green agent behind one port, for a machine or container that runs nothing else of Concord."""
