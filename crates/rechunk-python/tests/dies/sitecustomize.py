"""Kills a worker in the middle of a plan: the first that is given share 2 of stage 0.

For tests, by PYTHONPATH: each Python that an engine starts imports it.
"""

import os
import signal

FLAG = os.environ.get("RECHUNK_TEST_DIES")

if FLAG:
    from rechunk.engines import worker

    run_part = worker.run_part

    def dies_once(work, stage, index, of, *more):
        if (stage, index) == (0, 2):
            try:
                open(FLAG, "x").close()
            except FileExistsError:
                pass
            else:
                os.kill(os.getpid(), signal.SIGKILL)
        return run_part(work, stage, index, of, *more)

    worker.run_part = dies_once
