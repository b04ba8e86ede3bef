"""The modalities of a simulated user. Each has a module or a package with its descriptor, `MODALITY`."""
