#!/bin/sh
# An N5 volume becomes sharded Zarr v3, as a step of a pipeline that may be killed at any time.
#
#   docs/stories/n5.sh [SOURCE TARGET [CHUNKS SHARDS]]
#
# Without arguments, the real array of `rechunk demo` is made an N5 dataset first. Exit codes are a
# promise, so that a pipeline needs no words: 0 done, 1 and 130 run it again, all else needs a person.
set -eu
source=${1:-} target=${2:-} chunks=${3:-18,18,54} shards=${4:-54,18,432}
if [ -z "$source" ]; then
    work=$(mktemp -d)
    (cd "$work" && rechunk demo data >demo.txt)
    source=$work/volume.n5/s0 target=$work/volume.zarr/s0
    rechunk copy "$work/data/ostia_monthly.zarr/surface_temperature" "$source" --chunks 9,18,64 --codec gzip:5 --quiet
fi

echo "== Before anything is written: does it fit, and what does it cost?"
rechunk plan "$source" "$target" --chunks "$chunks" --shards "$shards" --max-mem 256MiB

echo "== Run, and run again while it says that it can go on"
attempt=0
while :; do
    code=0
    rechunk copy "$source" "$target" --chunks "$chunks" --shards "$shards" --codec zstd:5 \
        --max-mem 256MiB --resume --verify --json >report.json || code=$?
    attempt=$((attempt + 1))
    case $code in
    0) break ;;
    1 | 130) [ "$attempt" -lt 5 ] || exit "$code" ;;
    *) exit "$code" ;;
    esac
done

echo "== Two readers agree, element by element"
rechunk verify "$source" "$target"
rechunk info "$target" | head -12
