"""Small arrays of NumPy as sources and targets: they go through a `.npy` file in a private directory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rechunk.errors import UsageError

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

ARRAY_BYTES_MAX = 1 << 30
"""Most bytes of an array that is taken: it is in memory, and on the disk (in `TMPDIR`) once more."""


def is_array(value: Any) -> bool:
    """Says whether `value` is an array of NumPy; imports nothing.

    >>> is_array("sst.zarr")
    False
    """
    return any(kind.__module__ == "numpy" and kind.__name__ == "ndarray" for kind in type(value).__mro__)


def check(array: Any, role: str) -> None:
    """Refuses what no file of NumPy can hold, and what is too large to be held twice."""
    if hasattr(array, "mask"):
        raise UsageError(
            f"the {role} is a masked array, whose mask would be lost",
            hint="give array.filled(value), or array.data",
        )
    if array.dtype.hasobject:
        raise UsageError(
            f"the {role} is an array of Python objects", hint="give numbers, or texts of a fixed length ('U8')"
        )
    if array.nbytes > ARRAY_BYTES_MAX:
        raise UsageError(
            f"the {role} is an array of {array.nbytes} bytes in memory, the most is {ARRAY_BYTES_MAX}",
            hint="write it with numpy.save, and give the path; or as a Zarr array, chunk by chunk",
        )


def spilled(value: Any) -> tuple[Any, TemporaryDirectory[str] | None]:
    """Writes an array to a file, whose path it returns, with the directory that is to be held.

    What is no array is returned as it is.
    """
    if not is_array(value):
        return value, None
    import numpy

    check(value, "source")
    folder = directory()
    path = os.path.join(folder.name, "source.npy")
    numpy.save(path, value, allow_pickle=False)
    return path, folder


def directory() -> TemporaryDirectory[str]:
    """Makes a private directory, which is removed with what is returned."""
    from tempfile import TemporaryDirectory

    return TemporaryDirectory(prefix="rechunk-array-", ignore_cleanup_errors=True)


@contextmanager
def filled(array: Any) -> Iterator[str]:
    """Gives the path of a file to be written; its elements are in `array` if nothing was raised.

    Until the file is whole, the array is as it was.
    """
    import numpy

    check(array, "target")
    if not array.flags.writeable:
        raise UsageError("the target is an array that cannot be written", hint="give array.copy()")
    with directory() as folder:
        path = os.path.join(folder, "target.npy")
        yield path
        found = numpy.load(path, mmap_mode="r", allow_pickle=False)
        if found.dtype.newbyteorder("=") != array.dtype.newbyteorder("="):
            raise UsageError(
                f"the target has the data type {array.dtype}, the source {found.dtype}",
                hint=f"give an array of {found.dtype}, or cast=",
            )
        array[...] = found


def check_shape(array: Any, shape: list[int]) -> None:
    """Refuses a target of another shape than what is copied."""
    if tuple(shape) != array.shape:
        raise UsageError(
            f"the target has the shape {array.shape}, and {tuple(shape)} is copied",
            hint=f"give numpy.empty({tuple(shape)}, …), or select= the part that the target holds",
        )
