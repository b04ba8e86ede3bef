#!/usr/bin/env bash
# Builds the wheel and the source distribution into dist/, checks both, and installs them into empty environments: the wheel as
# users do, with the newest packages that its metadata allows, and the source distribution with those that locks/run.txt pins.
# From the installation with all extras and from the pinned one, it assesses the sample team, and computes the row again from its
# bundle. Needs `make setup`, .venv-release, and a package index.
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

# install_pinned: an environment of its own with the packages of locks/run.txt and, built there, the source distribution; sets $bin.
install_pinned() {
    step "installing the source distribution with pinned packages"
    .venv/bin/python -m venv "$folder/pinned"
    bin=$folder/pinned/bin
    "$bin/pip" --disable-pip-version-check install --quiet --require-hashes -r locks/run.txt
    "$bin/pip" --disable-pip-version-check install --quiet --no-deps --no-build-isolation dist/*.tar.gz
}

# quickstart: the sample team is assessed in a folder without a repository, and the row follows from its bundle.
quickstart() {
    local there=$bin/quickstart
    mkdir "$there"
    (
        cd "$there"
        "$bin/concord" --help >help.txt
        "$bin/concord" run --output results.json
        "$bin/python" - results.json "$version" <<'CHECK'
import json, sys
from pathlib import Path

[row] = json.loads(Path(sys.argv[1]).read_text())["results"]
scoring, trials = row["detail"]["scoring"], row["detail"]["trials"]
assert (scoring["usable_trials"], scoring["unjudged"], len(trials)) == (3, 0, 3), scoring
assert scoring["complete"] and 0 < row["score"] <= row["max_score"] == 100, row["score"]
print(f"concord {sys.argv[2]}: {len(trials)} trials, score {row['score']:.1f}")
CHECK
        "$bin/concord" verify results.json
        "$bin/concord" report results.json
    )
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
quickstart

install_pinned
quickstart
step "all passed: $(echo dist/*.whl dist/*.tar.gz)"
