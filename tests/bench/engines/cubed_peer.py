"""cubed on Dask."""

import cubed
import numcodecs
import zarr

import job


def main():
    given = job.words()
    blosc = numcodecs.Blosc(cname="lz4", clevel=5, shuffle=1)
    with job.cluster(given.workers) as client, job.timed():
        # It would start a cluster of its own, if it were not told the address.
        settings = {"compute_kwargs": {"address": client.scheduler.address}}
        between = {"name": "blosc", "configuration": {"cname": "lz4", "clevel": 5, "shuffle": "shuffle"}}
        spec = cubed.Spec(work_dir=given.temp, allowed_mem=given.max_mem, reserved_mem=0, executor_name="dask",
                          executor_options=settings, zarr_compressor=between)
        source = cubed.from_zarr(given.source, spec=spec)
        target = zarr.create_array(given.target, shape=source.shape, chunks=given.chunks, dtype=source.dtype, zarr_format=2,
                                   compressors=blosc)
        cubed.store(source.rechunk(given.chunks), target)


if __name__ == "__main__":
    main()
