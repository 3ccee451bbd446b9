// The modules of the page that need no page: products with counts that are not numbers, averages, herds, addresses.

import assert from "node:assert/strict";
import { CLIENTS, counted, herd } from "../../src/report/html/herd.js";
import { load } from "../../src/report/html/load.js";
import { attemptsOf, paths } from "../../src/report/html/model.js";
import { address, failures, number, percent, product, seconds } from "../../src/report/html/words.js";

// a → b → c; one layer on each hop, and a second way from b.
const layer = (value, more = {}) => ({ attempts: { value }, unbounded: false, purpose: "request", ...more });
const data = {
  max_amplification: 10,
  layers: [layer(3), layer(null), layer(null, { unbounded: true }), layer(1)],
  hops: [
    { from: 0, to: 1, layers: [0] }, { from: 1, to: 2, layers: [1] }, { from: 1, to: 3, layers: [2] }, { from: 1, to: 4, layers: [3] },
  ],
  repeats: [
    { outer: null, hop: 0, layers: [0] }, { outer: 0, hop: 1, layers: [1] }, { outer: 0, hop: 2, layers: [2] }, { outer: 0, hop: 3, layers: [3] },
  ],
  chains: [1, 2, 3].map((hop) => ({ hops: [0, hop], failures: [{ repeat: 0, modes: [0, 1] }, { repeat: hop, modes: [0] }] })),
};
const shown = (attempts, mode = null) => paths(data, attempts, mode).filter((path) => path.listed).map((path) => [product(path.product), path.leaf, path.mode]);
const as = attemptsOf(data);
assert.deepEqual(as, [3, null, Infinity, 1]);
assert.deepEqual(shown(as), [["∞", 3, 0], ["≥ 3", 2, 0]]);
assert.deepEqual(shown([3, 4, 5, 6]), [["18", 4, 0], ["15", 3, 0], ["12", 2, 0]]);
assert.deepEqual(shown([1, 4, 5, 11]), [["11", 4, 0]]);
assert.deepEqual(shown([20, 1, 1, 1]), [["20", 1, 0]]);
// In the second mode only the outer hop is repeated.
assert.deepEqual(shown([20, 4, 5, 6], 1), [["20", 1, 1]]);

// Averages: at 1 the product, at 0 one request, without end 1 / (1 − p), copies always, budgets as they bound it.
const average = (counts, p, more = {}, budgets = true) =>
  load(counts.map((count) => ({ count, copies: false, budget: null, ...more })), (one) => one.count, p, budgets);
const close = (a, b) => assert.ok(Math.abs(a - b) < 1e-9 * Math.max(1, b), `${a} is not ${b}`);
close(average([4, 4, 4], 1).leaf, 64);
close(average([4, 4, 4], 0).leaf, 1);
close(average([4, 4, 4], 0.5).leaf, (1 - 0.5 ** 64) / 0.5);
close(average([4, 4, 4], 0.5).fails, 0.5 ** 64);
close(average([Infinity], 0.75).leaf, 4);
assert.equal(average([2, Infinity], 1).leaf, Infinity);
close(average([null, 3], 1).leaf, 3);
close(average([3], 0.5, { copies: true }).leaf, 3);
close(average([4], 1, { budget: { value: 0.2 } }).leaf, 1.2);
close(average([4], 1, { budget: { value: 0.2 } }, false).leaf, 4);

// Without jitter everybody comes at once; with it nobody leaves its range.
const together = herd([1, 2, 4], { kind: "none" });
assert.equal(together.length, 3 * CLIENTS);
assert.deepEqual([...new Set(together)], [1, 3, 7]);
assert.equal(counted(together, 7).peak, CLIENTS);
const within = (times, low, high) => assert.ok(times.every((time) => time >= low && time <= high));
within(herd([2], { kind: "full" }), 0, 2);
within(herd([2], { kind: "partial", low: 0.5, high: 1.5 }), 1, 3);
within(herd([1, 2], { kind: "decorrelated" }, 2.5).filter((_, i) => i % 2 === 0), 1, 2.5);
const full = counted(herd([2], { kind: "full" }), 2);
assert.equal(full.counts.reduce((a, b) => a + b), CLIENTS);
assert.ok(full.peak < CLIENTS / 50 && full.peak > CLIENTS / 400, String(full.peak));
assert.deepEqual(herd([2], { kind: "full" }), herd([2], { kind: "full" }));
assert.equal(counted(herd([0, 0], { kind: "none" }), 0).peak, 2 * CLIENTS);

// Words and addresses.
assert.deepEqual([number(64), number(1234567), number(1.5), number(2e12), number(Infinity)], ["64", "1,234,567", "1.50", "2.0 × 10¹²", "∞"]);
assert.deepEqual([seconds(0.025), seconds(0.3), seconds(30), seconds(300)], ["25 ms", "300 ms", "30 s", "5 min"]);
assert.equal(failures(["refused", "5xx", "grpc:1", "grpc:2", "grpc:3", "grpc:8"]), "refused, 5xx, grpc:1–3, grpc:8");
assert.equal(failures([]), "");
assert.deepEqual([percent(1), percent(0.5), percent(0.999), percent(0.001)], ["100 %", "50 %", "99.9 %", "0.1 %"]);
assert.equal(address("./{path}#L{line}", { file: "a b/javascript:<x>.rs", line: 3 }), "./a%20b/javascript%3A%3Cx%3E.rs#L3");
assert.equal(address("https://git.example/{path}", { file: "{line}/$&.rs", line: 3 }), "https://git.example/%7Bline%7D/%24%26.rs");
