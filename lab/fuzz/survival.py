"""Runs Schemathesis against a service for some time."""

import json
import os
import subprocess
import sys
from pathlib import Path

from lab.fuzz.services import Service


def survives(service: Service, seconds: float, folder: Path) -> bool:
    """Whether a service answers all generated requests in this time, and never with a 5xx."""
    document = folder / "openapi.json"
    document.write_text(json.dumps(service.document))
    headers = [word for name, value in service.headers.items() for word in ("--header", f"{name}: {value}")]
    command = [
        *(str(Path(sys.executable).with_name("schemathesis")), "run", str(document), "--url", service.url, *headers),
        *("--max-time", str(max(1, round(seconds))), "--checks", "not_a_server_error", "--continue-on-failure"),
        *("--suppress-health-check", "all", "--request-timeout", "60", "--warnings", "off"),
        *("--generation-database", "none", "--no-color"),
    ]
    hooks = {"SCHEMATHESIS_HOOKS": "lab.fuzz.services"}
    return subprocess.run(command, env=os.environ | hooks, check=False).returncode == 0
