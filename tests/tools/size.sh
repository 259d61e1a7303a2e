#!/usr/bin/env bash
# Says how large a release build of the program is, and fails above the ceiling.
#
#   size.sh [PROGRAM]     target/release/rechunk by default; where there is none that is said
set -euo pipefail
cd "$(dirname "$0")/../.."
program=${1:-target/release/rechunk}
max_mb=40

if ! [ -e "$program" ]; then
    echo "skipped: there is no $program (cargo build --release)"
    exit
fi
bytes=$(wc -c <"$program")
echo "$program: $((bytes / 1000000)) MB of $max_mb MB"
[ "$bytes" -le $((max_mb * 1000000)) ] || {
    echo "$program is too large: has the release profile debug information?" >&2
    exit 1
}
