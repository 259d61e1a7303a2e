#!/usr/bin/env bash
# zarr-python 3.1 does not find its way in consolidated metadata whose nodes stand in another order.
#
# It takes the nodes of one group from where they stand one after the other; of those that stand apart it keeps
# the last ones, or finds no group at all. Nothing says what the order is, and zarr-python itself sorts names
# without regard to case, so that the members of groups `A` and `a` mix: it does not find what it has written. In
# Zarr v2 and v3.
#
# Versions: zarr 3.1.6; 3.4.2 reads every order
# Source:   met when copies of trees, with all groups before the first array, were opened
# Expected output:
#
#   zarr 3.1.6
#   as written, A: ['z']
#   groups first, a: No group found in store 'groups.zarr' at path ''
#   zarr 3.4.2
#   as written, A: ['x', 'z']
#   groups first, a: ['b', 'x']
set -euo pipefail
self=$(realpath "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for python in "${PYTHON:-python3}" python3.14 python3.13 python3.12 "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3; do
    "$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && break
done
for version in 3.1.6 3.4.2; do
    "$python" -m venv "$folder/$version"
    "$folder/$version/bin/pip" install --quiet --disable-pip-version-check "zarr==$version"
done
cat >"$folder/look.py" <<'PROGRAM'
import json

import zarr


def write(path, version, arrays):
    root = zarr.open_group(path, mode="w", zarr_format=version)
    for name in arrays:
        root.create_array(name, shape=(1,), dtype="i1")
    zarr.consolidate_metadata(path)


def members(path, name):
    try:
        return sorted(zarr.open_group(path, mode="r", use_consolidated=True)[name])
    except FileNotFoundError as error:
        return error


print("zarr", zarr.__version__)
write("case.zarr", 3, ["A/x", "a/y", "A/z"])
print("as written, A:", members("case.zarr", "A"))

write("groups.zarr", 2, ["a/b/x", "a/x", "c/d/x"])
with open("groups.zarr/.zmetadata") as opened:
    document = json.load(opened)
of_groups = {key: value for key, value in document["metadata"].items() if key.endswith(".zgroup")}
document["metadata"] = {**of_groups, **document["metadata"]}
with open("groups.zarr/.zmetadata", "w") as opened:
    json.dump(document, opened)
print("groups first, a:", members("groups.zarr", "a"))
PROGRAM
cd "$folder"

seen=$(for version in 3.1.6 3.4.2; do "$version/bin/python" -W ignore look.py; done)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: zarr-python 3.1 reads consolidated metadata in another order. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
