"""Writes an Icechunk repository with the package icechunk, and says what zarr-python reads in it.

    icechunk_repo.py PLACE VIRTUAL
    icechunk_repo.py --virtual PLACE
    icechunk_repo.py --digests PLACE...

PLACE is a directory that is not there, or `s3://BUCKET/PREFIX` (then AWS_ENDPOINT_URL names the server); VIRTUAL is the URL
of a directory with a file `virtual.bin` in it, which chunks outside of the repository are of: `file:///…/` or
`s3://BUCKET/…/`. With READABLE=0 nobody asks for that file. On standard output comes JSON: for each version, as a location
names it, SHA-256 of the elements of each array, little-endian, in C order.

The second form writes `virtual.bin`; the third says what zarr-python reads in groups of Zarr.

The program runs with icechunk 1.0 (which writes version 1 of the format) and with icechunk 2 (version 2).
"""

import hashlib
import json
import os
import sys
from datetime import datetime, timezone

import icechunk
import numpy as np
import zarr

IS_2 = int(icechunk.__version__.split(".")[0]) >= 2
ROWS, COLUMNS = 48, 64
# Chunks of virtual.bin: this many of one row each.
VIRTUAL = 40
VIRTUAL_BYTES = 16


def values(seed, shape, dtype):
    """Numbers that do not repeat, the same whenever and wherever."""
    count = int(np.prod(shape))
    numbers = (np.arange(count, dtype=np.uint64) + seed) * np.uint64(0x9E3779B97F4A7C15)
    return (numbers >> np.uint64(40)).astype(dtype).reshape(shape)


def virtual_bytes():
    return values(99, (VIRTUAL * VIRTUAL_BYTES,), "u1").tobytes()


def storage_at(place):
    if place.startswith("s3://"):
        bucket, _, prefix = place[5:].partition("/")
        endpoint = os.environ["AWS_ENDPOINT_URL"]
        return icechunk.s3_storage(
            bucket=bucket, prefix=prefix, region="us-east-1", endpoint_url=endpoint, allow_http=True,
            force_path_style=True, access_key_id="test", secret_access_key="test",
        )
    return icechunk.local_filesystem_storage(place)


