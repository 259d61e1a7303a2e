"""Makes fixtures/ops/scipy.json: what scipy.ndimage computes of small arrays, for the tests of rechunk-ops.

Each case has an operation as rechunk-ops takes it, the name of its input, and the elements that scipy yields. Borders are
those of mode="nearest". Sums (gaussian, mean, derivatives) are computed in float64 whatever the type of the input, so
that a test can say how far from them a result of another type may be.

python tests/tools/ops_fixtures.py    (needs numpy and scipy; made with 2.5.5 and 1.18.1)
"""

import json
import pathlib

import numpy as np
import scipy
from scipy import ndimage

OUT = pathlib.Path(__file__).parents[2] / "fixtures/ops/scipy.json"
NEAREST = {"mode": "nearest"}
SHAPE = (4, 5, 7)


def inputs():
    random = np.random.default_rng(47)
    limits = {name: (np.iinfo(name).min, np.iinfo(name).max) for name in ["uint8", "int16", "uint16"]}
    # scipy's filters go through float64, also those that choose an element.
    limits["int64"] = (-(2**53), 2**53)
    whole = {
        name: random.integers(low, high, SHAPE, name, endpoint=True) for name, (low, high) in limits.items()
    }
    floats = {name: random.normal(0, 100, SHAPE).astype(name) for name in ["float16", "float32", "float64"]}
    plane = {"plane": random.normal(0, 1, (6, 40)).astype("float32")}
    return whole | floats | plane


def per_axis(values):
    return ",".join(map(str, np.atleast_1d(values)))


def cases(arrays):
    def case(op, name, function, exact=False, **options):
        array = arrays[name]
        array = array if exact else array.astype("float64")
        output = function(array, **options, **NEAREST).ravel().tolist()
        # Twelve digits: far fewer than a test allows to differ.
        output = output if exact else [float(f"{value:.12g}") for value in output]
        yield {"op": op, "input": name, "exact": exact, "output": output}

    for name in arrays:
        rank = arrays[name].ndim
        for sigma, truncate in [(1.5, 4), ((0.7, 0, 2.25)[:rank], 3)]:
            op = f"gaussian:sigma={per_axis(sigma)},truncate={truncate}"
            yield from case(op, name, ndimage.gaussian_filter, sigma=sigma, truncate=truncate)
        for size in [3, (1, 5, 3)[:rank]]:
            yield from case(f"mean:size={per_axis(size)}", name, ndimage.uniform_filter, size=size)
            for op, function in [
                ("median", ndimage.median_filter),
                ("min", ndimage.minimum_filter),
                ("max", ndimage.maximum_filter),
                ("open", ndimage.grey_opening),
                ("close", ndimage.grey_closing),
            ]:
                if name == "float16":
                    continue  # scipy has no such filters of them
                yield from case(f"{op}:size={per_axis(size)}", name, function, exact=True, size=size)
        for axis in range(rank):
            yield from case(f"sobel:axis={axis}", name, ndimage.sobel, axis=axis)
        magnitude = ndimage.generic_gradient_magnitude
        yield from case("gradient-magnitude", name, magnitude, derivative=ndimage.sobel)
        yield from case("laplacian", name, ndimage.laplace)

        def dog(array, mode):
            return ndimage.gaussian_filter(array, 0.8, mode=mode) - ndimage.gaussian_filter(array, 1.6, mode=mode)

        yield from case("dog:low=0.8,high=1.6", name, dog)


def main():
    arrays = inputs()
    document = {
        "scipy": scipy.__version__,
        "numpy": np.__version__,
        "inputs": {
            name: {"data_type": str(array.dtype), "shape": array.shape, "elements": array.ravel().tolist()}
            for name, array in arrays.items()
        },
        "cases": list(cases(arrays)),
    }
    lines = json.dumps(document).replace('{"op"', '\n{"op"')
    OUT.write_text(lines + "\n")


if __name__ == "__main__":
    main()
