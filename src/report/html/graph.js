// The call graph: drawn where the tool has put things, with the chosen path lit, moved and zoomed by hand.

import { byId, replace, svg } from "./dom.js";
import { number } from "./words.js";

const STEP = 1.25;
const MARGIN = 24;
// On so many hops the attempts are written; with more there is no room.
const PLATES = 600;
// With more components all their names are noise.
const NAMED_FROM_AFAR = 80;
// A graph of two services is not two banners.
const LARGEST = 1.2;
// On a canvas that is narrower, columns stand as near to each other as they may.
const NARROW = 700;

export class Graph {
  constructor(data, onPick) {
    this.data = data;
    this.canvas = byId("canvas");
    this.layout = this.canvas.clientWidth < NARROW ? together(data.layout) : data.layout;
    this.nodes = new Map();
    this.edges = [];
    this.root = svg("svg", { role: "img", "aria-label": "", preserveAspectRatio: "xMidYMid meet" });
    this.draw(onPick);
    replace(this.canvas, this.root);
    this.setHeight();
    this.fit();
    this.listen();
    new ResizeObserver(() => { this.setHeight(); this.show(this.view); }).observe(this.canvas);
  }

  draw(onPick) {
    const lines = svg("g", {});
    const boxes = svg("g", {});
    this.plates = svg("g", { class: "plates" });
    this.names = svg("g", { class: "names", "aria-hidden": "true" });
    for (const edge of this.layout.edges) {
      const hops = edge.hops;
      const line = svg("path", { class: "hop", d: curve(edge.points) });
      const tip = svg("path", { class: "tip", d: arrow(edge.points) });
      if (hops.some((hop) => this.data.hops[hop].layers.length > 0)) line.classList.add("layered");
      if (hops.every((hop) => this.data.hops[hop].through)) line.classList.add("queued");
      lines.append(line, tip);
      this.edges.push({ ...edge, line, tip });
    }
    this.data.components.forEach((component, ix) => {
      const box = this.layout.nodes[ix];
      if (!box) return;
      const name = svg("text", { x: 10, y: 19 }, cut(component.name, box.width - 20, 7.9));
      const kind = svg("text", { class: "kind", x: 10, y: box.height - 9 }, component.kind);
      const worst = svg("text", { class: "worst", x: box.width - 10, y: box.height - 8, "text-anchor": "end" });
      const node = svg("g", { class: `component ${component.kind}`, transform: `translate(${box.x} ${box.y})` },
        svg("title", {}, component.name),
        svg("rect", { class: "box", width: box.width, height: box.height, rx: 7 }), name, kind, worst);
      node.addEventListener("click", () => { if (!this.moved) onPick(ix); });
      boxes.append(node);
      this.nodes.set(ix, { node, worst, box });
    });
    this.root.append(lines, boxes, this.plates, this.names);
  }

  // Lights a path (or nothing), says on the hops how often each is tried, and at each end what it comes to.
  light(path, state) {
    const { attempts, paths } = state;
    this.lit = path;
    const hops = new Set(path ? path.chain.hops.slice(0, path.depth + 1) : []);
    const components = new Set([...hops].flatMap((hop) => [this.data.hops[hop].from, this.data.hops[hop].to]));
    const plates = [];
    for (const edge of this.edges) {
      const lit = edge.hops.some((hop) => hops.has(hop));
      edge.line.classList.toggle("lit", lit);
      edge.tip.classList.toggle("lit", lit);
      if (lit) edge.line.parentNode.append(edge.line, edge.tip);
      const layers = lit
        ? path.steps.filter((step) => edge.hops.includes(step.hop)).map((step) => step.layer)
        : worstHop(this.data, attempts, edge.hops);
      const counts = layers.filter((layer) => attempts[layer] !== 1);
      const perItem = edge.hops.some((hop) => this.data.hops[hop].per_item) ? "per item" : "";
      const text = [...counts.map((layer) => factor(attempts[layer])), perItem].filter(Boolean).join(" ");
      if (text) plates.push({ edge, lit, text });
    }
    const worst = new Map();
    for (const one of paths) {
      if (one.listed && !worst.has(one.leaf)) worst.set(one.leaf, one.product);
    }
    for (const [ix, { node, worst: text }] of this.nodes) {
      node.classList.toggle("lit", components.has(ix));
      const product = worst.get(ix);
      text.textContent = product ? (product.unbounded ? "∞" : `${product.unknown ? "≥ " : ""}${number(product.count)}`) : "";
    }
    plates.sort((a, b) => Number(b.lit) - Number(a.lit));
    this.litPlates = plates.filter((plate) => plate.lit);
    this.place(plates.slice(0, PLATES));
    this.ends = path ? [...components].filter((ix) => this.nodes.has(ix)) : [];
    this.nameFromAfar();
    const end = path && this.data.components[path.leaf].name;
    const drawn = `${this.nodes.size} components, ${this.edges.length} calls`;
    this.root.setAttribute("aria-label", path ? `Call graph of ${drawn}; the path to ${end} is lit` : `Call graph of ${drawn}`);
  }

