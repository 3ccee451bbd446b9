// The page: reads its data, and draws it anew whenever somebody chooses or changes something.

import { byId, el, listed, prose, replace } from "./dom.js";
import { Graph } from "./graph.js";
import { drawLayers, source } from "./layers.js";
import { attemptsOf, isOver, paths } from "./model.js";
import { drawPaths, drawSteps } from "./paths.js";
import { Waits } from "./waits.js";
import { failing, modeName, percent, plural, product } from "./words.js";

async function read() {
  const holder = byId("data");
  const text = holder.textContent;
  if (holder.dataset.encoding !== "deflate") return JSON.parse(text);
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).json();
}

class Page {
  constructor(data) {
    data.layers.forEach((layer, ix) => { layer.ix = ix; });
    const original = attemptsOf(data);
    this.state = {
      data, original, attempts: [...original], mode: null, share: 1, budgets: true, query: "", chosen: null, paths: [], before: new Map(),
      budgeted: data.layers.some((layer) => layer.budget?.value !== null && layer.budget !== null),
    };
    this.beforeIn = undefined;
    this.draw = { graph: new Graph(data, (component) => this.pickComponent(component)), waits: new Waits(data) };
    this.header();
    this.controls();
    this.lists();
    this.multiply();
    this.choose(this.state.paths[0]?.key ?? null, true);
  }

  // Works the products out anew and draws what depends on them.
  multiply() {
    const { state } = this;
    const { data } = state;
    if (this.beforeIn !== state.mode) {
      this.beforeIn = state.mode;
      state.before = new Map(paths(data, state.original, state.mode).map((path) => [path.key, path]));
    }
    state.paths = paths(data, state.attempts, state.mode);
    if (!state.paths.some((path) => path.key === state.chosen)) state.chosen = this.nearest();
    const changed = state.attempts.filter((count, ix) => count !== state.original[ix]).length;
    byId("whatif").classList.toggle("changed", changed > 0);
    byId("whatif-now").textContent = changed ? `What if: ${plural(changed, "layer", "layers")} changed` : "As it is";
    byId("reset").disabled = changed === 0;
    this.headline();
    this.redraw();
  }

  // The path that has most in common with the one that was chosen and is no more.
  nearest() {
    const { state } = this;
    const before = this.last;
    if (!before) return state.paths[0]?.key ?? null;
    const like = (path) => path.steps.filter((step) => before.steps.some((other) => other.layer === step.layer)).length;
    const best = state.paths.reduce((a, b) => (a && like(a) >= like(b) ? a : b), null);
    return best?.key ?? null;
  }

  redraw() {
    const { state } = this;
    const found = this.found();
    const path = this.redrawPaths(found);
    const change = (layer, count) => this.change(layer, count);
    drawLayers(state, found.layers, change, (layer) => {
      this.draw.waits.show(layer);
      byId("waits").scrollIntoView({ block: "nearest" });
    });
    this.draw.graph.light(path, state);
    this.draw.graph.find(found.components);
  }

  // Only what depends on the choice of a path, and on the averages.
  redrawPaths(found) {
    const { state } = this;
    const path = state.paths.find((one) => one.key === state.chosen) ?? null;
    this.last = path ?? this.last;
    drawPaths(state, state.paths.filter((one) => found.path(one)), (key) => this.choose(key, true));
    drawSteps(state, path, (layer, count) => this.change(layer, count));
    return path;
  }

  // What the search finds; everything where nothing is searched for.
  found() {
    const { data, query } = this.state;
    const all = data.layers.map((_, ix) => ix);
    if (!query) return { path: () => true, layers: all, components: null };
    const has = (...texts) => texts.some((text) => text && text.toLowerCase().includes(query));
    const components = new Set(data.components.flatMap((component, ix) => (has(component.name, component.location?.file) ? [ix] : [])));
    const layers = new Set(all.filter((ix) => {
      const layer = data.layers[ix];
      return has(layer.name, layer.system, layer.component, layer.target, layer.location.file);
    }));
    data.hops.forEach((hop) => {
      if (hop.layers.some((layer) => layers.has(layer))) components.add(hop.from).add(hop.to);
    });
    const path = (one) => one.layers.some((layer) => layers.has(layer))
      || one.chain.hops.some((hop) => has(data.components[data.hops[hop].from].name, data.components[data.hops[hop].to].name));
    return { path, layers: [...layers], components };
  }

  choose(key, show) {
    const { state } = this;
    const focused = document.activeElement?.closest?.("[data-path]")?.dataset.path;
    state.chosen = key;
    this.draw.graph.light(this.redrawPaths(this.found()), state);
    if (focused === key) byId("path-rows").querySelector('[aria-current="true"] .pick')?.focus();
    const path = state.paths.find((one) => one.key === key);
    if (!path) return;
    if (show && this.draw.graph.nodes.size > 24) this.draw.graph.showPath();
    const withWaits = path.layers.findLast((layer) => state.data.layers[layer].waits?.some((wait) => wait > 0));
    if (withWaits !== undefined) this.draw.waits.show(withWaits);
  }

  pickComponent(ix) {
    const { data, paths: all } = this.state;
    const component = data.components[ix];
    const through = all.filter((path) => path.chain.hops.some((hop) => data.hops[hop].from === ix || data.hops[hop].to === ix));
    replace(byId("node"), el("b", {}, component.name), ` · ${component.kind} · on ${plural(through.length, "path", "paths")} `, source(this.state, component.location));
    if (through.length) this.choose(through[0].key, false);
  }

