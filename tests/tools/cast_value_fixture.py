"""Makes fixtures/cast_value.txt: what the codec `cast_value` of zarr-python makes of single numbers.

Each line: type before, type after, rounding, out_of_range (or `none`), then pairs of a number's bytes in hex (lowest
first) and those of what it becomes, or `error`, or `nan`. Needs NumPy and cast-value-rs (what zarr-python 3.2 and newer cast with).
"""

import pathlib

import numpy as np
from cast_value_rs import cast_array

OUT = pathlib.Path(__file__).parents[2] / "fixtures/cast_value.txt"
ROUNDINGS = ["nearest-even", "towards-zero", "towards-positive", "towards-negative", "nearest-away"]
NUMBERS = [
    0, 1, -1, 2, 127, 128, -128, -129, 255, 256, 300, 2048, 2049, 2051, 65504, 65519, 65520, 70000,
    2**24 + 1, -(2**24) - 1, 2**31 - 1, 2**31, -(2**31) - 1, 2**53 + 1, 2**63 - 1, -(2**63), 2**64 - 1,
]
FLOATS = [
    0.5, -0.5, 1.5, 2.5, -2.5, 0.1, 127.5, 127.49, -128.5, 255.5, 1e-8, 6e-8, 3e-8, -3e-8, 1e-46, -1e-46, 1.5e-45,
    65519.9, 65520.0, 1e5, 3.4028235e38, 3.40282356e38, 3.4028235677973366e38, 1e40, -1e40, 1e30, -1e30,
    2.0**64, -(2.0**64), 2.0**70 + 2.0**40, 1e300, -0.0, np.inf, -np.inf, np.nan,
]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
TYPES = [*INTEGERS, "float16", "float32", "float64"]


def numbers(source):
    if source.kind == "f":
        with np.errstate(over="ignore"):
            found = np.array([float(n) for n in NUMBERS] + FLOATS).astype(source)
    else:
        info = np.iinfo(source)
        found = np.array([n for n in NUMBERS if info.min <= n <= info.max], source)
    return np.unique(found.view(f"u{source.itemsize}")).view(source)


def cast(source, target, rounding, rule, number):
    try:
        made = cast_array(
            np.array([number]), target_dtype=target, rounding_mode=rounding, out_of_range_mode=rule, scalar_map_entries=None
        )
    except ValueError:
        return "error"
    return "nan" if np.isnan(made[0]) else made.tobytes().hex()


def main():
    lines = []
    for source in map(np.dtype, TYPES):
        for target in map(np.dtype, TYPES):
            if source == target:
                continue
            rules = [None, "clamp"] + (["wrap"] if target.kind != "f" else [])
            for rule in rules:
                by_rounding = {}
                for number in numbers(source):
                    # A rule changes nothing where there is no error without one.
                    asked = [r for r in ROUNDINGS if rule is None or cast(source, target, r, None, number) == "error"]
                    made = {r: cast(source, target, r, rule, number) for r in asked}
                    # Where rounding makes no difference, the first says it.
                    for rounding in asked[:1] if len(set(made.values())) == 1 else asked:
                        by_rounding.setdefault(rounding, []).append(f"{number.tobytes().hex()}={made[rounding]}")
                for rounding, pairs in by_rounding.items():
                    lines.append(f"{source} {target} {rounding} {rule or 'none'} {' '.join(pairs)}\n")
    OUT.write_text("".join(lines))


main()
