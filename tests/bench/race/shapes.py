"""Cases of random shapes, `S1`, `S2`, ...: is there one in which somebody else is faster?

Arrays of two to four axes; Zarr v2, v3 with shards or without, N5; codecs that are met often; chunks that are cubes, slabs,
pencils or anything, of 100 KiB to 8 MiB. The same number is the same case.
"""

import math
import random

BYTES = {"full": 1_000_000_000, "medium": 300_000_000, "small": 20_000_000}
CHUNK_BYTES = (100 << 10, 8 << 20)
INNER_BYTES = (32 << 10, 1 << 20)
MEMORY_MIN = 100_000_000
BLOSC = [("lz4", 5, 1), ("lz4", 5, 2), ("zstd", 1, 1), ("zstd", 3, 1), ("zstd", 5, 2), ("zstd", 3, 0)]


def is_shape(name):
    return name.startswith("S") and name[1:].isdigit()


def codec(of, form):
    gzip = {"id": "gzip", "level": of.choice([1, 6])}
    if form == "n5":
        return of.choice([None, gzip])
    cname, clevel, shuffle = of.choice(BLOSC)
    blosc = {"id": "blosc", "cname": cname, "clevel": clevel, "shuffle": shuffle}
    zstd = {"id": "zstd", "level": of.choice([1, 3])}
    return of.choice([None, blosc, blosc, zstd, zstd, gzip])


def drawn(of, axes, elements, least):
    """Lengths of so many axes, about so many elements together; the smaller `least`, the more they differ."""
    weights = [of.random() + least for _ in range(axes)]
    return [elements ** (weight / sum(weights)) for weight in weights]


def within(lengths, shape):
    return [max(1, min(extent, round(length))) for length, extent in zip(lengths, shape)]


def chunk(of, shape, item, bounds):
    low, high = bounds
    while True:
        elements = math.exp(of.uniform(math.log(low), math.log(high))) / item
        style, axis = of.choice(["cube", "slab", "pencil", "any"]), of.randrange(len(shape))
        if style == "cube":
            found = within([elements ** (1 / len(shape))] * len(shape), shape)
        elif style == "slab":
            found = [1 if at == axis else extent for at, extent in enumerate(shape)]
            while math.prod(found) > 1.5 * elements:
                longest = max(range(len(shape)), key=lambda at: found[at])
                found[longest] = -(-found[longest] // 2)
            found[axis] = max(1, min(shape[axis], int(elements // math.prod(found))))
        elif style == "pencil":
            edge = (elements / shape[axis]) ** (1 / (len(shape) - 1))
            found = within([extent if at == axis else edge for at, extent in enumerate(shape)], shape)
        else:
            found = within(drawn(of, len(shape), elements, 0.05), shape)
        if low / 2 <= math.prod(found) * item <= high * 2:
            return found


def part(of, form, sharded, shape, item, total):
    chunks = chunk(of, shape, item, INNER_BYTES if sharded else CHUNK_BYTES)
    shards = None
    if sharded:
        # No longer than the array: we would cut them to it, and others do not.
        times = [min(of.choice([1, 2, 4, 8]), -(-extent // edge)) for edge, extent in zip(chunks, shape)]
        while math.prod(edge * many for edge, many in zip(chunks, times)) * item > total / 4 and max(times) > 1:
            times[times.index(max(times))] //= 2
        shards = [edge * many for edge, many in zip(chunks, times)]
    return {"format": form, "chunks": chunks, "shards": shards, "codec": codec(of, form)}


def resolve(name, size):
    """As `cases.resolve`."""
    of, total = random.Random(name), BYTES[size]
    dtype, item = of.choice([("uint8", 1), ("int16", 2), ("uint16", 2), ("float32", 4), ("float64", 8)])
    shape = [max(3, round(length)) for length in drawn(of, of.choice([2, 3, 3, 3, 4]), total / item, 0.3)]
    forms = [("zarr2", False), ("zarr3", False), ("zarr3", True)]
    source = part(of, *of.choice([*forms, ("n5", False)]), shape, item, total)
    target = part(of, *of.choice(forms), shape, item, total)
    memory = max(MEMORY_MIN, int(total * of.choice([0.15, 0.3, 0.6, 1.2])))
    title = f"{dtype} {shape}: {told(source)} to {told(target)}"
    return dict(name=name, size=size, title=title, kind="any", dtype=dtype, fill=0, shape=shape, raw_bytes=math.prod(shape) * item,
                mem=memory, raw=False, latency_ms=None, data_dir=f"run/{name}-data",
                src=source | {"name": "src.n5/v" if source["format"] == "n5" else "src.zarr/v"}, dst=target)


def told(part):
    words = [part["format"], str(part["chunks"])]
    words += [f"in shards of {part['shards']}"] if part["shards"] else []
    return " ".join([*words, "-".join(map(str, part["codec"].values())) if part["codec"] else "no codec"])
