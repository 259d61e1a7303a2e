#!/bin/sh
# From maps to series: a satellite archive is cut anew for whoever reads one place through all times.
#
#   docs/stories/satellite.sh [DIRECTORY]
#
# Real data (monthly sea-surface temperatures, from `rechunk demo`) in DIRECTORY, a new one by default.
# With xarray in $PYTHON (python3), the same series are read before and after, timed, and compared.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=${1:-$(mktemp -d)}
mkdir -p "$work"
cd "$work"
rechunk demo data >demo.txt
source=data/ostia_monthly.zarr

echo "== What does a series take, and what would be better?"
rechunk info "$source/surface_temperature" --access time,map | grep -A 2 '  access'

echo "== What would it cost?"
rechunk plan "$source" by-place.zarr --chunks time=-1,latitude=6,longitude=36 --max-mem 64MiB

echo "== Do it: all variables, verified"
rechunk copy "$source" by-place.zarr --chunks time=-1,latitude=6,longitude=36 --max-mem 64MiB --verify --quiet
rechunk info by-place.zarr/surface_temperature --access time,map | grep -A 2 '  access'

if "${PYTHON:-python3}" -c 'import xarray, zarr' 2>/dev/null; then
    echo "== The same analysis with xarray, before and after"
    "${PYTHON:-python3}" -W ignore "$here/series.py" "$source" by-place.zarr surface_temperature
else
    echo "== Without xarray in ${PYTHON:-python3}, what it reads is not timed"
fi
