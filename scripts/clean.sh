#!/bin/sh
# Removes environments, caches and output.
set -eu
cd "$(dirname "$0")/.."
rm -rf .venv .venv-* .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache .schemathesis output
find . -name __pycache__ -type d -prune -exec rm -rf {} +
