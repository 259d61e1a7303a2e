"""rechunk from Python: `copy` in this process, or a plan for the workers of an engine."""

import contextlib

import job


def main():
    given = job.words()
    with contextlib.ExitStack() as started:
        executor = given.engine
        if given.engine == "dask":
            executor = started.enter_context(job.cluster(given.workers))
        with job.timed():
            import rechunk

            request = {"chunks": given.chunks, "codec": given.codec, "format": "zarr2", "temp": given.temp, "max_mem": given.max_mem}
            if given.engine == "copy":
                # One process that has what all workers have.
                request["max_mem"] *= given.workers
                rechunk.copy(given.source, given.target, **request, threads=given.workers, no_fsync=True)
            else:
                plan = rechunk.plan(given.source, given.target, **request, threads=1, workers=given.workers)
                plan.execute(executor, temp=given.temp, no_fsync=True)


if __name__ == "__main__":
    main()
