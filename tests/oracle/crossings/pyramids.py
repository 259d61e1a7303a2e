"""Images of ome-zarr-py and ngff-zarr, of which pyramids are made, and both as readers of these.

    pyramids.py write DIRECTORY   writes images; and says which
    pyramids.py                   does the jobs on standard input, a JSON list of objects:

    {"name", "path", "factors", "untouched"}   an image of a case, and factors of its levels; those with numbers in
                                               `untouched` are its writer's, and only have to be there

stdout: JSON, a list of problems for each job. `write` answers {"versions", "cases"}, where a case is
{"name", "source", "factors", "added"}.
"""

import json
import sys
from importlib.metadata import version

import ngff_zarr
import numpy as np
import ome_zarr.writer
import zarr
from ome_zarr.format import FormatV04, FormatV05
from ome_zarr.io import parse_url
from ome_zarr.reader import Reader

SHRINK = ngff_zarr.Methods.ITKWASM_BIN_SHRINK

# Name, who writes, version, axes, shape, type, scale, what the levels are, and what is added to an image that has some.
CASES = [
    ("ome-4-five", "ome-zarr", "0.4", "tczyx", (2, 3, 9, 33, 50), "u2", (2.0, 1.0, 0.5, 0.13, 0.13),
     [(1, 1, 1, 2, 2), (1, 1, 2, 4, 4)], [(1, 1, 2, 4, 4)]),
    ("ome-5-three", "ome-zarr", "0.5", "zyx", (20, 64, 80), "u1", (4.0, 1.0, 1.0), [(1, 2, 2), (3, 6, 6)], [(2, 8, 8)]),
    ("ome-5-odd", "ome-zarr", "0.5", "yx", (45, 37), "i2", (0.5, 0.25), [(2, 2), (3, 5)], [(4, 4), (9, 12)]),
    ("ome-5-floats", "ome-zarr", "0.5", "cyx", (3, 40, 50), "f4", (1.0, 0.5, 0.5), [(1, 2, 2)], [(1, 8, 8)]),
    ("ngff-4", "ngff-zarr", "0.4", "zyx", (24, 50, 61), "u2", (2.0, 0.5, 0.5), [(2, 2, 2), (4, 4, 4)], [(4, 8, 8)]),
    ("ngff-5", "ngff-zarr", "0.5", "zyx", (24, 50, 61), "u1", (2.0, 0.5, 0.5), [(2, 2, 2), (2, 4, 4)],
     [(4, 4, 4), (4, 8, 8)]),
    ("ngff-6", "ngff-zarr", "0.6", "yx", (70, 81), "u2", (0.5, 0.5), [(2, 2)], [(4, 4), (8, 8)]),
]
UNITS = {"t": "second", "z": "micrometer", "y": "micrometer", "x": "micrometer"}
PLACE = {"z": 10.0, "y": -3.0, "x": 7.5}
CHANNELS = [
    {"label": label, "color": color, "active": True, "window": {"min": 0, "max": 255, "start": 0, "end": 99}}
    for label, color in [("DAPI", "0000FF"), ("GFP", "00FF00"), ("RFP", "FF0000")]
]


def elements(shape, dtype):
    random = np.random.default_rng(3)
    if dtype == "f4":
        return random.normal(size=shape).astype(dtype)
    limits = np.iinfo(dtype)
    return random.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)


def write_ome(place, case):
    name, _, spec, axes, shape, dtype, scale, *_ = case
    form = {"0.4": FormatV04(), "0.5": FormatV05()}[spec]
    group = zarr.open_group(place, mode="w", zarr_format=form.zarr_format)
    ome_zarr.writer.write_image(
        elements(shape, dtype), group, axes=axes, fmt=form, scale_factors=[2], name=name,
        scale=dict(zip(axes, scale)), axes_units={axis: UNITS[axis] for axis in axes if axis in UNITS},
        storage_options={"chunks": (1,) * (len(shape) - 2) + (16, 32)},
    )
    if "c" in axes:
        group = zarr.open_group(place, mode="r+")
        omero = {"channels": CHANNELS}
        if spec == "0.4":
            group.attrs["omero"] = omero
        else:
            group.attrs["ome"] = {**group.attrs["ome"], "omero": omero}


def write_ngff(place, case):
    name, _, spec, axes, shape, dtype, scale, *_ = case
    image = ngff_zarr.to_ngff_image(
        elements(shape, dtype), dims=tuple(axes), scale=dict(zip(axes, scale)), name=name,
        translation={axis: PLACE[axis] for axis in axes}, axes_units={axis: UNITS[axis] for axis in axes},
    )
    levels = ngff_zarr.to_multiscales(image, scale_factors=[2], chunks=16, method=SHRINK)
    ngff_zarr.to_ngff_zarr(place, levels, version=spec)


