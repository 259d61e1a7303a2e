// Geometry of a slice: planes, levels, blocks in sight. Positions are x, y, z in elements of the
// finest resolution; element i reaches from i to i + 1.

/** Axes of a plane: to the right, downwards, and across it. */
export const PLANES = { xy: [0, 1, 2], xz: [0, 2, 1], yz: [1, 2, 0] };

export const dimensionsOf = (dataset, level) => {
  const { resolutions } = dataset.resolutionLevels[level];
  return dataset.dimensions.map((extent, axis) => Math.max(1, Math.floor(extent / resolutions[axis])));
};

/** Pixels of an element of the finest level along each axis, if the smallest has `zoom`. */
export function scales(dataset, zoom) {
  const sizes = dataset.voxelResolution ?? [1, 1, 1];
  const usable = sizes.map((size) => (Number.isFinite(size) && size > 0 ? size : 1));
  const least = Math.min(...usable);
  return usable.map((size) => (zoom * size) / least);
}

/** Numbers of levels, finest first. */
export function byFineness(dataset) {
  const volume = ({ resolutions: [x, y, z] }) => x * y * z;
  const levels = dataset.resolutionLevels;
  return levels.map((_, number) => number).sort((a, b) => volume(levels[a]) - volume(levels[b]));
}

/** The coarsest level whose elements are no larger than a pixel of the screen; else the finest. */
export function levelFor(dataset, plane, zoom) {
  const pixels = scales(dataset, zoom);
  const [u, v] = PLANES[plane];
  const order = byFineness(dataset);
  const fits = (number) => {
    const { resolutions } = dataset.resolutionLevels[number];
    return resolutions[u] * pixels[u] <= 1.01 && resolutions[v] * pixels[v] <= 1.01;
  };
  return order.filter(fits).at(-1) ?? order[0];
}

/** The index across the plane in a level of a position of the finest. */
export function indexIn(dataset, level, plane, position) {
  const n = PLANES[plane][2];
  const extent = dimensionsOf(dataset, level)[n];
  return Math.min(extent - 1, Math.floor(position / dataset.resolutionLevels[level].resolutions[n]));
}

/** Positions of the blocks of a level in a rectangle, those in its middle first. */
export function blocksIn(dataset, level, plane, position, { left, top, right, bottom }) {
  const axes = PLANES[plane];
  const { resolutions, blockDimensions } = dataset.resolutionLevels[level];
  const extents = dimensionsOf(dataset, level);
  const [u, v, n] = axes;
  const span = (axis, low, high) => {
    const size = resolutions[axis] * blockDimensions[axis];
    const last = Math.ceil(extents[axis] / blockDimensions[axis]) - 1;
    return [Math.max(0, Math.floor(low / size)), Math.min(last, Math.ceil(high / size) - 1)];
  };
  const [us, vs] = [span(u, left, right), span(v, top, bottom)];
  const middle = [(us[0] + us[1]) / 2, (vs[0] + vs[1]) / 2];
  const across = Math.floor(indexIn(dataset, level, plane, position) / blockDimensions[n]);
  const found = [];
  for (let j = vs[0]; j <= vs[1]; j++) {
    for (let i = us[0]; i <= us[1]; i++) {
      const block = [0, 0, 0];
      [block[u], block[v], block[n]] = [i, j, across];
      found.push({ block, far: Math.hypot(i - middle[0], j - middle[1]) });
    }
  }
  return found.sort((a, b) => a.far - b.far).map(({ block }) => block);
}

/** Lowest and highest of values, without the outermost thousandth on each side. */
export function spread(planes) {
  const count = planes.reduce((sum, plane) => sum + plane.length, 0);
  const step = Math.max(1, Math.floor(count / 100000));
  const sample = [];
  for (const plane of planes) {
    for (let at = 0; at < plane.length; at += step) if (Number.isFinite(plane[at])) sample.push(plane[at]);
  }
  if (!sample.length) return null;
  sample.sort((a, b) => a - b);
  const cut = Math.floor(sample.length / 1000);
  return { low: sample[cut], high: sample[sample.length - 1 - cut], least: sample[0], most: sample.at(-1) };
}
