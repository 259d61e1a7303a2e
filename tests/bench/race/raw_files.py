"""Raw block files for rechunk: an uncompressed Zarr v2 array whose chunks divide the shape is such files, but for its metadata."""

import json
import os
import pathlib


def source(place):
    """The chunks of the Zarr v2 array at `place` as a directory of raw files, made of links; its path."""
    zarr, raw = pathlib.Path(place), pathlib.Path(place).parent / "raw"
    if (raw / "array.json").exists():
        return str(raw)
    raw.mkdir(exist_ok=True)
    metadata = json.loads((zarr / ".zarray").read_text())
    names = [name for name in os.listdir(zarr) if not name.startswith(".")]
    for name in names:
        os.link(zarr / name, raw / f"{name}.bin")
    key = ".".join(f"{{{axis}}}" for axis in range(len(metadata["shape"]))) + ".bin"
    described = {"shape": metadata["shape"], "data_type": {"<u2": "uint16"}[metadata["dtype"]], "endian": "little", "order": "C",
                 "chunk_shape": metadata["chunks"], "key": key, "offset_bytes": 0}
    (raw / "array.json").write_text(json.dumps(described))
    return str(raw)


def as_zarr(place):
    """Raw files that were written to `place`, beside it as a Zarr v2 array, to be verified; its path."""
    raw, zarr = pathlib.Path(place), pathlib.Path(f"{place}.as-zarr")
    described = json.loads((raw / "array.json").read_text())
    zarr.mkdir()
    for file in raw.iterdir():
        if file.suffix == ".bin":
            os.link(file, zarr / file.stem.replace("_", "."))
    metadata = {"zarr_format": 2, "shape": described["shape"], "chunks": described["chunk_shape"], "dtype": "<u2", "compressor": None,
                "fill_value": 0, "order": "C", "filters": None, "dimension_separator": "."}
    (zarr / ".zarray").write_text(json.dumps(metadata))
    return str(zarr)
