"""Takes bright specks smaller than 3 × 3 × 3 out of a volume: `despeckle.py IN.npy OUT.npy`.

The program of somebody who knows nothing of chunks: it reads an array, and writes one of the same shape. It is a grey-level opening:
the least of the 27 voxels around each, and of that the largest.
"""

import sys

import numpy


def around(volume, pick):
    """The least or largest of three neighbours along each axis in turn; the border is repeated."""
    for axis in range(volume.ndim):
        padded = numpy.pad(volume, [(1, 1) if axis == own else (0, 0) for own in range(volume.ndim)], mode="edge")
        windows = numpy.lib.stride_tricks.sliding_window_view(padded, 3, axis=axis)
        volume = pick(pick(windows[..., 0], windows[..., 1]), windows[..., 2])
    return volume


numpy.save(sys.argv[2], around(around(numpy.load(sys.argv[1]), numpy.minimum), numpy.maximum))
