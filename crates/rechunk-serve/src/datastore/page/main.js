// The list of data sets, the one that is shown, rebuilds under way, and the token.

import { Trouble, ask, askJson, pathOf, token } from "./api.js";
import { itemBytes, product } from "./elements.js";
import { byFineness, dimensionsOf } from "./slice.js";
import * as viewer from "./viewer.js";

const at = (id) => document.getElementById(id);
const BUSY_MILLISECONDS = 2000;
const IDLE_MILLISECONDS = 15000;

let next = null;
let shown = null;

/** An element with text and children. */
function make(name, text = "", attributes = {}, ...children) {
  const element = Object.assign(document.createElement(name), { textContent: text });
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

function complain(error) {
  if (error.name === "AbortError") return;
  at("trouble").textContent = error instanceof Trouble ? error.message : `Something is wrong with this page: ${error.message}`;
  at("trouble").hidden = false;
  if ([401, 403].includes(error.status)) at("token").hidden = false;
  if (!(error instanceof Trouble)) console.error(error);
}

function bytes(count) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let unit = 0;
  while (count >= 1024 && unit < units.length - 1) {
    count /= 1024;
    unit++;
  }
  return `${count < 10 && unit ? count.toFixed(1) : Math.round(count)} ${units[unit]}`;
}

const views = (dataset) => dataset.timepointIds.length * dataset.channels * dataset.angles;
const sized = (dataset) => `${dataset.dimensions.join(" × ")} ${dataset.voxelType}`;
const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

/** A picture, which a browser cannot ask for with a token by itself. */
async function picture(image, dataset) {
  try {
    const answer = await ask(`${pathOf(dataset.uuid)}/mixedLatest/png`);
    image.src = URL.createObjectURL(await answer.blob());
    image.addEventListener("load", () => URL.revokeObjectURL(image.src), { once: true });
  } catch {
    // The list says enough without it.
  }
}

const pictures = new IntersectionObserver((seen) => {
  for (const { target, isIntersecting } of seen) {
    if (!isIntersecting) continue;
    pictures.unobserve(target);
    picture(target, target.dataset_);
  }
});

function entry(dataset) {
  const image = make("img", "", { alt: "", width: 56, height: 56 });
  image.dataset_ = dataset;
  pictures.observe(image);
  const counts = [plural(dataset.versions.length, "version"), plural(dataset.resolutionLevels.length, "level")];
  if (views(dataset) > 1) counts.push(plural(views(dataset), "view"));
  const link = make(
    "a", "", { href: `#${encodeURIComponent(dataset.uuid)}`, title: dataset.uuid },
    image,
    make("b", dataset.label || dataset.uuid),
    make("small", sized(dataset)),
    make("small", counts.join(" · ")),
  );
  return make("li", "", {}, link);
}

async function list(isFirst) {
  const path = isFirst || !next ? "datasets?limit=100" : `datasets?limit=100&after=${encodeURIComponent(next)}`;
  const answer = await askJson(path);
  const entries = answer.datasets.map(entry);
  const items = at("list").querySelector("ul");
  if (isFirst) items.replaceChildren(...entries);
  else items.append(...entries);
  next = answer.next;
  at("more").hidden = !next;
  at("access").textContent = answer.writable ? "" : "read only";
  const isEmpty = items.childElementCount === 0;
  document.body.classList.toggle("empty", isEmpty);
  at("empty").hidden = !isEmpty;
  at("empty").textContent = isEmpty
    ? "There is no data set here yet, or none that this token may see. Clients create one by POST to /datasets."
    : "";
  mark();
}

