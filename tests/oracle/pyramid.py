"""Pyramids: writes sources for them, and says where levels are not as NumPy and tensorstore have them.

    pyramid.py make DIRECTORY   writes arrays and images into DIRECTORY
    pyramid.py                  does the jobs on standard input, a JSON list of objects:

    {"do": "levels", "source", "paths", "factors", "method", "size", "rounding", "from"}
    {"do": "group", "path", "paths"}          `paths` are arrays in the group, with consolidated metadata and without
    {"do": "bdv", "xml", "source", "factors", "voxel", "place", "unit"}

stdout: JSON, a list of problems for each job; what is as it should be has none. `make` answers null.
"""

import itertools
import json
import os
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import zarr

# Name, shape, chunks, type, and the range of elements, if not all of the type: small ones have ties and halves.
SOURCES = [
    ("line", (37,), (10,), "i2", None),
    ("plane", (13, 17), (5, 6), "u1", None),
    ("signed", (18, 31), (7, 16), "i1", (-4, 4)),
    ("volume", (9, 18, 21), (4, 7, 8), "u2", None),
    ("large", (11, 14), (4, 14), "i8", None),
    ("unsigned", (3, 5, 9, 11), (2, 5, 4, 4), "u8", None),
    ("bits", (14, 19), (14, 6), "?", None),
    ("floats", (2, 3, 6, 12, 10), (1, 1, 6, 5, 5), "f4", None),
    ("times", (2, 3, 9, 16, 20), (1, 1, 4, 8, 8), "u2", None),
]


def elements(shape, dtype, limits):
    """The same elements each time, of all values that the type has."""
    random, dtype = np.random.default_rng(7), np.dtype(dtype)
    if dtype.kind == "f":
        return (random.normal(size=shape) * 100).astype(dtype)
    if dtype.kind == "b":
        return random.random(shape) < 0.5
    low, high = limits or (np.iinfo(dtype).min, np.iinfo(dtype).max)
    return random.integers(low, high, shape, dtype=dtype, endpoint=True)


def make(directory):
    for name, shape, chunks, dtype, limits in SOURCES:
        array = zarr.create_array(f"{directory}/{name}.zarr", shape=shape, chunks=chunks, dtype=dtype)
        array[...] = elements(shape, dtype, limits)
    old = zarr.create_array(
        f"{directory}/turned.zarr", shape=(20, 30), chunks=(8, 8), dtype=">i4", zarr_format=2, order="F"
    )
    old[...] = elements((20, 30), "i4", None)
    # One chunk of sixteen is stored, and elements that are not are 5.
    gaps = zarr.create_array(f"{directory}/gaps.zarr", shape=(64, 64), chunks=(16, 16), dtype="u1", fill_value=5)
    gaps[:16, :16] = elements((16, 16), "u1", None)
    np.save(f"{directory}/file.npy", elements((12, 15, 16), "f8", None))
    for version in (2, 3):
        nested(f"{directory}/nested-{version}.zarr", version)


