#!/bin/sh
# Three operations on a volume that need not fit in memory: a program of one's own, a filter that is safe for labels, and
# statistics without a target.
#
#   docs/stories/volume.sh VOLUME WORK
#
# VOLUME is an array of integers with three axes in any format that rechunk reads, for example an N5 dataset. WORK is a directory
# that does not exist. The program is docs/stories/despeckle.py, which needs NumPy; PYTHON says which Python has it [python3].
set -eu
volume=$1 work=$2
here=$(cd "$(dirname "$0")" && pwd)
export RECHUNK_MAX_MEM=256MiB
mkdir "$work"

echo "== A program takes specks out of boxes of 64, each with a border of 2: no seams, and never more than two at once"
rechunk apply "$volume" "$work/denoised.zarr" --exec "${PYTHON:-python3} $here/despeckle.py {in} {out}" --crop 2 --boundary nearest \
    --work 64,64,64 --exec-jobs 2 --exec-mem 64MiB
rechunk apply "$volume" "$work/opened.zarr" --op open:size=3 --crop auto --boundary nearest --work 64,64,64 --quiet
rechunk verify "$work/denoised.zarr" "$work/opened.zarr" # the operation of the same rule, to the element

echo "== Labels: what is brighter than the mean? Neighbours are never averaged; a majority smooths them"
rechunk apply "$work/denoised.zarr" --op min-max-mean --work 64,64,64 --json >"$work/statistics.json"
mean=$(sed -n 's/.*"mean": \([0-9]*\).*/\1/p' "$work/statistics.json" | head -1)
code=0
rechunk apply "$work/denoised.zarr" "$work/labels.zarr" --op "threshold:min=$mean" --blend 4 --work 64,64,64 2>"$work/refused.txt" ||
    code=$?
echo "a blend would average them, and ends with exit code $code:" && cat "$work/refused.txt"
rechunk apply "$work/denoised.zarr" "$work/labels.zarr" --op "threshold:min=$mean" --work 64,64,64 --quiet
rechunk apply "$work/labels.zarr" "$work/smooth.zarr" --op median:size=5 --crop auto --boundary nearest --work 64,64,64 --quiet

echo "== Statistics need no target: voxels and their share above the mean (sum, mean), before and after"
for labels in labels smooth; do
    rechunk apply "$work/$labels.zarr" --op min-max-mean --work 64,64,64
done
