"""Digests of the fixtures: `--check` compares them with fixtures/SHA256.json, without it writes that file.

Run it with an oracle's Python: .venv-oracle-z3/bin/python tests/tools/fixture_digests.py --check
"""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests/oracle"))
from read import read  # noqa: E402

FIXTURES = ROOT / "fixtures"
# Codecs that only zarr-python has; tensorstore is not asked.
ZARR_ONLY = {"upstream/zarrita/v3/1d.contiguous.delta.i4"}


def digest_of(directory):
    formats = [number for name, number in [(".zarray", 2), ("zarr.json", 3)] if (directory / name).exists()]
    name = str(directory.relative_to(FIXTURES))
    readers = ["zarr"] if name in ZARR_ONLY else ["zarr", "tensorstore"]
    jobs = [
        {"path": str(directory), "reader": reader, "format": number} for reader in readers for number in formats
    ]
    # tensorstore refuses the "checksum": false that numcodecs writes; that is no verdict on the elements.
    answers = [answer for answer in map(read, jobs) if '"checksum"' not in answer.get("error", "")]
    digests = {answer.get("sha256") or answer["error"] for answer in answers}
    if len(digests) != 1:
        sys.exit(f"{name}: the readers do not agree: {digests}")
    return name, digests.pop()


def is_array(directory):
    if (directory / ".zarray").exists():
        return True
    document = directory / "zarr.json"
    return document.exists() and json.loads(document.read_text())["node_type"] == "array"


found = dict(sorted(digest_of(path) for path in FIXTURES.rglob("*") if path.is_dir() and is_array(path)))
record = FIXTURES / "SHA256.json"
if "--check" not in sys.argv:
    record.write_text(json.dumps(found, indent=1) + "\n")
elif json.loads(record.read_text()) != found:
    sys.exit("fixtures/SHA256.json does not describe the fixtures")
print(f"{len(found)} arrays")
