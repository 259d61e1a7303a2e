"""rechunker on Dask."""

import numcodecs
import rechunker
import zarr

import job


def main():
    given = job.words()
    blosc = numcodecs.Blosc(cname="lz4", clevel=5, shuffle=1)
    with job.cluster(given.workers), job.timed():
        source = zarr.open(given.source, mode="r")
        plan = rechunker.rechunk(source, given.chunks, given.max_mem, given.target, temp_store=f"{given.temp}/rechunker.zarr",
                                 target_options={"compressor": blosc}, temp_options={"compressor": blosc}, executor="dask")
        plan.execute()


if __name__ == "__main__":
    main()
