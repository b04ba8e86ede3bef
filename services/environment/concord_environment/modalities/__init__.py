"""The modalities of a simulated user. The module or package of each one defines its descriptor, `MODALITY`."""