  // Puts the attempts beside their hops where they cover nothing; where there is no such place, only those of the lit path.
  place(plates) {
    const taken = [...this.nodes.values()].map(({ box }) => box);
    const drawn = [];
    for (const { edge, lit, text } of plates) {
      const width = 14 + text.length * 6.6;
      const at = [0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74, 0.18, 0.82].map((share) => along(edge.points, share))
        .map(({ x, y }) => ({ x: x - width / 2, y: y - 9, width, height: 18 }));
      const free = at.find((box) => !taken.some((other) => overlap(box, other)));
      if (!free && !lit) continue;
      const box = free ?? at[0];
      taken.push(box);
      drawn.push(svg("g", { class: lit ? "count lit" : "count", transform: `translate(${box.x} ${box.y})` },
        svg("rect", { class: "plate", width, height: 18, rx: 9 }),
        svg("text", { x: width / 2, y: 13, "text-anchor": "middle" }, text)));
    }
    replace(this.plates, drawn);
  }

  // Seen from afar, what is written is too small to read: then the lit components are named in letters that stay the
  // same size, on their boxes or beside them; so are others, if they are few, where that covers nothing.
  nameFromAfar() {
    const view = this.root.viewBox.baseVal;
    const scale = this.canvas.clientWidth / view.width;
    const far = scale < 0.6;
    this.root.classList.toggle("far", far);
    if (!far || !this.ends) return replace(this.names);
    const size = 12 / scale;
    const taken = [];
    const drawn = this.ends.flatMap((ix) => {
      const { box } = this.nodes.get(ix);
      const text = cut(this.data.components[ix].name, 24, 1);
      const around = { width: text.length * size * 0.64, height: size * 1.25 };
      const x = within(box.x + box.width / 2 - around.width / 2, around.width, view);
      const middle = box.y + box.height / 2 - around.height / 2;
      const places = [0, -1, 1, -2, 2].map((row) => ({ ...around, x, y: middle + row * around.height }));
      const inView = (place) => place.y >= view.y && place.y + place.height <= view.y + view.height;
      const free = places.find((place) => inView(place) && !taken.some((other) => overlap(place, other)));
      if (!free) return [];
      taken.push(free);
      return [svg("text", { x: x + around.width / 2, y: free.y + size, "font-size": size, "stroke-width": size / 3, "text-anchor": "middle" }, text)];
    });
    const counts = this.litPlates.flatMap(({ edge, text }) => {
      const around = { width: text.length * size * 0.62, height: size * 1.25 };
      const places = [0.5, 0.4, 0.6, 0.3, 0.7].map((share) => along(edge.points, share))
        .map(({ x, y }) => ({ ...around, x: x - around.width / 2, y: y - around.height / 2 }));
      const free = places.find((place) => !taken.some((other) => overlap(place, other)));
      if (!free) return [];
      taken.push(free);
      return [svg("text", { class: "hot", x: free.x + around.width / 2, y: free.y + size, "font-size": size, "stroke-width": size / 1.5, "text-anchor": "middle" }, text)];
    });
    return replace(this.names, this.othersFromAfar(size, taken, view), counts, drawn);
  }

