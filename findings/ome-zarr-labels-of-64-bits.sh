#!/usr/bin/env bash
# ome-zarr-py and ngff-zarr give large labels other numbers in the lower levels of a pyramid.
#
# Both are told to use what is meant for labels: the nearest element, which is the default of `write_labels`, and a method
# which the documentation calls one for label images. But the elements pass through a double, and labels beyond 2^53, as the
# segmentations of FlyWire and MICrONS have, are rounded: objects become one, or get a label that level 0 does not have.
# Another method of ngff-zarr for labels, DASK_IMAGE_MODE, keeps them.
#
# Versions: ome-zarr 0.21.0, scikit-image 0.26.0, ngff-zarr 0.50.0, itkwasm-downsample 2.0.2, zarr 3.4.2
# Source:   met when pyramids of labels were made by several writers; ome-zarr-py#482, of interpolated labels, is closed
# Expected output:
#
#   labels 4294967296 ... 4294967299 last digits [7296, 7297, 7298, 7299]
#     ome-zarr-py [7296, 7297, 7298, 7299]
#     ngff-zarr label_image [7296, 7297, 7298, 7299]
#     ngff-zarr mode [7296, 7297, 7298, 7299]
#   labels 9007199254740992 ... 9007199254740995 last digits [992, 993, 994, 995]
#     ome-zarr-py [992, 994, 995]
#     ngff-zarr label_image [992, 994, 996]
#     ngff-zarr mode [992, 993, 994, 995]
#   labels 720575940600000001 ... 720575940600000004 last digits [1, 2, 3, 4]
#     ome-zarr-py [1]
#     ngff-zarr label_image [0]
#     ngff-zarr mode [1, 2, 3, 4]
set -euo pipefail
self=$(realpath "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for python in "${PYTHON:-python3}" python3.14 python3.13 python3.12 "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3; do
    "$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && break
done
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check ome-zarr==0.21.0 scikit-image==0.26.0 ngff-zarr==0.50.0 \
    itkwasm-downsample==2.0.2 zarr==3.4.2
cd "$folder"

seen=$(venv/bin/python -W ignore - <<'PROGRAM'
import ngff_zarr
import numpy as np
import zarr
from ome_zarr.writer import write_image, write_labels


def by_ome_zarr(labels, path):
    write_image(np.zeros(labels.shape, dtype="u1"), path, axes="yx", scale_factors=(2,))
    write_labels(labels, path, name="a", axes="yx", scale_factors=(2,))
    return zarr.open_group(f"{path}/labels/a", mode="r")["s1"][...]


def by_ngff_zarr(labels, method):
    scale, translation = {"y": 1, "x": 1}, {"y": 0, "x": 0}
    image = ngff_zarr.to_ngff_image(labels, dims=["y", "x"], scale=scale, translation=translation)
    return ngff_zarr.to_multiscales(image, scale_factors=[2], method=method).images[1].data.compute()


def last_digits(found):
    return [int(label) % 10000 for label in np.unique(found)]


for first in [2**32, 2**53, 720575940600000001]:
    labels = np.array([[first, first + 1], [first + 2, first + 3]], dtype="u8").repeat(8, 0).repeat(8, 1)
    print("labels", first, "...", first + 3, "last digits", last_digits(labels))
    print("  ome-zarr-py", last_digits(by_ome_zarr(labels, f"{first}.zarr")))
    print("  ngff-zarr label_image", last_digits(by_ngff_zarr(labels, ngff_zarr.Methods.ITKWASM_LABEL_IMAGE)))
    print("  ngff-zarr mode", last_digits(by_ngff_zarr(labels, ngff_zarr.Methods.DASK_IMAGE_MODE)))
PROGRAM
)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: pyramids of large labels have other labels in lower levels. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
