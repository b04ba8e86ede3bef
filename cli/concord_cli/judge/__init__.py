"""`concord judge`: saved traces judged anew, and the judge itself held against labels."""

from concord_cli.judge.app import app

__all__ = ["app"]
