#!/usr/bin/env bash
# Sends requests that schemathesis (PyPI) makes of /openapi.json to a datastore of its own: no answer
# may be a 5xx, and none another than described. First all that deletes nothing, against a data set
# with blocks; then everything.
#
#   tests/tools/fuzz_rest.sh [SECONDS]      time of each of the two runs; 60
#
# Needs Python 3.10 or newer with venv, curl, and target/release/rechunk (or RECHUNK names another).
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-60}
rechunk=${RECHUNK:-target/release/rechunk}
environment=.venv-rest
if [ ! -x $environment/bin/schemathesis ]; then
    "${PYTHON:-python3}" -m venv $environment
    $environment/bin/pip install --quiet schemathesis==4.32.5
fi

folder=$(mktemp -d)
server=
trap 'if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; wait "$server" || true; fi; rm -rf "$folder"' EXIT
"$rechunk" serve datastore "$folder/root" --write --listen 127.0.0.1:0 >"$folder/said" 2>"$folder/log" &
server=$!
for _ in $(seq 100); do
    if [ -s "$folder/said" ]; then break; fi
    sleep 0.1
done
url=$(sed 's/^listening on //' "$folder/said")

# The data set that the examples of the description are about.
levels='[{"resolutions": [1, 1, 1], "blockDimensions": [4, 4, 4]}, {"resolutions": [2, 2, 2], "blockDimensions": [4, 4, 4]}]'
id=$(curl -sSf -H 'Content-Type: application/json' "$url/datasets" -d \
    "{\"voxelType\": \"uint16\", \"dimensions\": [8, 8, 8], \"compression\": \"gzip\", \"resolutionLevels\": $levels}")
cp -r "$folder/root/$id" "$folder/root/example"
curl -sSf -X POST "$url/datasets/example" >/dev/null
{ printf '\0\0\0\4\0\0\0\4\0\0\0\4' && head -c 128 /dev/urandom; } >"$folder/block"
curl -sSf -H 'Content-Type: application/octet-stream' --data-binary @"$folder/block" \
    "$url/datasets/example/1/1/1/0/0/0/0/0/0/0"

checks=not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance
fuzz() {
    $environment/bin/schemathesis --config-file /dev/null run "$url/openapi.json" --checks $checks --no-color \
        --phases examples,coverage,fuzzing --max-time "$seconds" --request-timeout 60 --continue-on-failure "$@"
}
fuzz --exclude-method DELETE
fuzz
curl -sSf "$url/healthz"
if grep -E 'panicked|status=5' "$folder/log"; then exit 1; fi
