// The slice viewer: its state, its controls, and drawing when something has changed.

import { Blocks } from "./blocks.js";
import { blockBytes, elementAt } from "./elements.js";
import { listen } from "./gestures.js";
import { Painter } from "./painter.js";
import { PLANES, byFineness, indexIn, levelFor, scales, spread } from "./slice.js";

const at = (id) => document.getElementById(id);
const AXES = ["x", "y", "z"];
const ZOOM_MAX = 200;
/** Blocks above this are not for a browser. */
const BLOCK_BYTES_MAX = 64 << 20;
const AUTO = "auto";

const canvas = at("slice");
const painter = new Painter(canvas);
let scene = null;
let blocks = null;
let isDue = false;
let pointed = null;

/** Draws soon. */
function draw() {
  if (isDue || !scene) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    if (scene) paint();
  });
}

function paint() {
  const { dataset } = scene;
  scene.level = scene.fixed ?? levelFor(dataset, scene.plane, scene.zoom);
  let { wanted, values } = painter.draw(scene, blocks);
  const isTooLarge = blockBytes(dataset, scene.level) > BLOCK_BYTES_MAX;
  blocks.want(scene.level, isTooLarge ? [] : wanted, scene.view);
  const isSettled = blocks.waiting === 0;
  if (isSettled && scene.isAuto) {
    const found = spread(values);
    if (found && (found.low !== scene.low || found.high !== scene.high)) {
      Object.assign(scene, { low: found.low, high: found.high });
      ({ wanted, values } = painter.draw(scene, blocks));
      showContrast(found);
    }
  }
  showNote(isSettled, isTooLarge, wanted, values);
  showPlace();
  showBar();
  at("loading").value = isSettled ? "" : `${blocks.waiting} blocks to come`;
  canvas.setAttribute("aria-busy", String(!isSettled));
  canvas.dataset.level = dataset.resolutionLevels[scene.level].resolutions.join("/");
  const n = PLANES[scene.plane][2];
  const slice = `${AXES[n]} = ${scene.slices[n]}`;
  canvas.setAttribute("aria-label", `Slice ${scene.plane} at ${slice}, resolution ${canvas.dataset.level}`);
}

function showNote(isSettled, isTooLarge, wanted, values) {
  let note = "";
  if (isTooLarge) note = "Blocks of this level are too large for a browser: choose another level.";
  else if (blocks.trouble) note = blocks.trouble;
  else if (isSettled && wanted.length && !values.length) {
    const name = scene.dataset.resolutionLevels[scene.level].resolutions.join("/");
    note = `Nothing is stored here at resolution ${name}.`;
  }
  if (at("note").textContent !== note) at("note").textContent = note;
}

/** The element under the pointer. */
function showPlace() {
  const { dataset, plane, level } = scene;
  const [u, v, n] = PLANES[plane];
  let said = `${plane.toUpperCase()} · ${AXES[n]} ${scene.slices[n]} · ${dataset.resolutionLevels[level].resolutions.join("/")}`;
  if (pointed) {
    const [x, y] = toElements(...pointed);
    const position = [0, 0, 0];
    [position[u], position[v], position[n]] = [Math.floor(x), Math.floor(y), scene.slices[n]];
    if (position.every((one, axis) => one >= 0 && one < dataset.dimensions[axis])) {
      said = `${position.join(", ")} · ${valueAt(position) ?? "not stored"}`;
    }
  }
  at("place").value = said;
}

function valueAt(position) {
  const { dataset, level } = scene;
  const { resolutions, blockDimensions } = dataset.resolutionLevels[level];
  const own = position.map((one, axis) => Math.floor(one / resolutions[axis]));
  const n = PLANES[scene.plane][2];
  own[n] = indexIn(dataset, level, scene.plane, position[n]);
  const number = own.map((one, axis) => Math.floor(one / blockDimensions[axis]));
  const block = blocks.get(level, number, scene.view);
  if (!block) return block === undefined ? "…" : undefined;
  const value = elementAt(block, dataset.voxelType, own.map((one, axis) => one - number[axis] * blockDimensions[axis]));
  return value?.toString();
}

