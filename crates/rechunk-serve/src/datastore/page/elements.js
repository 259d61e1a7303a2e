// Blocks as they are on the wire: three big-endian sizes, then big-endian elements, x fastest.

const READERS = {
  uint8: [1, (view, at) => view.getUint8(at)],
  int8: [1, (view, at) => view.getInt8(at)],
  uint16: [2, (view, at) => view.getUint16(at)],
  int16: [2, (view, at) => view.getInt16(at)],
  uint32: [4, (view, at) => view.getUint32(at)],
  int32: [4, (view, at) => view.getInt32(at)],
  float32: [4, (view, at) => view.getFloat32(at)],
  uint64: [8, (view, at) => view.getBigUint64(at)],
  int64: [8, (view, at) => view.getBigInt64(at)],
  float64: [8, (view, at) => view.getFloat64(at)],
};

const HEADER_BYTES = 12;

export const itemBytes = (type) => READERS[type][0];

export const product = (numbers) => numbers.reduce((all, one) => all * one, 1);

/** Bytes of a full block of a level. */
export const blockBytes = ({ resolutionLevels, voxelType }, level) =>
  product(resolutionLevels[level].blockDimensions) * itemBytes(voxelType);

/** The blocks of an answer: null for one that is not available, else its sizes and bytes. */
export function parseBlocks(buffer, count, type) {
  const whole = new DataView(buffer);
  const blocks = [];
  let at = 0;
  for (let number = 0; number < count; number++) {
    if (at + HEADER_BYTES > buffer.byteLength) throw new Error("The answer of the server breaks off.");
    const sizes = [0, 4, 8].map((offset) => whole.getInt32(at + offset));
    at += HEADER_BYTES;
    if (sizes[0] < 0) {
      blocks.push(null);
      continue;
    }
    const bytes = sizes[0] * sizes[1] * sizes[2] * itemBytes(type);
    if (at + bytes > buffer.byteLength) throw new Error("The answer of the server breaks off.");
    // A copy: else a small block would keep the whole answer.
    blocks.push({ sizes, view: new DataView(buffer.slice(at, at + bytes)) });
    at += bytes;
  }
  return blocks;
}

/** The element at a position in a block; undefined outside of it. Integers of 64 bits are BigInt. */
export function elementAt(block, type, [x, y, z]) {
  const [sx, sy, sz] = block.sizes;
  if (x >= sx || y >= sy || z >= sz) return undefined;
  const [bytes, read] = READERS[type];
  return read(block.view, (x + sx * (y + sy * z)) * bytes);
}

/** Values of a plane of a block, `u` fastest; NaN beyond the block. */
export function planeOf(block, type, [u, v, n], index, [width, height]) {
  const [bytes, read] = READERS[type];
  const steps = [1, block.sizes[0], block.sizes[0] * block.sizes[1]];
  const values = new Float64Array(width * height).fill(NaN);
  if (index >= block.sizes[n]) return values;
  const [w, h] = [Math.min(width, block.sizes[u]), Math.min(height, block.sizes[v])];
  for (let row = 0; row < h; row++) {
    let from = (index * steps[n] + row * steps[v]) * bytes;
    for (let column = 0; column < w; column++, from += steps[u] * bytes) {
      values[row * width + column] = Number(read(block.view, from));
    }
  }
  return values;
}
