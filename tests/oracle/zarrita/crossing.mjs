// zarrita.js: arrays that it writes and rechunk reads; what rechunk has written, read by it. As common.py describes.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

import FileSystemStore from "@zarrita/storage/fs";
import * as zarr from "zarrita";

const bytes = { name: "bytes", configuration: { endian: "little" } };
const big = { name: "bytes", configuration: { endian: "big" } };
const transpose = { name: "transpose", configuration: { order: [1, 0] } };

// Name, shape, chunks, type, codecs, what is told to the copy.
const ARRAYS = [
  // Told no codecs it writes an empty list, which the specification does not allow and others refuse.
  ["plain", [30, 40], [7, 11], "float32", [bytes], ["--chunks", "10,10"]],
  // It reads gzip, and does not write it.
  ["to-gzip", [30, 40], [7, 11], "int16", [bytes], ["--chunks", "30,8", "--codec", "gzip"]],
  ["to-zstd", [30, 40], [7, 11], "int16", [bytes], ["--chunks", "30,8", "--codec", "zstd"]],
  ["transposed", [30, 40], [7, 11], "uint8", [transpose, bytes], ["--chunks", "10,10"]],
  ["big-endian", [30, 40], [7, 11], "int32", [big], ["--chunks", "15,40"]],
  ["to-shards", [30, 40], [10, 10], "float64", [bytes], ["--chunks", "5,8", "--shards", "30,16"]],
  ["to-blosc", [30, 40], [10, 10], "uint16", [bytes], ["--chunks", "6,6", "--codec", "blosc"]],
  ["to-v2", [30, 40], [10, 10], "float32", [bytes], ["--chunks", "6,6", "--format", "zarr2"]],
];

const KINDS = {
  float32: Float32Array,
  float64: Float64Array,
  int16: Int16Array,
  int32: Int32Array,
  uint8: Uint8Array,
  uint16: Uint16Array,
};

function digest(data, shape) {
  const found = createHash("sha256");
  found.update(JSON.stringify(shape));
  found.update(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  return found.digest("hex");
}

async function write(directory) {
  const cases = [];
  for (const [name, shape, chunkShape, dtype, codecs, options] of ARRAYS) {
    const array = await zarr.create(new FileSystemStore(`${directory}/${name}`), {
      shape,
      chunkShape,
      dtype,
      codecs,
      fillValue: 0,
    });
    const data = KINDS[dtype].from({ length: shape[0] * shape[1] }, (_, at) => at % 251);
    await zarr.set(array, null, { data, shape, stride: [shape[1], 1] });
    cases.push({ name, source: name, options, digest: digest(data, shape) });
  }
  return cases;
}

async function read(path) {
  const array = await zarr.open(new FileSystemStore(path), { kind: "array" });
  const { data, shape, stride } = await zarr.get(array);
  const at = (position) => Math.floor(position / shape[1]) * stride[0] + (position % shape[1]) * stride[1];
  return digest(data.map((_, position) => data[at(position)]), shape);
}

let answer;
if (process.argv[2] === "write") {
  const lock = JSON.parse(readFileSync(new URL("package-lock.json", import.meta.url), "utf8"));
  const { version } = lock.packages["node_modules/zarrita"];
  answer = { version: `zarrita ${version}`, cases: await write(process.argv[3]) };
} else {
  answer = [];
  for (const { path } of JSON.parse(readFileSync(0, "utf8"))) {
    answer.push(await read(path).then((digest) => ({ digest }), (error) => ({ error: String(error) })));
  }
}
process.stdout.write(JSON.stringify(answer));