function showBar() {
  const [u] = PLANES[scene.plane];
  const size = scene.dataset.voxelResolution?.[u] ?? 1;
  const pixels = scales(scene.dataset, scene.zoom)[u] / devicePixelRatio;
  const most = (120 / pixels) * size;
  const power = 10 ** Math.floor(Math.log10(most));
  const length = [5, 2, 1].map((step) => step * power).find((step) => step <= most) ?? power;
  at("bar").querySelector("i").style.width = `${(length / size) * pixels}px`;
  at("bar").querySelector("span").textContent = `${Number(length.toPrecision(3))} ${unit(scene.dataset)}`;
}

const unit = ({ voxelUnit }) => (voxelUnit === "um" ? "µm" : (voxelUnit ?? "pixel"));

function showContrast(found) {
  if (found) {
    for (const id of ["low", "high"]) {
      at(id).min = Math.min(found.least, scene.low);
      at(id).max = Math.max(found.most, scene.high);
    }
  }
  for (const id of ["low", "high"]) {
    at(id).value = scene[id];
    if (document.activeElement !== at(`${id}-number`)) at(`${id}-number`).value = Number(scene[id].toPrecision(7));
  }
  at("auto").checked = scene.isAuto;
}

/** Elements of the finest level at a place of the canvas, in pixels of the page. */
function toElements(x, y) {
  const [u, v] = PLANES[scene.plane];
  const pixels = scales(scene.dataset, scene.zoom);
  const across = (place, whole, axis) => scene.centre[axis] + (place * devicePixelRatio - whole / 2) / pixels[axis];
  return [across(x, canvas.width, u), across(y, canvas.height, v)];
}

function fit() {
  const { dataset, plane } = scene;
  const [u, v, n] = PLANES[plane];
  const pixels = scales(dataset, 1);
  const across = scene.centre[n];
  scene.centre = dataset.dimensions.map((extent) => extent / 2);
  scene.centre[n] = across;
  const room = 0.96;
  scene.zoom = Math.min(
    (canvas.width * room) / (dataset.dimensions[u] * pixels[u]),
    (canvas.height * room) / (dataset.dimensions[v] * pixels[v]),
    ZOOM_MAX,
  );
  draw();
}

function showPosition() {
  const n = PLANES[scene.plane][2];
  at("axis").textContent = AXES[n];
  for (const id of ["position", "position-number"]) {
    at(id).max = scene.dataset.dimensions[n] - 1;
    at(id).value = scene.slices[n];
  }
}

function goTo(slice) {
  const n = PLANES[scene.plane][2];
  const last = scene.dataset.dimensions[n] - 1;
  scene.slices[n] = Math.max(0, Math.min(last, Math.floor(slice) || 0));
  scene.centre[n] = scene.slices[n] + 0.5;
  showPosition();
  draw();
}

function turn(plane) {
  const n = PLANES[plane][2];
  scene.plane = plane;
  scene.centre[n] = scene.slices[n] + 0.5;
  document.querySelector(`#planes [value=${plane}]`).checked = true;
  showPosition();
  fit();
}

const acts = {
  move(dx, dy) {
    const pixels = scales(scene.dataset, scene.zoom);
    const [u, v] = PLANES[scene.plane];
    for (const [axis, by] of [[u, dx], [v, dy]]) {
      const moved = scene.centre[axis] - (by * devicePixelRatio) / pixels[axis];
      scene.centre[axis] = Math.max(0, Math.min(scene.dataset.dimensions[axis], moved));
    }
    draw();
  },
  zoom(factor, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) {
    const before = toElements(x, y);
    const least = 16 / Math.max(...scene.dataset.dimensions.map((extent, axis) => extent * scales(scene.dataset, 1)[axis]));
    scene.zoom = Math.max(Math.min(least, ZOOM_MAX), Math.min(ZOOM_MAX, scene.zoom * factor));
    const after = toElements(x, y);
    PLANES[scene.plane].slice(0, 2).forEach((axis, side) => {
      scene.centre[axis] += before[side] - after[side];
    });
    draw();
  },
  step: (slices) => goTo(scene.slices[PLANES[scene.plane][2]] + slices),
  fit,
  plane: turn,
  point(x, y) {
    pointed = x === null ? null : [x, y];
    draw();
  },
};