function mark() {
  for (const link of at("list").querySelectorAll("a")) {
    const isCurrent = shown && link.getAttribute("href") === `#${encodeURIComponent(shown.uuid)}`;
    if (isCurrent) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
}

function about(dataset) {
  const rows = byFineness(dataset).map((level) => {
    const { resolutions, blockDimensions } = dataset.resolutionLevels[level];
    const extents = dimensionsOf(dataset, level);
    const size = product(extents) * itemBytes(dataset.voxelType) * views(dataset);
    const cells = [resolutions.join("/"), extents.join(" × "), blockDimensions.join(" × "), bytes(size)];
    return make("tr", "", {}, ...cells.map((cell) => make("td", cell)));
  });
  const heads = ["Level", "Elements", "Block", "Size"].map((head) => make("th", head, { scope: "col" }));
  const table = make("table", "", {}, make("thead", "", {}, make("tr", "", {}, ...heads)), make("tbody", "", {}, ...rows));
  const facts = make("dl");
  const fact = (name, ...given) => facts.append(make("dt", name), make("dd", "", {}, ...given));
  fact("Name", dataset.uuid);
  fact("Versions", dataset.versions.join(", "));
  if (dataset.voxelResolution) fact("Voxel", `${dataset.voxelResolution.join(" × ")} ${dataset.voxelUnit === "um" ? "µm" : (dataset.voxelUnit ?? "")}`);
  fact("Compression", dataset.compression);
  const id = encodeURIComponent(dataset.uuid);
  fact("BigDataViewer", make("a", "list of a BigDataServer", { href: `bdv/${id}/json` }));
  at("about").replaceChildren(make("div", "", { class: "wide" }, table), facts);
}

/** Shows the data set that the address names. */
async function route() {
  let name = "";
  try {
    name = decodeURIComponent(location.hash.slice(1));
  } catch {
    // An address that somebody has cut: none.
  }
  at("trouble").hidden = true;
  document.body.classList.toggle("chosen", name !== "");
  if (!name) {
    shown = null;
    viewer.hide();
    at("shown").hidden = true;
    at("choose").hidden = false;
    document.title = "Data sets · rechunk";
    mark();
    return;
  }
  const dataset = await askJson(pathOf(name));
  shown = dataset;
  at("shown").hidden = false;
  at("choose").hidden = true;
  at("shown").querySelector("h2").textContent = dataset.label || dataset.uuid;
  document.title = `${dataset.label || dataset.uuid} · rechunk`;
  const counts = [sized(dataset)];
  if (dataset.timepointIds.length > 1) counts.push(plural(dataset.timepointIds.length, "timepoint"));
  if (dataset.channels > 1) counts.push(plural(dataset.channels, "channel"));
  if (dataset.angles > 1) counts.push(plural(dataset.angles, "angle"));
  counts.push(bytes(product(dataset.dimensions) * itemBytes(dataset.voxelType) * views(dataset)));
  at("summary").textContent = counts.join(" · ");
  about(dataset);
  mark();
  viewer.show(dataset);
}

async function rebuilds() {
  let wait = IDLE_MILLISECONDS;
  try {
    const { rebuilds: all } = document.hidden ? { rebuilds: [] } : await askJson("rebuilds");
    at("rebuilds").hidden = !all.length;
    at("rebuilds").replaceChildren(
      ...all.map((one) => {
        const part = one.timepoint === null ? "all" : `time ${one.timepoint}, channel ${one.channel}, angle ${one.angle}`;
        const share = one.blocks ? one.blocksBegun / one.blocks : 1;
        const name = `Rebuilding ${one.dataset}, version ${one.version}, ${part}`;
        const progress = make("progress", "", { max: 1, value: share, "aria-label": name });
        return make("div", "", {}, make("span", name, { title: name }), progress, make("span", `${Math.floor(share * 100)} %`));
      }),
    );
    if (all.length) wait = BUSY_MILLISECONDS;
  } catch {
    // The list says what is wrong.
  }
  setTimeout(rebuilds, wait);
}

const safely = (work) => (...given) => work(...given).catch(complain);

function showToken() {
  at("token").hidden = !token.get();
  at("forget").hidden = !token.get();
  at("token-text").placeholder = token.get() ? "in use in this tab" : "rck_…";
  at("token-text").value = "";
}

const start = safely(async () => {
  at("trouble").hidden = true;
  showToken();
  await list(true);
  await route();
});

at("token").addEventListener("submit", (event) => {
  event.preventDefault();
  token.set(at("token-text").value);
  start();
});
at("forget").addEventListener("click", () => {
  token.set("");
  start();
});
at("more").addEventListener("click", safely(() => list(false)));
addEventListener("hashchange", safely(route));
start();
rebuilds();
