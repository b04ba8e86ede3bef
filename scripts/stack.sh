#!/bin/sh
# Builds the images and runs one assessment through them, which writes output/results.json. Needs Docker with Compose.
set -eu
cd "$(dirname "$0")/.."
exec env UID="$(id -u)" GID="$(id -g)" docker compose --profile client up --build \
    --abort-on-container-exit --exit-code-from client
