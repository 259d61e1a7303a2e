#!/bin/sh
# What `race.py` runs: Python peers of the Zarr 3 world, and rechunker, which needs Zarr 2. With `zarrs` also zarrs_reencode,
# which is built for ten minutes.
set -e
cd "$(dirname "$0")/../.."
for world in "" -z2; do
    venv=.venv-bench$world
    test -e "$venv/ready" && continue
    python3 -m venv "$venv"
    "$venv/bin/pip" install -q -r "tests/bench/requirements${world:--z3}.txt"
    touch "$venv/ready"
done
if [ "${1:-}" = zarrs ]; then
    cargo install zarrs_tools --version 0.8.1 --locked --root .venv-bench/zarrs
fi
