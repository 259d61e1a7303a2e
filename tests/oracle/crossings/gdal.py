"""GDAL's Zarr driver, through rasterio."""

import rasterio
from common import digest, main, numbers

KEPT = ["--chunks", "32,32", "--format", "zarr2"]

# Name, type, what GDAL is told, what is told to the copy.
RASTERS = [
    ("v3", "float32", {"FORMAT": "ZARR_V3"}, ["--chunks", "60,50"]),
    ("v3-zstd", "uint16", {"FORMAT": "ZARR_V3", "COMPRESS": "ZSTD"}, ["--chunks", "10,10"]),
    ("v3-blosc", "int16", {"FORMAT": "ZARR_V3", "COMPRESS": "BLOSC"}, ["--chunks", "30,7"]),
    ("v3-gzip", "uint8", {"FORMAT": "ZARR_V3", "COMPRESS": "GZIP"}, ["--chunks", "32,32"]),
    ("v3-double", "float64", {"FORMAT": "ZARR_V3"}, ["--chunks", "8,10"]),
    ("v3-to-v2", "int32", {"FORMAT": "ZARR_V3"}, ["--chunks", "10,50", "--format", "zarr2"]),
    ("v2", "float32", {"FORMAT": "ZARR_V2"}, ["--chunks", "60,50"]),
    ("v2-zstd", "uint16", {"FORMAT": "ZARR_V2", "COMPRESS": "ZSTD"}, ["--chunks", "10,10"]),
    ("v2-blosc", "int16", {"FORMAT": "ZARR_V2", "COMPRESS": "BLOSC"}, ["--chunks", "30,7"]),
    ("v2-zlib", "uint8", {"FORMAT": "ZARR_V2", "COMPRESS": "ZLIB"}, ["--chunks", "32,32"]),
    ("v2-lzma", "int32", {"FORMAT": "ZARR_V2", "COMPRESS": "LZMA"}, KEPT),
    ("v2-to-v3", "float64", {"FORMAT": "ZARR_V2"}, ["--chunks", "10,50", "--format", "zarr3"]),
]


def write(directory):
    """Writes every raster."""
    cases = []
    for name, dtype, told, options in RASTERS:
        elements = numbers((60, 50), dtype)
        place = f"{directory}/{name}.zarr"
        with rasterio.open(
            place,
            "w",
            driver="Zarr",
            height=60,
            width=50,
            count=1,
            dtype=dtype,
            nodata=250,  # without one GDAL writes null for the fill value of v3, which nobody else takes
            BLOCKSIZE="16,16",
            **told,
        ) as raster:
            raster.write(elements, 1)
        # GDAL puts the array into a group, under the name of the file.
        source = f"{name}.zarr/{name}"
        cases.append({"name": name, "source": source, "options": options, "digest": digest(elements)})
    return cases


def read(_, path):
    """Reads an array as a raster."""
    with rasterio.open(f'ZARR:"{path}"') as raster:
        return digest(raster.read(1))


main(f"GDAL {rasterio.__gdal_version__} (rasterio {rasterio.__version__})", write, read)
