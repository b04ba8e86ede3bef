"""`python -m concord_cli`, the same as `concord`."""

from concord_cli.main import app

if __name__ == "__main__":
    app()
