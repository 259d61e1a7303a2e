// Blocks of a version, asked for several at once and kept within a bound of bytes.

import { Trouble, ask, pathOf } from "./api.js";
import { blockBytes, parseBlocks } from "./elements.js";

const KEPT_BYTES = 128 << 20;
const REQUESTS_AT_ONCE = 4;
const REQUEST_BYTES = 8 << 20;
const REQUEST_BLOCKS = 32;
const PATH_LENGTH = 1800;
/** Bytes that stand for a block of which it is known that it is not there. */
const ABSENT_BYTES = 64;
const RETRY_MILLISECONDS = 2000;

export class Blocks {
  /** `changed` is called when blocks have come, or could not. */
  constructor(dataset, version, changed) {
    Object.assign(this, { dataset, version, changed });
    this.kept = new Map();
    this.bytes = 0;
    this.queue = [];
    this.loading = new Map();
    this.trouble = null;
    /** Blocks that cannot be read: they are not asked for again. */
    this.failed = new Set();
    this.retry = 0;
  }

  key(level, [x, y, z], [t, c, a]) {
    return `${level}/${x}/${y}/${z}/${t}/${c}/${a}`;
  }

  /** A block; null if it is not available, undefined if it has not come yet. */
  get(level, position, view) {
    const key = this.key(level, position, view);
    const block = this.kept.get(key);
    if (block !== undefined) {
      this.kept.delete(key);
      this.kept.set(key, block);
    }
    return block;
  }

  /** Loads these blocks of a level, the first ones first, and nothing else any more. */
  want(level, positions, view) {
    const wanted = new Set(positions.map((position) => this.key(level, position, view)));
    for (const request of new Set(this.loading.values())) {
      if (!request.keys.some((key) => wanted.has(key))) request.abort.abort();
    }
    this.queue = positions
      .filter((position) => {
        const key = this.key(level, position, view);
        return !this.kept.has(key) && !this.loading.has(key) && !this.failed.has(key);
      })
      .map((position) => ({ level, position, view }));
    this.pump();
  }

  get waiting() {
    return this.queue.length + this.loading.size;
  }

  close() {
    this.queue = [];
    clearTimeout(this.retry);
    for (const request of new Set(this.loading.values())) request.abort.abort();
  }

  pump() {
    if (this.retry) return;
    while (this.queue.length && new Set(this.loading.values()).size < REQUESTS_AT_ONCE) this.load(this.batch());
  }

  /** As many blocks as one request takes. */
  batch() {
    const bytes = blockBytes(this.dataset, this.queue[0].level);
    const most = Math.max(1, Math.min(REQUEST_BLOCKS, Math.floor(REQUEST_BYTES / bytes)));
    let [count, length] = [0, 0];
    while (count < Math.min(most, this.queue.length) && length < PATH_LENGTH) {
      const { position, view } = this.queue[count++];
      length += [...position, ...view].join("/").length + 1;
    }
    return this.queue.splice(0, count);
  }

  async load(batch) {
    const keys = batch.map(({ level, position, view }) => this.key(level, position, view));
    const request = { keys, abort: new AbortController() };
    for (const key of keys) this.loading.set(key, request);
    const { resolutions } = this.dataset.resolutionLevels[batch[0].level];
    const numbers = batch.flatMap(({ position, view }) => [...position, ...view]);
    const path = [pathOf(this.dataset.uuid), ...resolutions, this.version, ...numbers].join("/");
    try {
      const answer = await ask(path, request.abort.signal);
      const blocks = parseBlocks(await answer.arrayBuffer(), batch.length, this.dataset.voxelType);
      blocks.forEach((block, at) => this.keep(keys[at], block));
      this.trouble = null;
    } catch (error) {
      if (error.name !== "AbortError") {
        this.trouble = error.message;
        const isPassing = error instanceof Trouble && [0, 429, 503].includes(error.status);
        if (!isPassing) for (const key of keys) this.failed.add(key);
        clearTimeout(this.retry);
        this.retry = isPassing ? setTimeout(() => this.resume(), RETRY_MILLISECONDS) : 0;
      }
    }
    for (const key of keys) this.loading.delete(key);
    this.pump();
    this.changed();
  }

  resume() {
    this.retry = 0;
    this.changed();
  }

  keep(key, block) {
    this.kept.set(key, block);
    this.bytes += block ? block.view.byteLength : ABSENT_BYTES;
    for (const [oldest, other] of this.kept) {
      if (this.bytes <= KEPT_BYTES || oldest === key) break;
      this.kept.delete(oldest);
      this.bytes -= other ? other.view.byteLength : ABSENT_BYTES;
    }
  }
}
