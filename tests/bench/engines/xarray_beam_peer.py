"""xarray-beam on Beam."""

import os

import apache_beam
import numcodecs
import xarray_beam

import job


def main():
    given = job.words()
    blosc = numcodecs.Blosc(cname="lz4", clevel=5, shuffle=1)
    group, name = os.path.split(given.source)
    options = job.beam_options(given.workers)
    with job.timed():
        # Elements as they are stored: no fill value becomes NaN.
        dataset, source_chunks = xarray_beam.open_zarr(group, mask_and_scale=False, consolidated=False)
        # It writes this one by itself, and takes the attribute for another.
        dataset[name].attrs.pop("_FillValue", None)
        dims = dataset[name].dims
        target_chunks = dict(zip(dims, given.chunks))
        template = xarray_beam.make_template(dataset)
        with apache_beam.Pipeline(options=options) as pipeline:
            (pipeline
             | xarray_beam.DatasetToChunks(dataset, source_chunks)
             | xarray_beam.Rechunk(dataset.sizes, source_chunks, target_chunks, itemsize=dataset[name].dtype.itemsize,
                                   max_mem=given.max_mem)
             | xarray_beam.ChunksToZarr(os.path.dirname(given.target), template, target_chunks, zarr_format=2,
                                        encoding={name: {"compressors": [blosc]}}))


if __name__ == "__main__":
    main()
