"""What the project promises about speed, measured: everything side by side in one run, as ratios where it can be."""