def write(directory):
    cases = []
    for case in CASES:
        name, library, *_, factors, added = case
        place = f"{directory}/{name}.zarr"
        {"ome-zarr": write_ome, "ngff-zarr": write_ngff}[library](place, case)
        cases.append({"name": name, "source": place, "factors": factors, "added": added})
    return {"versions": f"ome-zarr {version('ome-zarr')}, ngff-zarr {version('ngff-zarr')}", "cases": cases}


def mean(values, factors):
    """Means of whole cells; halves of integers away from zero, without anything getting lost on the way."""
    shape = [extent // factor for extent, factor in zip(values.shape, factors)]
    split = [part for pair in zip(shape, factors) for part in pair]
    cut = values[tuple(slice(0, extent * factor) for extent, factor in zip(shape, factors))]
    within = tuple(range(1, 2 * len(shape), 2))
    if values.dtype.kind == "f":
        return cut.reshape(split).mean(axis=within, dtype="f8").astype(values.dtype)
    total, count = cut.reshape(split).sum(axis=within, dtype="i8"), int(np.prod(factors))
    return (np.sign(total) * ((2 * np.abs(total) + count) // (2 * count))).astype(values.dtype)


def by_ome(path):
    node = next(iter(Reader(parse_url(path))()))
    return [np.asarray(level) for level in node.data], node.metadata


def by_ngff(path):
    levels = ngff_zarr.from_ngff_zarr(path)
    return [np.asarray(level.data) for level in levels.images], levels


def values_of(case, job, levels):
    source = elements(case[4], case[5])
    if len(levels) != len(job["factors"]):
        yield f"{len(levels)} levels, not {len(job['factors'])}"
    for number, (found, factors) in enumerate(zip(levels, job["factors"])):
        if number in job["untouched"]:
            continue
        wanted = mean(source, factors)
        same = np.isclose(found, wanted, rtol=1e-6, atol=1e-6) if found.shape == wanted.shape else np.False_
        if found.dtype != wanted.dtype or not same.all():
            yield f"level {number}: {found.shape} {found.dtype}, or its elements are others"


def places_of(case, job, levels):
    axes, scale = case[3], dict(zip(case[3], case[6]))
    start = PLACE if case[1] == "ngff-zarr" else {}
    for number, (image, factors) in enumerate(zip(levels.images, job["factors"])):
        if number in job["untouched"]:
            continue
        if "".join(image.dims) != axes:
            yield f"level {number}: axes {image.dims}"
        if {axis: unit for axis, unit in image.axes_units.items() if unit} != {a: UNITS[a] for a in axes if a in UNITS}:
            yield f"level {number}: units {image.axes_units}"
        for axis, factor in zip(axes, factors):
            wanted = scale[axis] * factor, start.get(axis, 0.0) + (factor - 1) / 2 * scale[axis]
            found = image.scale[axis], image.translation[axis]
            if not np.allclose(found, wanted, rtol=1e-12):
                yield f"level {number}: scale and translation {found} along {axis}, not {wanted}"


def shrunk(case, job, levels):
    """What ngff-zarr makes itself of the same elements: halves of unsigned integers up, as we do."""
    if case[1] != "ngff-zarr":
        return
    axes = case[3]
    for number, factors in enumerate(job["factors"]):
        if number in job["untouched"] or set(factors) != {2}:
            continue
        image = ngff_zarr.to_ngff_image(elements(case[4], case[5]), dims=tuple(axes))
        own = ngff_zarr.to_multiscales(image, scale_factors=[2], method=SHRINK).images[1]
        if not np.array_equal(np.asarray(own.data), levels[number]):
            yield f"level {number} is not that of ngff-zarr's bin shrink"


def consolidated(job):
    """zarr-python goes by consolidated metadata where there is some."""
    group = zarr.open_group(job["path"], mode="r")
    attributes = dict(group.attrs)
    image = attributes.get("ome", attributes)["multiscales"][0]
    for dataset in image["datasets"]:
        group[dataset["path"]][...]


def check(job):
    problems = []
    case = next(case for case in CASES if case[0] == job["name"])
    try:
        levels, metadata = by_ome(job["path"])
        problems += [f"ome-zarr: {problem}" for problem in values_of(case, job, levels)]
        if "c" in case[3] and metadata.get("channel_names") != [channel["label"] for channel in CHANNELS]:
            problems.append(f"ome-zarr: channels {metadata.get('channel_names')}")
        levels, image = by_ngff(job["path"])
        problems += [f"ngff-zarr: {problem}" for problem in values_of(case, job, levels)]
        problems += [f"ngff-zarr: {problem}" for problem in places_of(case, job, image)]
        problems += shrunk(case, job, levels)
        consolidated(job)
    except Exception as error:  # whatever it is, it is the answer
        problems.append(f"{type(error).__name__}: {error}"[:500])
    return problems


if __name__ == "__main__":
    answer = write(sys.argv[2]) if sys.argv[1:2] == ["write"] else [check(job) for job in json.load(sys.stdin)]
    with open(1, "w", closefd=False) as stdout:
        json.dump(answer, stdout)
