"""The modalities: what a simulated user has, one package each, with the same rooms in every one."""
