// Draws the blocks of a slice: coarser levels first, so that something is there while finer ones come.

import { planeOf } from "./elements.js";
import { PLANES, blocksIn, byFineness, dimensionsOf, indexIn, scales } from "./slice.js";

/** Tiles that are kept: a plane of a block, in shades. */
const TILES_MAX = 400;
/** Most blocks of a level that are drawn at once. */
const DRAWN_MAX = 3000;

export class Painter {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d", { alpha: false });
    this.tiles = new Map();
  }

  forget() {
    this.tiles.clear();
  }

  /** The rectangle in sight, in elements of the finest level along the plane. */
  sight(scene) {
    const [u, v] = PLANES[scene.plane];
    const pixels = scales(scene.dataset, scene.zoom);
    const [w, h] = [this.canvas.width / pixels[u] / 2, this.canvas.height / pixels[v] / 2];
    const [x, y] = [scene.centre[u], scene.centre[v]];
    return { left: x - w, top: y - h, right: x + w, bottom: y + h };
  }

  /** Draws what has come; returns blocks in sight of the level, and values of those that are there. */
  draw(scene, blocks) {
    const { context, canvas } = this;
    context.imageSmoothingEnabled = false;
    context.fillStyle = "#0a0b0c";
    context.fillRect(0, 0, canvas.width, canvas.height);
    this.outline(scene);
    const order = byFineness(scene.dataset);
    const coarser = order.slice(order.indexOf(scene.level)).reverse();
    let wanted = [];
    const values = [];
    for (const level of coarser) {
      const isOwn = level === scene.level;
      const positions = blocksIn(scene.dataset, level, scene.plane, scene.centre[PLANES[scene.plane][2]], this.sight(scene));
      if (positions.length > DRAWN_MAX) continue;
      if (isOwn) wanted = positions;
      for (const position of positions) {
        const block = blocks.get(level, position, scene.view);
        if (!block) continue;
        const tile = this.tile(scene, blocks, level, position, block);
        if (isOwn) values.push(tile.values);
        this.place(scene, level, position, tile);
      }
    }
    return { wanted, values };
  }

  /** The image is where no block is, too. */
  outline(scene) {
    const [u, v] = PLANES[scene.plane];
    const [left, top] = this.toScreen(scene, 0, 0);
    const [right, bottom] = this.toScreen(scene, scene.dataset.dimensions[u], scene.dataset.dimensions[v]);
    this.context.fillStyle = "#1d2125";
    this.context.fillRect(left, top, right - left, bottom - top);
  }

  toScreen(scene, a, b) {
    const [u, v] = PLANES[scene.plane];
    const pixels = scales(scene.dataset, scene.zoom);
    const x = (a - scene.centre[u]) * pixels[u] + this.canvas.width / 2;
    const y = (b - scene.centre[v]) * pixels[v] + this.canvas.height / 2;
    return [Math.round(x), Math.round(y)];
  }

  tile(scene, blocks, level, position, block) {
    const [u, v, n] = PLANES[scene.plane];
    const { blockDimensions } = scene.dataset.resolutionLevels[level];
    const index = indexIn(scene.dataset, level, scene.plane, scene.centre[n]) - position[n] * blockDimensions[n];
    const key = `${blocks.version} ${blocks.key(level, position, scene.view)} ${scene.plane}${index}`;
    let tile = this.tiles.get(key);
    if (!tile || tile.block !== block) {
      const extents = dimensionsOf(scene.dataset, level);
      const size = [u, v].map((axis) => Math.min(blockDimensions[axis], extents[axis] - position[axis] * blockDimensions[axis]));
      tile = { block, size, values: planeOf(block, scene.dataset.voxelType, [u, v, n], index, size) };
    }
    this.tiles.delete(key);
    this.tiles.set(key, tile);
    if (this.tiles.size > TILES_MAX) this.tiles.delete(this.tiles.keys().next().value);
    if (tile.low !== scene.low || tile.high !== scene.high) this.shade(tile, scene);
    return tile;
  }

  shade(tile, { low, high }) {
    const [width, height] = tile.size;
    tile.canvas ??= Object.assign(document.createElement("canvas"), { width, height });
    const context = tile.canvas.getContext("2d");
    const image = context.createImageData(width, height);
    const factor = high > low ? 255 / (high - low) : 0;
    for (let at = 0; at < tile.values.length; at++) {
      const value = tile.values[at];
      if (Number.isNaN(value)) continue;
      // A range of nothing has only black and white.
      const shade = factor ? Math.round((value - low) * factor) : value > low ? 255 : 0;
      image.data.fill(Math.max(0, Math.min(255, shade)), at * 4, at * 4 + 3);
      image.data[at * 4 + 3] = 255;
    }
    context.putImageData(image, 0, 0);
    Object.assign(tile, { low, high });
  }

  place(scene, level, position, tile) {
    const [u, v] = PLANES[scene.plane];
    const { resolutions, blockDimensions } = scene.dataset.resolutionLevels[level];
    const first = [u, v].map((axis) => position[axis] * blockDimensions[axis] * resolutions[axis]);
    const last = [first[0] + tile.size[0] * resolutions[u], first[1] + tile.size[1] * resolutions[v]];
    const [left, top] = this.toScreen(scene, ...first);
    const [right, bottom] = this.toScreen(scene, ...last);
    this.context.drawImage(tile.canvas, left, top, right - left, bottom - top);
  }
}
