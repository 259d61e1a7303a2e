#!/usr/bin/env bash
# igneous loses most of a volume that it copies into shards, where a task has less memory than a shard.
#
# `igneous image xfer --sharded` is for "copy, re-encode, or shard an image layer", and its help says to use `--memory` "to
# automatically compute a reasonable task shape based on your memory limits". With less than a shard takes, there are
# several tasks, while the volume is described with shards as large as before: each task writes the file of the whole shard with
# its own chunks in it, and the last one remains. Nothing is said, and the exit code is 0. CloudVolume then finds no
# such chunks (an error, or zeros with `fill_missing`), and TensorStore reads zeros. Without `--memory` all is right.
#
# What should be: every voxel of the source is in the target, in shards that fit the tasks; or an error.
#
# Versions: igneous-pipeline 4.37.0, cloud-volume 12.15.2, tensorstore 0.1.86
# Source:   met when shards of igneous were compared with their source before a race; no thread known
# Expected output:
#
#   no --memory: exit code 0, tasks 1, shard files 1, CloudVolume lacks 0 of 64 chunks, TensorStore reads 0 of 64 as zeros
#   --memory 1000000: exit code 0, tasks 4, shard files 1, CloudVolume lacks 48 of 64 chunks, TensorStore reads 48 of 64 as zeros
#   --memory 250000: exit code 0, tasks 8, shard files 1, CloudVolume lacks 56 of 64 chunks, TensorStore reads 56 of 64 as zeros
set -euo pipefail
self=$(realpath "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for python in "${PYTHON:-python3}" python3.14 python3.13 python3.12 "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3; do
    "$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && break
done
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check igneous-pipeline==4.37.0 cloud-volume==12.15.2 tensorstore==0.1.86
cd "$folder"

seen=$(venv/bin/python -W ignore - 2>/dev/null <<'PROGRAM'
import itertools
import os
import re
import subprocess

import numpy
import tensorstore
from cloudvolume import CloudVolume

here = os.getcwd()
info = CloudVolume.create_new_info(
    num_channels=1, layer_type="image", data_type="uint8", encoding="raw", resolution=[8, 8, 8], voxel_offset=[0, 0, 0],
    chunk_size=[32, 32, 32], volume_size=[128, 128, 128],
)
source = CloudVolume(f"file://{here}/source", info=info, compress=False, progress=False)
source.commit_info()
source.commit_provenance()
elements = numpy.random.default_rng(0).integers(1, 255, (128, 128, 128), dtype="uint8")
source[:, :, :] = elements


def wrong(read):
    """The chunks that are not those of the source."""
    starts = itertools.product(range(0, 128, 32), repeat=3)
    boxes = (tuple(slice(start, start + 32) for start in each) for each in starts)
    return sum(not numpy.array_equal(read[box], elements[box]) for box in boxes)


for number, memory in enumerate((None, 1_000_000, 250_000)):
    target = f"{here}/target-{number}"
    words = ["venv/bin/igneous", "-p", "1", "image", "xfer", f"file://{here}/source", f"file://{target}", "--sharded"]
    words += ["--skip-downsample", "--no-src-update"] + (["--memory", str(memory)] if memory else [])
    done = subprocess.run(words, capture_output=True, text=True)
    tasks = re.findall(r"\d+/(\d+) \[", done.stdout + done.stderr)[-1]
    shards = len(os.listdir(f"{target}/8_8_8"))
    volume = CloudVolume(f"file://{target}", progress=False, fill_missing=True)
    lacking = wrong(volume[:, :, :][..., 0])
    spec = {"driver": "neuroglancer_precomputed", "kvstore": {"driver": "file", "path": target}}
    zeros = wrong(tensorstore.open(spec).result().read().result()[..., 0])
    print(
        f"{f'--memory {memory}' if memory else 'no --memory'}: exit code {done.returncode}, tasks {tasks}, shard files {shards}, "
        f"CloudVolume lacks {lacking} of 64 chunks, TensorStore reads {zeros} of 64 as zeros"
    )
PROGRAM
)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: what igneous writes into shards with little memory. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