  othersFromAfar(size, taken, view) {
    if (this.nodes.size > NAMED_FROM_AFAR) return [];
    const lit = new Set(this.ends);
    const boxes = [...this.nodes].map(([ix, { box }]) => ({ ix, box }));
    const seen = boxes.filter(({ ix, box }) => !lit.has(ix) && overlap(box, view));
    return seen.flatMap(({ ix, box }) => {
      const text = cut(this.data.components[ix].name, 24, 1);
      const place = { width: text.length * size * 0.58, height: size * 1.25 };
      place.x = within(box.x + box.width / 2 - place.width / 2, place.width, view);
      place.y = box.y + box.height / 2 - place.height / 2;
      const outside = place.y < view.y || place.y + place.height > view.y + view.height;
      const covers = taken.some((other) => overlap(place, other)) || boxes.some((other) => other.ix !== ix && overlap(place, other.box));
      if (covers || outside) return [];
      taken.push(place);
      return [svg("text", { class: "other", x: place.x + place.width / 2, y: place.y + size, "font-size": size, "stroke-width": size / 3, "text-anchor": "middle" }, text)];
    });
  }

  // Fades what a search does not find.
  find(components) {
    for (const [ix, { node }] of this.nodes) node.classList.toggle("faded", components !== null && !components.has(ix));
    for (const { line, tip, from, to } of this.edges) {
      const faded = components !== null && !(components.has(from) || components.has(to));
      line.classList.toggle("faded", faded);
      tip.classList.toggle("faded", faded);
    }
    this.plates.classList.toggle("faded", components !== null);
  }

  // No higher than what there is to see.
  setHeight() {
    const all = around([...this.nodes.values()].map(({ box }) => box));
    const scale = Math.min(this.canvas.clientWidth / all.width, LARGEST);
    this.canvas.style.height = `${Math.max(140, Math.min(480, Math.ceil(all.height * scale)))}px`;
  }

  fit() {
    this.show(around([...this.nodes.values()].map(({ box }) => box)));
  }

  // Shows these components as large as they fit, but no larger than life.
  showOnly(components) {
    const boxes = [...components].map((ix) => this.nodes.get(ix)?.box).filter(Boolean);
    if (boxes.length) this.show(around(boxes));
  }

  showPath() {
    if (!this.lit) return this.fit();
    const hops = this.lit.chain.hops.slice(0, this.lit.depth + 1);
    return this.showOnly(new Set(hops.flatMap((hop) => [this.data.hops[hop].from, this.data.hops[hop].to])));
  }

  show(view) {
    const { width, height } = this.canvas.getBoundingClientRect();
    if (!width || !height) return;
    const scale = Math.min(width / view.width, height / view.height, LARGEST);
    const shown = { width: width / scale, height: height / scale };
    this.move({ x: view.x + view.width / 2 - shown.width / 2, y: view.y + view.height / 2 - shown.height / 2, ...shown });
    this.view = view;
  }

  // Zooms about a point, given as shares of what is seen.
  zoom(factor, [x, y] = [0.5, 0.5]) {
    const seen = this.root.viewBox.baseVal;
    const width = Math.min(Math.max(seen.width / factor, 160), 60_000);
    const height = width * seen.height / seen.width;
    this.move({ x: seen.x + (seen.width - width) * x, y: seen.y + (seen.height - height) * y, width, height });
  }

  move(view) {
    this.view = view;
    this.root.setAttribute("viewBox", [view.x, view.y, view.width, view.height].map((n) => n.toFixed(1)).join(" "));
    this.nameFromAfar();
  }

  pan(dx, dy) {
    const { x, y, width, height } = this.root.viewBox.baseVal;
    this.move({ x: x + dx * width, y: y + dy * height, width, height });
  }

  listen() {
    byId("zoom-in").addEventListener("click", () => this.zoom(STEP));
    byId("zoom-out").addEventListener("click", () => this.zoom(1 / STEP));
    byId("zoom-fit").addEventListener("click", () => this.fit());
    byId("zoom-path").addEventListener("click", () => this.showPath());
    const keys = {
      ArrowLeft: () => this.pan(-0.1, 0), ArrowRight: () => this.pan(0.1, 0),
      ArrowUp: () => this.pan(0, -0.1), ArrowDown: () => this.pan(0, 0.1),
      "+": () => this.zoom(STEP), "=": () => this.zoom(STEP), "-": () => this.zoom(1 / STEP), 0: () => this.fit(),
    };
    this.canvas.addEventListener("keydown", (event) => {
      const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    });
    // With a plain wheel the page scrolls on; with Ctrl, or two fingers on a trackpad, the graph is zoomed.
    this.canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const box = this.canvas.getBoundingClientRect();
      this.zoom(Math.exp(-event.deltaY / 300), [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height]);
    }, { passive: false });
    this.drag();
  }

  drag() {
    let last = null;
    this.canvas.addEventListener("pointerdown", (event) => {
      last = [event.clientX, event.clientY];
      this.moved = false;
    });
    window.addEventListener("pointermove", (event) => {
      if (!last) return;
      const [dx, dy] = [event.clientX - last[0], event.clientY - last[1]];
      if (!this.moved && Math.hypot(dx, dy) < 4) return;
      this.moved = true;
      this.canvas.classList.add("dragging");
      const box = this.canvas.getBoundingClientRect();
      this.pan(-dx / box.width, -dy / box.height);
      last = [event.clientX, event.clientY];
    });
    window.addEventListener("pointerup", () => {
      last = null;
      this.canvas.classList.remove("dragging");
    });
  }
}

