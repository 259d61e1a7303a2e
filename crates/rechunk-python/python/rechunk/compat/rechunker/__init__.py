"""Stands for the package `rechunker`: change the import, and the rest stays.

>>> from rechunk.compat import rechunker
>>> rechunker.rechunking_plan((8, 8), (1, 8), (8, 1), 4, 64)
((2, 8), (2, 2), (8, 2))

`rechunk` plans as this library does: where it needs no intermediate there is none, and then a missing
`temp_store` is no error. Sources that are graphs of Dask are refused.
"""

from __future__ import annotations

from rechunk.compat.rechunker.algorithm import multistage_rechunking_plan, rechunking_plan
from rechunk.compat.rechunker.api import Rechunked, rechunk

__all__ = ["Rechunked", "multistage_rechunking_plan", "rechunk", "rechunking_plan"]
