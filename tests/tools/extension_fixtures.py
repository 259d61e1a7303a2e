"""Makes fixtures/extensions: arrays with codecs that few implementations write, and references to TIFF files.

Beside each array or document NAME is NAME.elements: its elements as zarr-python reads them, C order, little-endian.
Needs Python 3.12, zarr 3.4.2, cast-value-rs 0.5, tifffile and imagecodecs 2026.10.10. Elements are computed, not random.
"""

import json
import pathlib
import shutil
import warnings

import imagecodecs.numcodecs
import imagecodecs.zarr
import numpy as np
import tifffile
import zarr
from zarr.codecs import CastValue, ScaleOffset, TransposeCodec, ZstdCodec

warnings.simplefilter("ignore")
imagecodecs.numcodecs.register_codecs(verbose=False)
imagecodecs.zarr.register_codecs(verbose=False)
OUT = pathlib.Path(__file__).parents[2] / "fixtures/extensions"
NAN_MAP = {"encode": [("NaN", 0)], "decode": [(0, "NaN")]}
REFLECTANCE = [ScaleOffset(offset=-0.1, scale=10000), CastValue(data_type="uint16", scalar_map=NAN_MAP)]


def elements(path, array):
    little = array.astype(array.dtype.newbyteorder("<"))
    pathlib.Path(f"{path}.elements").write_bytes(little.tobytes())


def zarr_array(name, dtype, filters, fill, values, missing=(), **how):
    how = {"chunks": (4, 5), **how}
    path = OUT / name
    array = zarr.create_array(
        str(path), shape=values.shape, dtype=dtype, filters=filters, fill_value=fill, zarr_format=3,
        dimension_names=["y", "x"], compressors=how.pop("compressors", [ZstdCodec(level=1)]), **how,
    )
    array[...] = values
    for key in missing:
        (path / key).unlink()
    elements(path, zarr.open_array(str(path), mode="r")[...])


def zarr_arrays():
    grid = np.arange(9 * 11).reshape(9, 11)
    reflectance = (grid * 0.0123 - 0.05).astype("f4")
    reflectance[2:4, 3:9] = np.nan
    zarr_array("reflectance.zarr", "f4", REFLECTANCE, np.nan, reflectance, missing=["c/1/1"])
    zarr_array("reflectance_shards.zarr", "f4", REFLECTANCE, np.nan, reflectance, shards=(8, 10))
    zarr_array("reflectance_raw.zarr", "f4", REFLECTANCE, np.nan, reflectance, compressors=[])
    integers = (grid.astype("u2") % 200) + 1000
    zarr_array("integers.zarr", "u2", [ScaleOffset(offset=1000), CastValue(data_type="uint8")], 1000, integers)
    turned = [TransposeCodec(order=(1, 0)), ScaleOffset(offset=0, scale=100), CastValue(data_type="int16")]
    zarr_array("turned.zarr", "f8", turned, 0, np.round(grid * 0.37 - 12, 2), missing=["c/0/0"])
    clamped = CastValue(data_type="int8", rounding="towards-negative", out_of_range="clamp")
    zarr_array("clamped.zarr", "f2", [clamped], 0, (grid * 3.3 - 150).astype("f2"))
    wrapped = CastValue(data_type="uint8", out_of_range="wrap")
    zarr_array("wrapped.zarr", "i4", [wrapped], 0, grid * 7 - 300)
    # 32 bits are stored: they cannot all be tried.
    zarr_array("wide.zarr", "f8", [ScaleOffset(offset=0.1, scale=1000), CastValue(data_type="int32")], 0.1, grid * 0.123)
    zarr_array("scaled_floats.zarr", "f4", [ScaleOffset(offset=0.1, scale=3)], 0.1, (grid * 0.7).astype("f4"))
    shards_behind_filters()


def shards_behind_filters():
    """The same elements with the filters before the shard, not in it: its missing chunks hold the encoded fill value."""
    inner, path = OUT / "reflectance_shards.zarr", OUT / "filters_before_shards.zarr"
    grid = np.full((8, 10), np.nan, "f4")
    grid[:4, :5] = np.arange(20).reshape(4, 5) * 0.01
    zarr_array(path.name, "f4", REFLECTANCE, np.nan, grid, shards=(8, 10))
    document = json.loads((path / "zarr.json").read_text())
    shard = document["codecs"][0]
    filters = shard["configuration"]["codecs"][:2]
    del shard["configuration"]["codecs"][:2]
    document["codecs"] = [*filters, shard]
    (path / "zarr.json").write_text(json.dumps(document))
    elements(path, zarr.open_array(str(path), mode="r")[...])
    assert inner.exists()


def tiff(name, values, version=2, **how):
    path = OUT / f"{name}.tif"
    tifffile.imwrite(path, values, photometric="minisblack", software=False, **how)
    with tifffile.TiffFile(path) as file, file.series[0].aszarr() as store:
        document = OUT / f"{name}.json"
        store.write_fsspec(document, "", version=1, zarr_format=version)
        references = json.loads(document.read_text())
        document.write_text(json.dumps(references, indent=1) + "\n")
        elements(document, file.asarray())


def tiffs():
    grid = (np.arange(32 * 48).reshape(32, 48) % 199).astype("u2") * 131
    tile = {"tile": (16, 16)}
    tiff("lzw", grid, compression="lzw", **tile)
    tiff("lzw_delta", grid, compression="lzw", predictor=True, **tile)
    tiff("zstd", grid, compression="zstd", **tile)
    tiff("zstd_delta_big", grid, compression="zstd", predictor=True, byteorder=">", **tile)
    tiff("deflate_delta", grid.astype("i4") * -70000, compression="deflate", predictor=True, **tile)
    tiff("packbits", (grid // 131 // 40).astype("u1"), compression="packbits", **tile)
    tiff("lzma_float", (grid / 7).astype("f4"), compression="lzma", predictor=3, **tile)
    tiff("lzw_float_big", grid / 7, compression="lzw", predictor=3, byteorder=">", **tile)
    rgb = np.stack([grid % 251, grid % 241, grid % 239], -1).astype("u1")
    tiff("lzw_delta_rgb", rgb, compression="lzw", predictor=True, planarconfig="contig", extrasamples=(0, 0), **tile)
    tiff("strips_delta", (grid - 9000).astype("i2"), compression="zstd", predictor=True, rowsperstrip=8)
    tiff("lzw_delta_v3", grid, 3, compression="lzw", predictor=True, **tile)
    tiff("zlib_float_v3", (grid / 7).astype("f4"), 3, compression="zlib", predictor=3, **tile)
    tiff("packbits_big_v3", grid, 3, compression="packbits", byteorder=">", **tile)


shutil.rmtree(OUT, ignore_errors=True)
OUT.mkdir()
zarr_arrays()
tiffs()
