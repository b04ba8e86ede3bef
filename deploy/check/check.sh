#!/usr/bin/env bash
# Runs `concord check` as the action's inputs say, adds the verdict to the job's summary and outputs, and ends with its exit code.
set -euo pipefail

unsure=3
arguments=(
    --margin "$MARGIN" --max-pairs "$MAX_PAIRS"
    --output "$FOLDER/check.json" --json "$FOLDER/verdict.json" --junit "$FOLDER/check.xml" --markdown "$FOLDER/check.md"
)
if [[ -n $BASELINE ]]; then arguments+=(--baseline "$BASELINE"); fi
if [[ -n $AGAINST ]]; then arguments+=(--against "$AGAINST"); fi
if [[ -n $FAIL_UNDER ]]; then arguments+=(--fail-under "$FAIL_UNDER"); fi
if [[ -n ${EXPECT:-} ]]; then arguments+=(--expect "$EXPECT"); fi
if [[ -z ${CONCORD_TASK_SECRET:-} ]]; then unset CONCORD_TASK_SECRET; fi

# Of an earlier step, perhaps.
rm -f "$FOLDER/verdict.json" "$FOLDER/check.md"

code=0
concord check "${arguments[@]}" -- "$SCENARIO" || code=$?

echo "exit-code=$code" >>"$GITHUB_OUTPUT"
if [[ -f $FOLDER/verdict.json ]]; then
    cat "$FOLDER/check.md" >>"$GITHUB_STEP_SUMMARY"
    verdict=$(python -c 'import json, sys; print(json.load(open(sys.argv[1]))["verdict"])' "$FOLDER/verdict.json")
    echo "verdict=$verdict" >>"$GITHUB_OUTPUT"
fi
if [[ $code == "$unsure" && $UNSURE_PASSES == true ]]; then
    echo "::warning::Concord cannot show whether the new version is worse. The summary says why."
    exit 0
fi
exit "$code"
