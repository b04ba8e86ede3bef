#!/usr/bin/env bash
# Builds the wheel and the source distribution into dist/, checks both, and installs the wheel as users do: into empty
# environments, with the newest packages that its metadata allows. From the installation with all extras, it assesses the
# sample team. Needs `make setup`, .venv-release, and a package index.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

step() {
    echo "--- $*"
}

fail() {
    echo "$*" >&2
    exit 1
}

# install EXTRAS: an environment of its own with the wheel and, if EXTRAS is not empty, these extras; sets $bin.
install() {
    local environment=$folder/${1:-base}
    step "installing the wheel${1:+ with [$1]}"
    .venv/bin/python -m venv "$environment"
    "$environment/bin/pip" --disable-pip-version-check install --quiet "$wheel${1:+[$1]}"
    bin=$environment/bin
    du -sm "$environment" | awk '{ print $1 " MB" }'
}

# lacks MODULE...: no MODULE is installed.
lacks() {
    local module
    for module in "$@"; do
        ! "$bin/python" -c "import $module" 2>/dev/null || fail "the environment has the module $module"
    done
}

step "building"
rm -rf dist
# The wheel is built from the source distribution, which shows that this is complete.
.venv/bin/uv build --quiet --no-build-isolation --python .venv/bin/python --out-dir dist
wheel=$(echo dist/*.whl)
version=$(.venv/bin/python -c 'from concord.version import VERSION; print(VERSION)')
[[ $wheel == *-"$version"-* ]] || fail "$wheel has another version than the source, $version"
grep -q "^## \[$version\]" CHANGELOG.md || fail "CHANGELOG.md has no heading for version $version"
.venv-release/bin/twine check --strict dist/*.whl dist/*.tar.gz

install ""
lacks fastapi starlette redis numpy a2a openai
"$bin/python" -c 'from concord import Assignment, TraceReporter; TraceReporter()'
[[ $("$bin/concord" 2>&1) == *"'concord-agents[cli]'" ]] || fail "concord does not name its extra"

install agent
lacks fastapi redis numpy openai
"$bin/python" -c 'from concord import TraceReporter; from concord.agent.messenger import Messenger; Messenger(TraceReporter().report)'

install cli
lacks redis numpy networkx openai
"$bin/concord" --version
"$bin/concord" assess --help >"$folder/help.txt"
[[ $("$bin/concord" run 2>&1) == *"'concord-agents[green]'" ]] || fail "concord run does not name its extra"

install all
(
    cd "$folder"
    "$bin/concord" run --output results.json
    "$bin/concord" report results.json
)
step "all passed: $(echo dist/*.whl dist/*.tar.gz)"
