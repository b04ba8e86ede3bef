"""`python -m concord_cli`, the same as `concord`."""

from concord_cli.main import app

app()
