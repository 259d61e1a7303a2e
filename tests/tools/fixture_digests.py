"""Digests of the fixtures: `--check` compares them with fixtures/SHA256.json and fixtures/n5/SHA256.json, without
it writes those files.

Run it with an oracle's Python: .venv-oracle-z3/bin/python tests/tools/fixture_digests.py --check
"""

import json
import pathlib
import shutil
import sys
import tempfile

import tensorstore

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests/oracle"))
from read import digest, read  # noqa: E402

FIXTURES = ROOT / "fixtures"
# Codecs that only zarr-python has; tensorstore is not asked.
ZARR_ONLY = {"upstream/zarrita/v3/1d.contiguous.delta.i4"}
# A grid that is newer than these readers.
UNREAD = {"plan_version_2/plans/lengths.zarr"}


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
    # Their codecs are newer than these readers; what they hold lies beside them, in `NAME.elements`.
    name = directory.relative_to(FIXTURES)
    if "extensions" in name.parts or str(name) in UNREAD:
        return False
    if (directory / ".zarray").exists():
        return True
    document = directory / "zarr.json"
    return document.exists() and json.loads(document.read_text())["node_type"] == "array"


def is_n5_array(directory):
    """True where tensorstore can read it: it has no lz4. Beside those arrays is one that holds the same."""
    document = directory / "attributes.json"
    document = json.loads(document.read_text()) if document.exists() else {}
    return "dimensions" in document and document.get("compression", {}).get("type") != "lz4"


def n5_digest_of(directory):
    """As tensorstore reads it, N5's axes reversed; a compression that version 1 names is said as it is today."""
    with tempfile.TemporaryDirectory() as temporary:
        copy = pathlib.Path(temporary) / "copy"
        shutil.copytree(directory, copy)
        document = json.loads((copy / "attributes.json").read_text())
        if "compressionType" in document:
            document["compression"] = {"type": document.pop("compressionType")}
            (copy / "attributes.json").write_text(json.dumps(document))
        spec = {"driver": "n5", "kvstore": {"driver": "file", "path": str(copy)}}
        return str(directory.relative_to(N5)), digest(tensorstore.open(spec).result().read().result().T)


def check_or_write(record, found):
    if "--check" not in sys.argv:
        record.write_text(json.dumps(found, indent=1) + "\n")
    elif json.loads(record.read_text()) != found:
        sys.exit(f"{record.relative_to(ROOT)} does not describe the fixtures")
    print(f"{len(found)} arrays")


N5 = FIXTURES / "n5"
folders = [path for path in FIXTURES.rglob("*") if path.is_dir()]
check_or_write(FIXTURES / "SHA256.json", dict(sorted(digest_of(path) for path in folders if is_array(path))))
n5_arrays = [path for path in folders if path.is_relative_to(N5) and is_n5_array(path)]
check_or_write(N5 / "SHA256.json", dict(sorted(map(n5_digest_of, n5_arrays))))