// The layout without what the tool has moved its columns apart by: a page is wider than high, but a phone is not.
function together({ apart, nodes, edges, ...layout }) {
  const nearer = nodes.map((box) => box && { ...box, x: box.x / apart });
  const at = (ix, x) => nearer[ix].x + x - nodes[ix].x;
  return {
    ...layout,
    nodes: nearer,
    edges: edges.map((edge) => ({
      ...edge,
      points: edge.points.map(([x, y], i) => {
        if (i === 0) return [at(edge.from, x), y];
        return [i === edge.points.length - 1 || edge.from === edge.to ? at(edge.to, x) : x / apart, y];
      }),
    })),
  };
}

// Where something so wide starts that is to be seen whole.
function within(x, width, view) {
  return Math.max(view.x, Math.min(x, view.x + view.width - width));
}

// Of several hops between the same two components, the layers of the one that tries most.
function worstHop(data, attempts, hops) {
  const all = hops.map((hop) => data.hops[hop].layers.filter((layer) => data.layers[layer].purpose === "request"));
  const size = (layers) => layers.reduce((product, layer) => product * (attempts[layer] ?? 1), 1);
  return all.reduce((a, b) => (size(b) > size(a) ? b : a), []);
}

function factor(count) {
  if (count === null) return "× ?";
  return count === Infinity ? "× ∞" : `× ${number(count)}`;
}

function around(boxes) {
  if (!boxes.length) return { x: 0, y: 0, width: 400, height: 200 };
  const x = Math.min(...boxes.map((b) => b.x)) - MARGIN;
  const y = Math.min(...boxes.map((b) => b.y)) - MARGIN;
  const width = Math.max(...boxes.map((b) => b.x + b.width)) + MARGIN - x;
  const height = Math.max(...boxes.map((b) => b.y + b.height)) + MARGIN - y;
  return { x, y, width, height };
}

function overlap(a, b) {
  return a.x < b.x + b.width + 2 && b.x < a.x + a.width + 2 && a.y < b.y + b.height + 2 && b.y < a.y + a.height + 2;
}

// A line through points that leaves and arrives level.
function curve(points) {
  const [first, ...rest] = points;
  let d = `M${first[0]} ${first[1]}`;
  let [x, y] = first;
  for (const [tox, toy] of rest) {
    const bend = (tox - x) / 2;
    d += `C${x + bend} ${y} ${tox - bend} ${toy} ${tox} ${toy}`;
    [x, y] = [tox, toy];
  }
  return d;
}

function arrow(points) {
  const [x, y] = points[points.length - 1];
  const back = points[points.length - 2][0] > x ? 8 : -8;
  return `M${x} ${y}l${back} -4v8z`;
}

// The point of a curve after a share of its length from left to right.
function along(points, share) {
  const at = share * (points.length - 1);
  const part = Math.min(Math.floor(at), points.length - 2);
  const t = at - part;
  const [[ax, ay], [bx, by]] = [points[part], points[part + 1]];
  // The cubic with level ends: x = a + (b − a)(1.5 t (1 − t) + t³), y = a + (b − a)(3 t² − 2 t³).
  return { x: ax + (bx - ax) * (1.5 * t * (1 - t) + t ** 3), y: ay + (by - ay) * (3 * t * t - 2 * t ** 3) };
}

// So much of a name as fits; the whole is in the title.
function cut(text, width, each) {
  const fits = Math.max(4, Math.floor(width / each));
  const letters = [...text];
  return letters.length <= fits ? text : `${letters.slice(0, fits - 1).join("")}…`;
}