listen(canvas, Object.fromEntries(Object.entries(acts).map(([name, act]) => [name, (...given) => scene && act(...given)])));

/** Gives the canvas a pixel for each of the screen; true if it has another size by that. */
function measure() {
  const size = [canvas.clientWidth, canvas.clientHeight].map((pixels) => Math.max(1, Math.round(pixels * devicePixelRatio)));
  if (canvas.width === size[0] && canvas.height === size[1]) return false;
  [canvas.width, canvas.height] = size;
  return true;
}

new ResizeObserver(() => {
  if (scene && measure()) paint();
}).observe(canvas);

function fill(select, values, chosen) {
  select.replaceChildren(...values.map(([value, text]) => new Option(text, value, false, String(value) === String(chosen))));
  select.closest("label").hidden = values.length < 2;
}

const counted = (count) => Array.from({ length: count }, (_, number) => [number, number]);

/** Shows a data set; its settings stay if it is the one that was shown. */
export function show(dataset) {
  const versions = [...dataset.versions.map((number) => [number, number]), ["mixedLatest", "mixed latest"]];
  fill(at("version"), versions, dataset.versions.at(-1));
  fill(at("time"), dataset.timepointIds.map((number) => [number, number]), dataset.timepointIds[0]);
  fill(at("channel"), counted(dataset.channels), 0);
  fill(at("angle"), counted(dataset.angles), 0);
  const levels = byFineness(dataset).map((level) => [level, dataset.resolutionLevels[level].resolutions.join("/")]);
  fill(at("level"), [[AUTO, "by zoom"], ...levels], AUTO);
  scene = {
    dataset, plane: "xy", fixed: null, level: 0, zoom: 1,
    centre: dataset.dimensions.map((extent) => extent / 2),
    // The slice across each axis: it stays when another plane is shown.
    slices: dataset.dimensions.map((extent) => Math.floor(extent / 2)),
    view: [dataset.timepointIds[0], 0, 0], low: 0, high: 255, isAuto: true,
  };
  open();
  measure();
  turn("xy");
}

function open() {
  blocks?.close();
  painter.forget();
  blocks = new Blocks(scene.dataset, at("version").value, draw);
}

export function hide() {
  blocks?.close();
  painter.forget();
  [scene, blocks] = [null, null];
}

at("version").addEventListener("change", () => {
  open();
  draw();
});
for (const id of ["time", "channel", "angle"]) {
  at(id).addEventListener("change", () => {
    scene.view = ["time", "channel", "angle"].map((name) => Number(at(name).value));
    draw();
  });
}
at("level").addEventListener("change", () => {
  scene.fixed = at("level").value === AUTO ? null : Number(at("level").value);
  draw();
});
at("planes").addEventListener("change", (event) => turn(event.target.value));
at("fit").addEventListener("click", fit);
for (const id of ["position", "position-number"]) at(id).addEventListener("input", () => goTo(Number(at(id).value)));
for (const id of ["low", "high"]) {
  for (const input of [at(id), at(`${id}-number`)]) {
    input.addEventListener("input", () => {
      if (input.value === "" || !scene) return;
      scene[id] = Number(input.value);
      scene.isAuto = false;
      if (input.type === "number") {
        at(id).min = Math.min(at(id).min, scene[id]);
        at(id).max = Math.max(at(id).max, scene[id]);
      }
      showContrast(null);
      draw();
    });
  }
}
at("auto").addEventListener("change", () => {
  scene.isAuto = at("auto").checked;
  draw();
});