def nested(path, version):
    """An image as ngff-zarr writes it: levels in groups of their own, metadata consolidated."""
    values = elements((16, 40, 50), "u2", None)
    root = zarr.open_group(path, mode="w", zarr_format=version)
    datasets = []
    for level, factor in enumerate([1, 2]):
        of_level = values[: 16 // factor * factor : factor, ::factor, ::factor]
        group = root.create_group(f"scale{level}", attributes={"_ARRAY_DIMENSIONS": ["z", "y", "x"]})
        named = {"dimension_names": ("z", "y", "x")} if version == 3 else {}
        array = group.create_array("cells", shape=of_level.shape, chunks=(8, 16, 16), dtype="u2", **named)
        array[...] = of_level
        steps = [
            {"scale": [2.0 * factor, 0.5 * factor, 0.5 * factor], "type": "scale"},
            {"translation": [10.0, -3.0, 7.5], "type": "translation"},
        ]
        datasets.append({"path": f"scale{level}/cells", "coordinateTransformations": steps})
    axes = [{"name": name, "type": "space", "unit": "micrometer"} for name in "zyx"]
    image = {"axes": axes, "datasets": datasets, "name": "cells", "type": "itk", "@type": "ngff:Image"}
    image["metadata"] = {"method": "itk.shrink", "version": "2.0.2"}
    other = {"axes": axes[1:], "name": "other", "datasets": datasets[1:]}
    if version == 2:
        root.attrs.put({"multiscales": [{**image, "version": "0.4"}, other], "own": 1})
    else:
        root.attrs.put({"ome": {"version": "0.5", "multiscales": [image, other], "mine": 2}, "own": 1})
    zarr.consolidate_metadata(path, zarr_format=version)


def opened(path):
    """Elements of an array of Zarr or NumPy, or of an N5 dataset, which has its axes in the other order."""
    if path.endswith(".npy"):
        return np.load(path)
    if os.path.exists(f"{path}/attributes.json"):
        return n5(path)
    return zarr.open_array(path, mode="r")[...]


def n5(path):
    import tensorstore

    spec = {"driver": "n5", "kvstore": {"driver": "file", "path": path}}
    return np.asarray(tensorstore.open(spec).result().read().result()).T


def size_of(shape, factors, size):
    if size == "floor":
        return tuple(max(extent // factor, 1) for extent, factor in zip(shape, factors))
    return tuple(-(-extent // factor) for extent, factor in zip(shape, factors))


def quotient(total, count, rounding):
    """Whole numbers divided: `total` of any sign, without anything getting lost on the way."""
    whole, rest = divmod(abs(total), count)
    up = {
        "half-away": 2 * rest >= count,
        "half-even": 2 * rest > count or (2 * rest == count and whole % 2 == 1),
        "down": False,
    }[rounding]
    return (whole + up) * (-1 if total < 0 else 1)


def mean(cell, rounding):
    if cell.dtype.kind == "f":
        return cell.astype("f8").mean()
    return quotient(sum(int(value) for value in cell.ravel()), cell.size, rounding)


def mode(cell, _):
    values, counts = np.unique(cell, return_counts=True)
    return values[np.argmax(counts)]


METHODS = {
    "mean": mean,
    "mode": mode,
    "median": lambda cell, _: np.sort(cell, axis=None)[(cell.size - 1) // 2],
    "min": lambda cell, _: cell.min(),
    "max": lambda cell, _: cell.max(),
    "stride": lambda cell, _: cell.ravel()[0],
}


def reduced(values, factors, method, size, rounding):
    """A level, cell by cell."""
    level = np.empty(size_of(values.shape, factors, size), values.dtype)
    for place in np.ndindex(level.shape):
        cell = tuple(slice(at * factor, (at + 1) * factor) for at, factor in zip(place, factors))
        level[place] = METHODS[method](values[cell], rounding)
    return level


def of_tensorstore(values, factors, method):
    import tensorstore

    reduced = tensorstore.downsample(tensorstore.array(values), list(factors), method=method)
    return np.asarray(reduced.read().result())


def differs(found, wanted):
    """How elements differ; nothing if they do not."""
    if found.shape != wanted.shape:
        return f"shape {found.shape}, not {wanted.shape}"
    if found.dtype.newbyteorder("=") != wanted.dtype.newbyteorder("="):
        return f"type {found.dtype}, not {wanted.dtype}"
    # Sums of floats depend on their order: a few parts of a million, of elements about 100.
    same = np.isclose(found, wanted, rtol=2e-6, atol=1e-4) if wanted.dtype.kind == "f" else found == wanted
    if not same.all():
        at = tuple(int(index) for index in np.argwhere(~same)[0])
        return f"{(~same).sum()} of {same.size} elements, e.g. {found[at]} at {at}, not {wanted[at]}"
    return None


def levels(job):
    problems = []
    source = opened(job["source"])
    before, factors_before = source, [1] * source.ndim
    how = (job["method"], job["size"], job["rounding"])
    for path, factors in zip(job["paths"], job["factors"], strict=True):
        if job["from"] == "previous":
            steps = [own // last for own, last in zip(factors, factors_before)]
            before = reduced(before, steps, *how)
            wanted = {"NumPy": before}
        else:
            wanted = {"NumPy": reduced(source, factors, *how)}
            if how[1:] == ("ceil", "half-even"):
                native = source.astype(source.dtype.newbyteorder("="))
                wanted["tensorstore"] = of_tensorstore(native, factors, job["method"])
        factors_before = factors
        for oracle, level in wanted.items():
            if problem := differs(opened(path), level):
                problems.append(f"{job['method']} {factors} {how[1:]}: {problem} ({oracle})")
    return problems


def members(path, consolidated):
    group = zarr.open_group(path, mode="r", use_consolidated=consolidated)
    found = {"": dict(group.attrs)}
    for name, member in group.members(max_depth=None):
        shape = list(member.shape) if isinstance(member, zarr.Array) else None
        found[name] = [shape, dict(member.attrs)]
    return group, found


def group(job):
    by_documents, wanted = members(job["path"], False)
    by_consolidated, found = members(job["path"], True)
    problems = [
        f"{name!r}: {found.get(name)} is consolidated of {wanted.get(name)}"
        for name in sorted({*wanted, *found})
        if wanted.get(name) != found.get(name)
    ]
    for opened_group, path in itertools.product((by_documents, by_consolidated), job["paths"]):
        try:
            opened_group[path][...]
        except KeyError as error:
            problems.append(f"{path}: {error}")
    return problems


def bdv(job):
    """Reads what the XML of BigDataViewer names, as BigDataViewer would."""
    problems = []

    def expect(what, found, wanted):
        if found != wanted:
            problems.append(f"{what}: {found!r}, not {wanted!r}")

    root = ElementTree.parse(job["xml"]).getroot()
    expect("root", (root.tag, root.get("version")), ("SpimData", "0.2"))
    sequence = root.find("SequenceDescription")
    loader = sequence.find("ImageLoader")
    expect("loader", loader.get("format"), "bdv.n5")
    expect("base path", (root.find("BasePath").get("type"), root.find("BasePath").text), ("relative", "."))
    container = loader.find("n5")
    if container.get("type") != "relative" or not container.text:
        return [*problems, f"no container: {container.get('type')!r} {container.text!r}"]
    container = os.path.join(os.path.dirname(job["xml"]), container.text)
    if not os.path.isfile(f"{container}/attributes.json"):
        return [*problems, f"no container is at {container}"]
    source = opened(job["source"])
    source = source.reshape((1,) * (5 - source.ndim) + source.shape)
    times, channels = source.shape[:2]
    setups = sequence.findall("ViewSetups/ViewSetup")
    expect("setups", [int(setup.find("id").text) for setup in setups], list(range(channels)))
    named = {entry.get("name"): entry for entry in sequence.findall("ViewSetups/Attributes")}
    for setup in setups:
        expect("size", setup.find("size").text, " ".join(str(extent) for extent in source.shape[:1:-1]))
        expect("voxel", [float(word) for word in setup.find("voxelSize/size").text.split()], job["voxel"])
        expect("unit", setup.find("voxelSize/unit").text, job["unit"])
        for attribute in setup.find("attributes"):
            ids = [entry.find("id").text for entry in named[attribute.tag]]
            expect(f"{attribute.tag} is defined", attribute.text in ids, True)
    points = sequence.find("Timepoints")
    found = points.get("type"), points.find("first").text, points.find("last").text
    expect("times", found, ("range", "0", str(times - 1)))
    views = {}
    for view in root.findall("ViewRegistrations/ViewRegistration"):
        affine = [float(word) for word in view.find("ViewTransform/affine").text.split()]
        views[int(view.get("timepoint")), int(view.get("setup"))] = affine
    expect("views", sorted(views), list(itertools.product(range(times), range(channels))))
    (sx, sy, sz), (px, py, pz) = job["voxel"], job["place"]
    for (time, channel), affine in views.items():
        expect("affine", affine, [sx, 0, 0, px, 0, sy, 0, py, 0, 0, sz, pz])
        attributes = json.load(open(f"{container}/setup{channel}/attributes.json"))
        turned = [factors[::-1] for factors in job["factors"]]
        expect("factors", attributes.get("downsamplingFactors"), turned)
        expect("type", attributes.get("dataType"), source.dtype.name)
        for level, factors in enumerate(job["factors"]):
            found = n5(f"{container}/setup{channel}/timepoint{time}/s{level}")
            wanted = reduced(source[time, channel], factors, "mean", "floor", "half-away")
            if problem := differs(found, wanted):
                problems.append(f"setup {channel}, time {time}, level {level}: {problem}")
    return problems


def do(job):
    try:
        return {"levels": levels, "group": group, "bdv": bdv}[job["do"]](job)
    except Exception as error:  # whatever it is, it is the answer
        return [f"{type(error).__name__}: {error}"]


if __name__ == "__main__":
    answer = make(sys.argv[2]) if sys.argv[1:2] == ["make"] else [do(job) for job in json.load(sys.stdin)]
    json.dump(answer, sys.stdout)
