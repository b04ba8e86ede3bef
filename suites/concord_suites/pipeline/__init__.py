"""Pipeline: each seat works on what others have worked out."""
