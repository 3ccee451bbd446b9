// The paths, and the chosen one layer by layer.

import { byId, el, listed, prose, replace } from "./dom.js";
import { attemptsField, source } from "./layers.js";
import { load } from "./load.js";
import { compare, isOver } from "./model.js";
import { address, failing, modeName, number, percent, plural, product, seconds } from "./words.js";

const PATH_ROWS = 100;

// What a path comes to on average, as the slider and the budgets are set.
export function expected(state, path) {
  const layers = path.layers.map((layer) => state.data.layers[layer]);
  return load(layers, (layer) => state.attempts[layer.ix], state.share, state.budgets);
}

export function drawPaths(state, shown, pick) {
  const { data } = state;
  const row = (path) => {
    const was = state.before.get(path.key);
    const changed = was && compare(was.product, path.product) !== 0;
    const over = isOver(data, path.product);
    const name = (ix) => data.components[ix].name;
    return el("tr", {
      class: path.listed ? (over ? "over" : "") : "idle",
      "aria-current": path.key === state.chosen ? "true" : undefined,
      "data-path": path.key,
      "data-product": path.product.unbounded ? "unbounded" : path.product.count,
      "data-at-least": String(path.product.unknown > 0),
      "data-average": expected(state, path).leaf,
      "data-listed": String(path.listed),
      "data-leaf": name(path.leaf),
      "data-layers": path.layers.map((layer) => data.layers[layer].id).join("\n"),
      onclick: () => pick(path.key),
    },
    el("td", { class: "number" },
      changed && el("span", { class: "was" }, product(was.product)),
      el("button", { type: "button", class: "pick", "aria-label": `${product(path.product)}, ${name(path.entry)} to ${name(path.leaf)}` },
        product(path.product))),
    el("td", { class: "number" }, number(expected(state, path).leaf)),
    el("td", {}, name(path.entry), el("span", { class: "arrow" }, " → "), name(path.leaf)),
    el("td", {}, path.layers.flatMap((layer, i) => [i > 0 && " × ", el("span", { title: data.layers[layer].name }, count(state.attempts[layer]))])),
    el("td", {}, modeName(data.modes[path.mode])));
  };
  const rows = byId("path-rows");
  if (shown.length === 0) {
    byId("more-paths").hidden = true;
    replace(rows, el("tr", {}, el("td", { colspan: 5, class: "empty" },
      state.query ? "No path fits the search." : "No call is repeated by more than one layer.")));
  } else {
    listed(rows, byId("more-paths"), shown, row, PATH_ROWS);
  }
  const over = shown.filter((path) => isOver(data, path.product)).length;
  const alone = shown.filter((path) => !path.listed).length;
  const cut = data.summary.paths_truncated || data.summary.chains_truncated;
  byId("paths-note").textContent = [
    `${plural(shown.length, "path", "paths")}, ${over || "none"} above ${data.max_amplification}`,
    alone > 0 && (alone === shown.length ? "one layer on each" : `${number(alone)} with one layer, in grey`),
    cut && "the worst are listed, there are more",
  ].filter(Boolean).join("; ");
  byId("expected-head").textContent = `At ${percent(state.share)}`;
  rows.closest("table").classList.toggle("plain", state.share === 1 && !state.budgeted);
}

function count(attempts) {
  return attempts === null ? "?" : number(attempts);
}

export function drawSteps(state, path, change) {
  const steps = byId("steps");
  if (!path) {
    byId("path-note").textContent = "";
    replace(steps, el("li", { class: "end" }, el("span", {}, "No path is chosen.")));
    return;
  }
  const { data } = state;
  const name = (ix) => data.components[ix].name;
  byId("path-note").textContent = `${name(path.entry)} → ${name(path.leaf)}, when ${failing(name(path.leaf), data.modes[path.mode])}. `
    + `${worstTime(data, path)}Change the attempts of a layer, or turn it off, and see what becomes of every path.`;
  const average = expected(state, path);
  const at = new Map(path.layers.map((layer, i) => [layer, i]));
  let sum = { unbounded: 0, count: 1, unknown: 0 };
  const cards = everyStep(state, path).map(({ hop, layer }) => {
    const { from, to } = data.hops[hop];
    const its = data.layers[layer];
    const attempts = state.attempts[layer];
    const repeats = at.has(layer);
    if (repeats) sum = multiply(sum, attempts);
    return el("li", { class: attempts === 1 ? "off" : "" },
      el("span", { class: "what" },
        hopName(state, hop, `${name(from)} → ${name(to)}`),
        el("span", { class: "name" }, prose(its.name)),
        source(state, its.location, its.line)),
      attemptsField(state, layer, change),
      el("span", { class: "sum" }, el("b", {}, product(sum)),
        state.share < 1 && repeats && `on average ${number(average.sent[at.get(layer)].requests)}`));
  });
  const over = isOver(data, path.product);
  const partly = state.share < 1 || state.budgeted;
  steps.classList.toggle("calm", !over);
  replace(steps,
    el("li", { class: "end" }, el("span", { class: "what" }, el("span", { class: "who" }, "from"), el("span", { class: "name" }, name(path.entry)), source(state, data.components[path.entry].location)),
      el("span", { class: "sum" }, el("b", {}, "1"), "request")),
    cards,
    el("li", { class: "end" },
      el("span", { class: "what" }, el("span", { class: "who" }, "arrives at"), el("span", { class: "name" }, name(path.leaf)), source(state, data.components[path.leaf].location),
        partly && el("span", { class: "who" }, `Where ${percent(state.share)} of the tries fail: `, el("b", { id: "chosen-average" }, number(average.leaf)), ` on average, and ${percent(average.fails)} of the requests fail for good.`)),
      el("span", { class: "sum" }, el("b", { id: "chosen-product", class: over ? "hot" : "calm" }, product(path.product)), "at most")));
}

// A hop, with a link to where it is made, and what is special about it.
function hopName(state, hop, text) {
  const { location, per_item, through } = state.data.hops[hop];
  const more = [through && `through ${through}`, per_item && "for each of several items"].filter(Boolean).join(", ");
  const named = location?.file ? el("a", { href: address(state.data.link, location) }, text) : text;
  return el("span", { class: "who" }, named, more && `, ${more}`);
}

// How long a request on this path can take, as the tool has worked it out for the layers as they are.
function worstTime(data, path) {
  const leaf = data.components[path.leaf].name;
  const found = data.paths.find((one) => one.leaf === leaf && one.layers.join() === path.layers.join());
  const time = found?.worst_time;
  if (!time || !(time.unbounded || time.known_seconds > 0)) return "";
  const said = time.unbounded ? "without end" : `${seconds(time.known_seconds)}${time.seconds === null ? " and more" : ""}`;
  return `As it is, that takes at worst ${said}. `;
}

// The layers of a path, those among them that are turned off and could be turned on.
function everyStep(state, path) {
  const steps = [];
  for (let at = path.repeat; at !== null; at = state.data.repeats[at].outer) {
    const { hop, layers } = state.data.repeats[at];
    steps.unshift(...layers.map((layer) => ({ hop, layer })));
  }
  return steps;
}

function multiply(sum, attempts) {
  if (attempts === null) return { ...sum, unknown: sum.unknown + 1 };
  if (attempts === Infinity) return { ...sum, unbounded: sum.unbounded + 1 };
  return { ...sum, count: sum.count * attempts };
}
