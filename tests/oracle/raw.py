"""NumPy writes and reads .npy files.

make DIRECTORY   writes arrays of many types, ranks and orders; prints [{"path", "sha256"}] as JSON
read             reads the files named by a JSON list on stdin; prints [{"dtype", "shape", "fortran", "sha256"}]

A digest is that of all elements in C order, little-endian.
"""

import hashlib
import json
import pathlib
import sys

import numpy

TYPES = ["b1", "i1", "u1", "i2", ">i2", "u2", "i4", ">u4", "i8", ">i8", "u8", "f2", ">f2", "f4", ">f4", "f8", ">f8",
         "c8", ">c16", "M8[ns]", "m8[s]", "S5", "U3", ">U2", "V7"]
SHAPES = [(), (7,), (5, 4), (3, 4, 5), (2, 3, 4, 5), (0, 3)]


def digest(array):
    order = array.dtype if array.dtype.byteorder in "|=<" else array.dtype.newbyteorder("<")
    return hashlib.sha256(numpy.ascontiguousarray(array).astype(order).tobytes()).hexdigest()


def make(directory):
    random = numpy.random.default_rng(7)
    made = []
    for number, name in enumerate(TYPES):
        dtype = numpy.dtype(name)
        for shape in SHAPES[number % 3:] if number % 3 else SHAPES:
            count = int(numpy.prod(shape))
            if dtype.kind == "b":
                array = random.integers(0, 2, count).astype("b1")
            elif dtype.kind == "U":
                array = numpy.array([chr(97 + n % 26) * (n % dtype.itemsize // 4 + 1) for n in range(count)], dtype)
            else:
                array = numpy.frombuffer(random.bytes(count * dtype.itemsize), dtype)
            array = array.reshape(shape)
            if number % 2:
                array = numpy.asfortranarray(array)
            path = pathlib.Path(directory) / f"{number}-{len(shape)}-{count}.npy"
            numpy.save(path, array)
            made.append({"path": str(path), "sha256": digest(array)})
    return made


def read(paths):
    for path in paths:
        array = numpy.load(path, allow_pickle=False)
        fortran = array.flags.f_contiguous and not array.flags.c_contiguous
        yield {"dtype": array.dtype.str, "shape": list(array.shape), "fortran": bool(fortran), "sha256": digest(array)}


if sys.argv[1] == "make":
    print(json.dumps(make(sys.argv[2])))
else:
    print(json.dumps(list(read(json.load(sys.stdin)))))
