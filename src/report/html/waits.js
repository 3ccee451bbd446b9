// When ten thousand clients come back that failed at the same moment: with a layer's waits alone, and with its jitter.

import { byId, el, prose, replace } from "./dom.js";
import { CLIENTS, FULL, counted, herd } from "./herd.js";
import { canShow, jitterName } from "./layers.js";
import { number, plural, seconds } from "./words.js";

// A series without end is shown as far as this many tries, and this many seconds.
const TRIES = 12;

export class Waits {
  constructor(data) {
    this.data = data;
    this.plots = [];
    const select = byId("waits-layer");
    const choices = data.layers.map((layer, ix) => ({ layer, ix })).filter(({ layer }) => canShow(layer));
    byId("waits").hidden = choices.length === 0;
    replace(select, choices.slice(0, 2_000).map(({ layer, ix }) =>
      el("option", { value: ix }, (layer.component ? `${layer.name} (${layer.component})` : layer.name).replaceAll("`", ""))));
    select.addEventListener("change", () => this.show(Number(select.value)));
    const again = () => this.shown !== undefined && this.show(this.shown);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
    matchMedia("print").addEventListener("change", again);
    new ResizeObserver(() => this.resize()).observe(byId("charts"));
    if (choices.length) this.show(choices[0].ix);
  }

  show(ix) {
    const layer = this.data.layers[ix];
    this.shown = ix;
    byId("waits-layer").value = String(ix);
    const waits = layer.waits.slice(0, layer.unbounded || layer.attempts.value === null ? TRIES : undefined);
    const its = layer.jitter.value;
    const none = its === null || its.kind === "none";
    const bare = herd(waits, { kind: "none" });
    const spread = herd(waits, none ? FULL : its, layer.wait_cap);
    const end = Math.max(bare.reduce((a, b) => Math.max(a, b), 0), spread.reduce((a, b) => Math.max(a, b), 0));
    const without = counted(bare, end);
    const withIt = counted(spread, end);
    const top = Math.max(without.peak, withIt.peak);
    const more = layer.waits.length > waits.length || layer.unbounded;
    replace(byId("waits-note"), prose(story(layer, waits, without, withIt, none, more)));
    this.plots.forEach((plot) => plot.destroy());
    // Jitter spreads waits; where there are none, there is nothing to compare.
    const figures = [
      [none ? "As it is, without jitter" : "Without its jitter", without, "--hot"],
      end > 0 && [none ? "If it had full jitter" : `As it is, with its jitter (${jitterName(its)})`, withIt, "--bar"],
    ].filter(Boolean).map(([title, counts, colour]) => this.figure(title, counts, top, colour));
    replace(byId("charts"), figures.map(({ figure }) => figure));
    this.plots = figures.map(({ plot }) => plot());
  }

  figure(title, counts, top, colour) {
    const holder = el("div", { class: "plot", role: "img", "aria-label": `${title}: at most ${number(counts.peak)} come back within ${seconds(counts.width)}` });
    const figure = el("figure", {},
      el("figcaption", {}, el("b", {}, title), `: at most ${number(counts.peak)} within ${seconds(counts.width)}`), holder);
    return { figure, plot: () => plotted(holder, counts, top, colour) };
  }

  resize() {
    for (const plot of this.plots) {
      const width = plot.root.parentNode.clientWidth;
      if (width > 0 && Math.abs(width - plot.width) > 1) plot.setSize({ width, height: plot.height });
    }
  }
}

function story(layer, waits, without, withIt, none, more) {
  const clients = CLIENTS.toLocaleString("en");
  if (waits.every((wait) => wait === 0)) {
    return `${layer.name} does not wait: ${clients} clients that fail together send their ${plural(waits.length, "retry", "retries")} at once.`;
  }
  const times = waits.length > 1 ? `${waits.length} times` : "once";
  const unknown = layer.jitter.value === null ? " Whether its waits are spread is not known." : "";
  const peak = number(withIt.peak);
  return `${clients} clients fail together. ${none ? `Nothing spreads their waits, so all come back in the same moment, ${times}${more ? " and on" : ""}: a thundering herd. With full jitter`
    : `Without jitter all would come back in the same moment, ${times}${more ? " and on" : ""}. With its own`} at most ${peak} come within ${seconds(withIt.width)}.${unknown}`;
}

function plotted(holder, counts, top, colour) {
  const style = getComputedStyle(document.documentElement);
  const ink = style.getPropertyValue("--quiet").trim();
  const line = style.getPropertyValue("--line").trim();
  const fill = style.getPropertyValue(colour).trim();
  const axis = { stroke: ink, font: "12px system-ui, sans-serif", grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
  const options = {
    width: holder.clientWidth || 500,
    height: 200,
    padding: [8, 28, 0, 0],
    cursor: { show: false },
    legend: { show: false },
    scales: { x: { time: false, range: [0, counts.starts.at(-1) + 2 * counts.width] }, y: { range: [0, top * 1.05] } },
    axes: [
      { ...axis, values: (_, ticks) => ticks.map((tick) => (tick === 0 ? "0" : seconds(tick))), size: 36 },
      { ...axis, values: (_, ticks) => ticks.map((tick) => tick.toLocaleString("en")), size: 56 },
    ],
    series: [{}, { fill, stroke: fill, width: 0, points: { show: false }, paths: uPlot.paths.bars({ size: [1, Infinity, 2], align: 1, gap: 0 }) }],
  };
  return new uPlot(options, [counts.starts, counts.counts], holder);
}
