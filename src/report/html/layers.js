// Every layer with all its settings, and the fields that change attempts.

import { breakable, byId, el, listed, prose } from "./dom.js";
import { address, failures, number, percent, plural, seconds } from "./words.js";

const LAYER_ROWS = 150;

// A link to a source line, with the text there.
export function source(state, location, line) {
  if (!location || !location.file) return el("span", { class: "source" });
  return el("span", { class: "source" },
    el("a", { href: address(state.data.link, location) }, breakable(`${location.file}:${location.line}`)),
    line && el("code", { title: line }, line));
}

// A field for the attempts of a layer, and a switch that turns it off.
export function attemptsField(state, layer, change) {
  const its = state.data.layers[layer];
  const now = state.attempts[layer];
  const as = state.original[layer];
  const changed = now !== as;
  const known = (count) => (count === null || count === Infinity ? "" : String(count));
  const number = el("input", {
    type: "number", min: 1, max: 1_000_000, step: 1, value: known(now), "data-layer": its.id,
    placeholder: as === Infinity ? "∞" : "?", "aria-label": `Attempts of ${its.name}`,
    onchange: (event) => {
      const count = Math.floor(Number(event.target.value));
      change(layer, event.target.value === "" || !(count >= 1) ? as : Math.min(count, 1_000_000));
    },
  });
  const on = el("input", {
    type: "checkbox", checked: now !== 1, "data-switch": its.id, "aria-label": `${its.name} retries`,
    onchange: (event) => change(layer, event.target.checked ? (as === 1 ? 2 : as) : 1),
  });
  return el("span", { class: changed ? "attempts changed" : "attempts", "data-field": layer },
    el("label", {}, on, "retries"), number, el("span", { class: "unit" }, "attempts"),
    changed && el("span", { class: "badge" }, `was ${as === null ? "not known" : as === Infinity ? "∞" : as}`));
}

export function drawLayers(state, shown, change, showWaits) {
  const { data } = state;
  listed(byId("layer-rows"), byId("more-layers"), shown, (ix) => row(state, ix, change, showWaits), LAYER_ROWS);
  byId("layers-note").textContent = [
    plural(shown.length, "layer", "layers"),
    `${shown.filter((ix) => data.layers[ix].attempts.origin === "default").length} by a default that nobody wrote`,
  ].join(", ");
}

function row(state, ix, change, showWaits) {
  const layer = state.data.layers[ix];
  return el("tr", { "data-row": layer.id },
    el("td", {}, el("span", { class: "name" }, prose(layer.name)), el("span", { class: "sub" }, layer.kind), source(state, layer.location, layer.line)),
    el("td", {}, breakable(layer.component ?? ""), el("span", { class: "sub" }, layer.target && ["→ ", breakable(layer.target)])),
    el("td", {}, attemptsField(state, ix, change), el("span", { class: "sub" },
      layer.within !== null && `what fits into ${seconds(layer.within)} `,
      layer.copies && "copies side by side ", outsidePaths[layer.purpose], origin(layer.attempts))),
    el("td", { "data-head": "Waits" }, prose(layer.wait), " ", canShow(layer) && el("button", { type: "button", class: "link", "aria-label": `Show the waits of ${layer.name}`, onclick: () => showWaits(ix) }, "show")),
    el("td", { "data-head": "Jitter" }, jitterName(layer.jitter.value), " ", origin(layer.jitter)),
    el("td", { "data-head": "Retries on" }, retriesOn(layer)),
    el("td", {}, limits(layer)));
}

// What no request waits for multiplies nothing.
const outsidePaths = { background: "no request waits for it ", upkeep: "it repeats no request " };

export function canShow(layer) {
  return layer.waits !== null && layer.waits.length > 0;
}

// Whether somebody wrote a value, or it is a default, or not known.
function origin(setting) {
  if (setting.origin === "written") return null;
  if (setting.origin === "default") return el("span", { class: "badge", title: setting.source }, "default");
  return el("span", { class: "badge unknown", title: setting.why }, "not known");
}

export function jitterName(jitter) {
  switch (jitter?.kind) {
    case "none": return "none";
    case "full": return "full";
    case "decorrelated": return "decorrelated";
    case "partial": return `× ${number(jitter.low)} to ${number(jitter.high)}`;
    default: return "";
  }
}

function retriesOn(layer) {
  const names = failures(layer.retries_on);
  const perhaps = layer.perhaps_on.length ? `perhaps ${failures(layer.perhaps_on)}` : "";
  const methods = layer.methods ? `of ${layer.methods.join(", ")}` : "";
  return [names, perhaps && el("span", { class: "sub" }, perhaps), methods && el("span", { class: "sub" }, methods)];
}

function limits(layer) {
  const lines = [];
  const add = (name, setting, shown) => {
    if (setting) lines.push(el("span", { class: "sub" }, `${name} `, setting.value === null ? "" : shown(setting.value), " ", origin(setting)));
  };
  add("per try", layer.per_try, seconds);
  add("in all", layer.overall, seconds);
  add("budget", layer.budget, percent);
  add("Retry-After", layer.retry_after.origin === "unknown" ? null : layer.retry_after, (used) => (used ? "used" : "not used"));
  return lines;
}
