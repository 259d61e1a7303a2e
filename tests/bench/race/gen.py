#!/usr/bin/env python3
"""Generate a case: source store, reference target store, and per-block hashes.  Seedable and deterministic.

    python gen.py --case A [--size small] [--seed 7] [--data DIR]

Layout: DATA/<case>/{case.json, src.zarr|src.n5/v, ref.zarr/v, hashes.json}
hashes.json holds sha1 of every block of the *target write grid* (shard or chunk) computed from the in-memory array,
before anything was encoded: that is what verification compares with.
"""
import argparse, hashlib, itertools, json, math, os, shutil, sys, time
import numpy as np
import cases, tsutil


def smooth2d(rng, ny, nx, beta):
    """Random field with a power-law spectrum, unit variance, periodic."""
    ky = np.fft.fftfreq(ny)[:, None]
    kx = np.fft.rfftfreq(nx)[None, :]
    k = np.hypot(ky, kx)
    k[0, 0] = 1
    amp = k ** (-beta)
    amp[0, 0] = 0
    z = (rng.standard_normal(k.shape) + 1j * rng.standard_normal(k.shape)) * amp
    f = np.fft.irfft2(z, s=(ny, nx))
    return ((f - f.mean()) / f.std()).astype(np.float32)


def gen_sst(shape, seed):
    """int16 hundredths of a degree: climatology + 10 slow modes + weather noise; land = -32768 (~33 %)."""
    T, ny, nx = shape
    rng = np.random.default_rng(seed)
    lat = np.linspace(-90, 90, ny, dtype=np.float32)[:, None]
    land = smooth2d(rng, ny, nx, 1.8) > 0.43
    base = 2800 * np.clip(np.cos(np.deg2rad(lat)), 0, 1) ** 1.5 - 180 + 150 * smooth2d(rng, ny, nx, 1.6)
    modes = np.stack([smooth2d(rng, ny, nx, 1.7) for _ in range(10)])
    season = (900 * np.sin(np.deg2rad(lat)) * np.ones((1, nx))).astype(np.float32)
    phase, per = rng.uniform(0, 2 * np.pi, 10), rng.uniform(20, 400, 10)
    out = np.empty(shape, np.int16)
    for t in range(T):
        r = np.random.default_rng((seed, 1, t))
        f = base - season * np.cos(2 * np.pi * t / 365.25)
        a = (60 * np.sin(2 * np.pi * t / per + phase)).astype(np.float32)
        f = f + np.tensordot(a, modes, 1)
        f += 2.0 * r.standard_normal((ny, nx), dtype=np.float32)   # sensor noise, 0.02 K
        o = np.rint(f).astype(np.int16)
        o[land] = -32768
        out[t] = o
    return out


def gen_era5(shape, seed):
    """float32 2 m temperature after GRIB-like 16-bit packing (few distinct values, trailing mantissa patterns) + bitround."""
    T, ny, nx = shape
    rng = np.random.default_rng(seed)
    lat = np.linspace(90, -90, ny, dtype=np.float32)[:, None]
    lon = np.linspace(0, 2 * np.pi, nx, endpoint=False, dtype=np.float32)[None, :]
    base = 245 + 55 * np.cos(np.deg2rad(lat)) + 6 * smooth2d(rng, ny, nx, 1.6)
    modes = np.stack([smooth2d(rng, ny, nx, 1.9) for _ in range(12)])
    dz = np.abs(3 * smooth2d(rng, ny, nx, 1.3))
    phase, per = rng.uniform(0, 2 * np.pi, 12), rng.uniform(12, 300, 12)
    out = np.empty(shape, np.float32)
    for t in range(T):
        r = np.random.default_rng((seed, 2, t))
        a = (2.5 * np.sin(2 * np.pi * t / per + phase)).astype(np.float32)
        f = base + np.tensordot(a, modes, 1) + dz * np.cos(lon + 2 * np.pi * t / 24)
        f += 0.03 * r.standard_normal((ny, nx), dtype=np.float32)
        q = np.rint(f.astype(np.float32) * 16) / 16            # 1/16 K steps: what a 12-bit packed field looks like
        out[t] = q.astype(np.float32)
    return out


def up(a, axis, n):
    """Linear interpolation of `a` along axis to length n."""
    m = a.shape[axis]
    x = np.linspace(0, m - 1, n, dtype=np.float32)
    i = np.minimum(x.astype(np.int64), m - 2)
    w = (x - i).astype(np.float32)
    sh = [1] * a.ndim
    sh[axis] = n
    w = w.reshape(sh)
    return np.take(a, i, axis) * (1 - w) + np.take(a, i + 1, axis) * w


def gen_em(shape, seed, dtype):
    """EM-like volume: cell-scale blobs + texture + quantised shot noise; a cone outside the sample is exact zero."""
    Z, Y, X = shape
    rng = np.random.default_rng(seed)
    out = np.empty(shape, dtype)
    cz, cy, cx = Z // 24 + 2, Y // 24 + 2, X // 24 + 2
    coarse = rng.standard_normal((cz, cy, cx), dtype=np.float32)
    coarse = up(up(coarse, 1, Y), 2, X)                      # (cz, Y, X)
    yy = (np.arange(Y, dtype=np.float32)[:, None] / Y - 0.5)
    xx = (np.arange(X, dtype=np.float32)[None, :] / X - 0.5)
    rad = np.hypot(yy, xx)
    for z in range(Z):
        p = z * (cz - 1) / max(1, Z - 1)
        i = min(int(p), cz - 2)
        w = np.float32(p - i)
        r = np.random.default_rng((seed, 3, z))
        f = coarse[i] * (1 - w) + coarse[i + 1] * w
        mem = np.abs(f) < 0.08                                # "membranes"
        g = 128 + 40 * f - 60 * mem
        n = r.integers(-8, 9, size=(Y, X), dtype=np.int8)
        if np.dtype(dtype).itemsize == 1:
            v = np.clip(g + n, 1, 255).astype(np.uint8) & 0xFC
        else:
            v = np.clip(g * 64 + n.astype(np.int16) * 16, 1, 65535).astype(np.uint16) & 0xFFF0
        v[rad > 0.50 + 0.08 * np.sin(z / 40)] = 0
        out[z] = v
    return out


