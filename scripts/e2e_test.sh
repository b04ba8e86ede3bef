#!/bin/sh
# Assesses agents in containers, from the files that the leaderboard's generator writes, and breaks parts meanwhile.
#
# `scripts/e2e_test.sh quick` takes two cases, `full` all of them. Needs Docker with Compose. Exit code 0 if every case
# ends with a row or a clear failure, within its limit.
set -eu
cd "$(dirname "$0")/.."
make --silent setup
exec .venv/bin/python -m lab.containers "$@"