  change(layer, count) {
    const held = document.activeElement;
    const [where, part] = [held?.closest?.("section")?.id, held?.closest?.("[data-field]")?.dataset.field];
    const isSwitch = held?.type === "checkbox";
    this.state.attempts[layer] = count;
    this.multiply();
    // The fields were drawn anew: the keyboard stays where it was.
    if (part !== undefined) document.querySelector(`#${where} [data-field="${part}"] input[type="${isSwitch ? "checkbox" : "number"}"]`)?.focus();
  }

  header() {
    const { data } = this.state;
    const { summary } = data;
    const counts = [
      [data.components.length, "component", "components"], [data.layers.length, "layer", "layers"], [summary.errors, "error", "errors"],
      [summary.warnings, "warning", "warnings"], [data.unresolved.length, "not resolved", "not resolved"], [summary.files, "file", "files"],
    ];
    replace(byId("counts"), counts.map(([count, one, many]) =>
      el("div", {}, el("dt", {}, count === 1 ? one : many), el("dd", {}, count.toLocaleString("en")))));
    const drawn = data.layout.nodes.filter(Boolean).length;
    const rest = data.components.length - drawn;
    byId("graph-note").textContent = drawn === 0 ? "No call was found."
      : data.layout.partial ? `${drawn} of ${plural(data.components.length, "component", "components")}: those on the worst paths`
      : rest > 0 ? `${plural(rest, "component makes and takes", "components make and take")} no calls` : "";
    byId("canvas").hidden = drawn === 0;
  }

  headline() {
    const { data, paths: all, mode } = this.state;
    const worst = all[0];
    const heading = byId("headline");
    const lead = byId("lead");
    if (!worst) {
      heading.className = "calm";
      replace(heading, "1 request stays ", el("strong", {}, "1"));
      replace(lead, mode === null ? "No call that was found is tried more than once." : `No call is tried more than once when it fails by ${modeName(data.modes[mode])}.`);
      return;
    }
    const name = (ix) => data.components[ix].name;
    heading.className = isOver(data, worst.product) ? "" : "calm";
    replace(heading, "1 request can become ", el("strong", { id: "worst-product" }, product(worst.product)));
    const factors = worst.layers.map((layer) => this.state.attempts[layer]).map((count) => (count === null ? "?" : count === Infinity ? "∞" : count.toLocaleString("en")));
    replace(lead, factors.length > 1 && factors.length <= 12 && `${factors.join(" × ")}: `, "on the way from ", el("b", {}, name(worst.entry)), " to ", el("b", {}, name(worst.leaf)),
      `, when ${failing("it", data.modes[worst.mode])}. The limit is ${data.max_amplification.toLocaleString("en")}.`);
  }

  controls() {
    const { state } = this;
    const { data } = state;
    byId("controls").addEventListener("submit", (event) => event.preventDefault());
    const used = new Set(data.chains.flatMap((chain) => chain.failures.flatMap((failure) => failure.modes)));
    replace(byId("mode"), el("option", { value: "" }, "any"),
      data.modes.flatMap((modes, ix) => (used.has(ix) ? [el("option", { value: ix }, modeName(modes))] : [])));
    byId("mode").addEventListener("change", (event) => {
      state.mode = event.target.value === "" ? null : Number(event.target.value);
      state.chosen = null;
      this.last = null;
      this.multiply();
    });
    byId("share").addEventListener("input", (event) => {
      state.share = Number(event.target.value) / 1000;
      byId("share-now").textContent = percent(state.share);
      event.target.setAttribute("aria-valuetext", percent(state.share));
      this.redrawPaths(this.found());
    });
    byId("budgets-field").hidden = !state.budgeted;
    byId("budgets").addEventListener("change", (event) => {
      state.budgets = event.target.checked;
      this.redrawPaths(this.found());
    });
    byId("search").addEventListener("input", (event) => {
      state.query = event.target.value.trim().toLowerCase();
      this.redraw();
    });
    byId("search").addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.draw.graph.showOnly(this.found().components ?? new Set());
    });
    byId("reset").addEventListener("click", () => {
      state.attempts = [...state.original];
      this.multiply();
    });
    document.addEventListener("keydown", (event) => {
      const typing = event.target.matches?.("input[type=search], input[type=number]");
      if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      byId("search").focus();
    });
  }

  lists() {
    const { data } = this.state;
    const finding = (one) => el("li", { class: one.severity },
      el("span", {}, prose(one.message)), one.help && el("span", { class: "sub" }, prose(one.help)),
      el("span", { class: "rule" }, `${one.severity} · ${one.rule} · `, source(this.state, one.location)));
    const order = { error: 0, warning: 1, note: 2 };
    const findings = data.findings.toSorted((a, b) => order[a.severity] - order[b.severity]);
    byId("findings").hidden = findings.length === 0;
    byId("findings-note").textContent = [
      plural(data.summary.errors, "error", "errors"), plural(data.summary.warnings, "warning", "warnings"), plural(data.summary.notes, "note", "notes"),
    ].join(", ");
    listed(byId("finding-rows"), byId("more-findings"), findings, finding, 30);
    const gaps = [
      ...data.unresolved.map((gap) => [`${gap.what}: ${gap.reason}`, gap.location, gap.location?.file]),
      ...data.unread.map((unread) => [`${unread.file} could not be read: ${unread.reason}`, unread.location, unread.file]),
    ];
    byId("gaps").hidden = gaps.length === 0;
    listed(byId("gap-rows"), byId("more-gaps"), gaps, ([text, location]) =>
      el("li", {}, el("span", {}, prose(text)), el("span", { class: "rule" }, source(this.state, location))), 30);
  }
}

read().then((data) => {
  window.retrylint = new Page(data);
  document.documentElement.dataset.ready = "true";
});