def gen_plane(shape, seed):
    ny, nx = shape
    rng = np.random.default_rng(seed)
    f = 20 * smooth2d(rng, ny, nx, 1.5) + 0.02 * rng.standard_normal(shape, dtype=np.float32)
    return (np.rint(f * 64) / 64).astype(np.float32)


def gen_any(shape, seed, dtype):
    """Smooth along every axis, with some noise in the lowest bits."""
    rng = np.random.default_rng(seed)
    smooth = rng.standard_normal([max(2, s // 24 + 2) for s in shape]).astype(np.float32)
    for axis, s in enumerate(shape):
        smooth = up(smooth, axis, s)
    noise = rng.integers(-8, 9, size=shape, dtype=np.int8)
    if dtype == "uint8":
        return np.clip(128 + 40 * smooth + noise, 1, 255).astype(np.uint8) & 0xFC
    if np.dtype(dtype).kind in "iu":
        return (np.clip((128 + 30 * smooth) * 64, 100, 32000) + noise * np.int16(4)).astype(dtype)
    return (np.rint((280 + 20 * smooth) * 64 + noise) / 64).astype(dtype)


def make(case, seed):
    k, shape = case["kind"], tuple(case["shape"])
    if k == "sst":
        return gen_sst(shape, seed)
    if k == "era5":
        return gen_era5(shape, seed)
    if k == "em":
        return gen_em(shape, seed, np.uint8)
    if k == "em16":
        return gen_em(shape, seed, np.uint16)
    if k == "sparse":
        out = np.zeros(shape, np.uint16)
        edge = round((0.001 * out.size) ** (1 / 3))
        out[200:200 + edge, 300:300 + edge, 250:250 + edge] = gen_em((edge, edge, edge), seed, np.uint16) | 1
        return out
    if k == "plane":
        return gen_plane(shape, seed)
    if k == "any":
        return gen_any(shape, seed, case["dtype"])
    raise ValueError(k)


def blocks(shape, bs):
    for idx in itertools.product(*[range(math.ceil(s / b)) for s, b in zip(shape, bs)]):
        yield idx, tuple(slice(i * b, min(s, (i + 1) * b)) for i, b, s in zip(idx, bs, shape))


def du(path):
    n = b = 0
    for d, _, fs in os.walk(path):
        for f in fs:
            n += 1
            b += os.lstat(os.path.join(d, f)).st_size
    return n, b


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--case", required=True)
    ap.add_argument("--size", default="full")
    ap.add_argument("--seed", type=int, default=20240607)
    ap.add_argument("--data", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "data"))
    a = ap.parse_args()
    case = cases.resolve(a.case, a.size)
    case["seed"] = a.seed
    root = os.path.join(a.data, case["data_dir"])
    shutil.rmtree(root, ignore_errors=True)
    os.makedirs(root)
    t = time.time()
    arr = make(case, a.seed)
    print(f"generated {arr.nbytes/1e9:.2f} GB in {time.time()-t:.0f}s", flush=True)

    grid = case["dst"]["shards"] or case["dst"]["chunks"]
    case["hash_grid"] = grid
    hs = {}
    for idx, sl in blocks(case["shape"], grid):
        hs[".".join(map(str, idx))] = hashlib.sha1(np.ascontiguousarray(arr[sl])).hexdigest()
    json.dump(hs, open(os.path.join(root, "hashes.json"), "w"))

    dims = [f"d{n}" for n in range(len(case["shape"]))]
    for part, name in ((case["src"], case["src"]["name"]), (case["dst"], "ref.zarr/v")):
        p = os.path.join(root, name)
        st = tsutil.open_(part, case, p, create=True)
        # write slab by slab (multiples of the chunk grid along axis 0)
        g = (part["shards"] or part["chunks"])[0]
        step = g * max(1, int(2e8 // (arr[:1].nbytes * g)))
        for z in range(0, arr.shape[0], step):
            e = min(arr.shape[0], z + step)
            st[z:e].write(arr[z:e]).result()
        # root group + xarray dims so that every peer can open it
        par = os.path.dirname(p)
        if part["format"] == "zarr2":
            json.dump({"zarr_format": 2}, open(os.path.join(par, ".zgroup"), "w"))
            json.dump({"_ARRAY_DIMENSIONS": dims}, open(os.path.join(p, ".zattrs"), "w"))
        elif part["format"] == "zarr3":
            json.dump({"zarr_format": 3, "node_type": "group", "attributes": {}}, open(os.path.join(par, "zarr.json"), "w"))
            m = json.load(open(os.path.join(p, "zarr.json")))
            m["dimension_names"] = dims
            json.dump(m, open(os.path.join(p, "zarr.json"), "w"))
        elif part["format"] == "n5":
            json.dump({"n5": "2.5.1"}, open(os.path.join(par, "attributes.json"), "w"))
        n, b = du(p)
        key = "src" if part is case["src"] else "ref"
        case[key + "_files"], case[key + "_bytes"] = n, b
        print(f"{key}: {n} files, {b/1e6:.1f} MB, ratio {arr.nbytes/b:.2f}", flush=True)
    json.dump(case, open(os.path.join(root, "case.json"), "w"), indent=1)
    print("done", round(time.time() - t), "s")


if __name__ == "__main__":
    main()
