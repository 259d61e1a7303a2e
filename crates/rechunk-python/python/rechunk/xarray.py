"""Accessor of xarray: `import rechunk.xarray`, then `ds.rechunk_store.to_zarr(...)`.

For data sets that were opened from Zarr: the store is copied chunk by chunk, and nothing goes through
Python. What was computed since it was opened is refused, not left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import xarray

from rechunk.planned import Report
from rechunk.rechunking import rechunk


@xarray.register_dataset_accessor("rechunk_store")
class RechunkStore:
    """Re-cuts the store of a data set."""

    def __init__(self, data: Any) -> None:
        """Is called by xarray."""
        self._data = data

    def to_zarr(
        self,
        store: Any,
        chunks: Mapping[str, Any],
        *,
        max_mem: int | str = "512MiB",
        temp: Any = None,
        executor: Any = None,
        overwrite: bool = False,
    ) -> Report:
        """Writes the data set to `store`, cut into `chunks` (by dimension or by variable).

        Opened again it is `identical` to this one. Returns the report of the run.
        """
        done = rechunk(self._data, chunks, max_mem, store, temp_store=temp, executor=executor)
        done.overwrite = overwrite
        done.execute(opened=False)
        assert done.report is not None
        return done.report
