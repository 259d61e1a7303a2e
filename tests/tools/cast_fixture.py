"""Makes fixtures/cast.txt: what NumPy's `astype` makes of values that fit, for every pair of types.

A line is `FROM TO SOURCE TARGET`, the elements in hexadecimal, little-endian. bfloat16 is no type of NumPy.

python tests/tools/cast_fixture.py    (needs numpy; made with 2.4.6)
"""

import pathlib

import numpy as np

OUT = pathlib.Path(__file__).parents[2] / "fixtures/cast.txt"
TYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"]


def limits(name):
    if name == "bool":
        return 0, 1
    kind = np.dtype(name)
    if kind.kind in "iu":
        return int(np.iinfo(kind).min), int(np.iinfo(kind).max)
    return -float(np.finfo(kind).max), float(np.finfo(kind).max)


def candidates(name):
    """Values of a type: small ones, those at borders of every type, and fractions and odd ones of floats."""
    low, high = limits(name)
    integers = {0, 1, 2, 100, -1, -100, 2049, 2051, 16777217, 16777219, 2**53 + 1}
    for other in TYPES:
        if np.dtype(other).kind in "iub":
            integers |= {limits(other)[0], limits(other)[1], limits(other)[1] - 1}
    if np.dtype(name).kind in "iub":
        return np.array([i for i in sorted(integers) if low <= i <= high], dtype=name)
    values = [float(i) for i in sorted(integers) if abs(i) <= high]
    values += [0.5, -2.25, 1 / 3, 1e-7, -0.0, 65519.0, 5e-324, 1e-45, np.nan, np.inf, -np.inf]
    with np.errstate(over="ignore"):
        return np.array(values).astype(name)


def fits(value, cast, to):
    low, high = limits(to)
    if np.dtype(to).kind == "f":
        return not np.isfinite(value) or np.isfinite(cast)
    if not np.isfinite(value):
        return False
    exact = value.item() if not isinstance(value.item(), bool) else int(value)
    return exact == int(exact) and low <= int(exact) <= high


def main():
    lines = []
    for source in TYPES:
        values = candidates(source)
        for target in TYPES:
            if source == target:
                continue
            with np.errstate(all="ignore"):
                cast = values.astype(target)
            keep = [i for i in range(len(values)) if fits(values[i], cast[i], target)]
            kept = [a[keep].astype(a.dtype.newbyteorder("<")).tobytes().hex() for a in (values, cast)]
            lines.append(f"{source} {target} {kept[0]} {kept[1]}\n")
    OUT.write_text("".join(lines))


main()