def container_of(virtual):
    if virtual.startswith("file://"):
        store = icechunk.local_filesystem_store(virtual.removeprefix("file://"))
        credentials = icechunk.credentials.LocalFileSystemAccess if IS_2 else None
    else:
        endpoint = os.environ.get("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
        store = icechunk.s3_store(region="us-east-1", endpoint_url=endpoint, allow_http=True, s3_compatible=True,
                                  force_path_style=True)
        credentials = icechunk.s3_static_credentials(access_key_id="test", secret_access_key="test")
    return icechunk.VirtualChunkContainer(virtual, store), credentials


def config(virtual):
    config = icechunk.RepositoryConfig.default()
    config.inline_chunk_threshold_bytes = 256
    condition = icechunk.ManifestSplitCondition.name_matches("split")
    rows = {icechunk.ManifestSplitDimCondition.Axis(0): 1}
    splitting = icechunk.ManifestSplittingConfig.from_dict({condition: rows})
    packing = {}
    if IS_2:
        packing["virtual_chunk_location_compression"] = icechunk.ManifestVirtualChunkLocationCompressionConfig(
            min_num_chunks=20
        )
    config.manifest = icechunk.ManifestConfig(splitting=splitting, **packing)
    container, credentials = container_of(virtual)
    config.set_virtual_chunk_container(container)
    return config, icechunk.containers_credentials({virtual: credentials})


def first_commit(repo, virtual):
    session = repo.writable_session("main")
    root = zarr.group(session.store, attributes={"title": "invented"})
    root.create_group("empty")
    group = root.create_group("weather/daily", attributes={"units": "none"})
    native = group.create_array(
        "native", shape=(ROWS, COLUMNS), chunks=(16, 32), dtype="f4", fill_value=-1, dimension_names=["y", "x"]
    )
    native[:] = values(1, native.shape, "f4")
    split = group.create_array("split", shape=(ROWS, COLUMNS), chunks=(16, 16), dtype="u2", fill_value=7)
    split[:32] = values(2, (32, COLUMNS), "u2")  # the last row of chunks is missing
    inline = root.create_array("inline", shape=(10, 3), chunks=(4, 3), dtype="i2", fill_value=0, compressors=None)
    inline[:] = values(3, inline.shape, "i2")
    sharded = root.create_array(
        "sharded", shape=(ROWS, COLUMNS), shards=(32, 32), chunks=(8, 16), dtype="i4", fill_value=0
    )
    sharded[:, :40] = values(4, (ROWS, 40), "i4")
    scalar = root.create_array("scalar", shape=(), dtype="f8", fill_value=0)
    scalar[()] = 2.5
    root.create_array("never", shape=(8,), chunks=(2,), dtype="u1", fill_value=9)
    outside = root.create_array(
        "outside", shape=(VIRTUAL, VIRTUAL_BYTES), chunks=(1, VIRTUAL_BYTES), dtype="u1", fill_value=3, compressors=None
    )
    written = datetime.now(timezone.utc).replace(microsecond=0)
    for row in range(VIRTUAL):
        if row % 10 == 7:
            continue
        last_updated = written if row % 2 else None
        session.store.set_virtual_ref(
            f"outside/c/{row}/0", f"{virtual}virtual.bin", offset=row * VIRTUAL_BYTES, length=VIRTUAL_BYTES,
            checksum=last_updated, validate_container=False,
        )
    del outside
    return session.commit("first")


def change(repo, branch, seed, message):
    session = repo.writable_session(branch)
    root = zarr.open_group(session.store, mode="r+")
    root["weather/daily/native"][:16, :32] = values(seed, (16, 32), "f4")
    if branch == "other":
        del root["inline"]
        added = root.create_array("added", shape=(5,), chunks=(2,), dtype="i8", fill_value=0)
        added[:] = values(seed, (5,), "i8")
    return session.commit(message)


def digest(rows):
    rows = np.ascontiguousarray(rows)
    return hashlib.sha256(rows.astype(rows.dtype.newbyteorder("<")).tobytes()).hexdigest()


def digests(store):
    found = {}
    for path, array in sorted(zarr.open_group(store, mode="r").members(max_depth=None)):
        if not isinstance(array, zarr.Array):
            continue
        if path == "outside" and os.environ.get("READABLE") == "0":
            rows = np.frombuffer(virtual_bytes(), "u1").reshape(VIRTUAL, VIRTUAL_BYTES).copy()
            rows[7::10] = 3
            found[path] = digest(rows)
        else:
            found[path] = digest(array[...])
    return found


def main(place, virtual):
    settings, access = config(virtual)
    repo = icechunk.Repository.create(storage_at(place), config=settings, authorize_virtual_chunk_access=access)
    first = first_commit(repo, virtual)
    repo.create_tag("v1", first)
    repo.create_tag("gone", first)
    repo.delete_tag("gone")
    repo.create_branch("other", first)
    repo.create_branch("old", first)
    change(repo, "other", 11, "other")
    second = change(repo, "main", 12, "second")

    def read(**version):
        return digests(repo.readonly_session(**version).store)

    versions = {
        "": read(branch="main"),
        "#branch=main": read(branch="main"),
        "#branch=other": read(branch="other"),
        "#branch=old": read(branch="old"),
        "#tag=v1": read(tag="v1"),
        f"#snapshot={first}": read(snapshot_id=first),
        f"#snapshot={second}": read(snapshot_id=second),
    }
    print(json.dumps(versions, indent=1, sort_keys=True))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--virtual", place]:
            with open(place, "wb") as file:
                file.write(virtual_bytes())
        case ["--digests", *places]:
            print(json.dumps([digests(zarr.storage.LocalStore(place, read_only=True)) for place in places]))
        case arguments:
            main(*arguments)
