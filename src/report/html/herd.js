// Ten thousand clients whose requests fail at the same moment: when each of them comes back. The same on every run.

export const CLIENTS = 10_000;
const BINS = 200;

// What spreads the waits of a layer that has no jitter, for comparison.
export const FULL = { kind: "full" };

// When all clients come back, with the waits before each new try.
export function herd(waits, jitter, cap = null, clients = CLIENTS) {
  const random = numbers(0x2545f491);
  const times = [];
  const first = waits[0] ?? 0;
  for (let client = 0; client < clients; client += 1) {
    let at = 0;
    let before = first;
    for (const wait of waits) {
      before = spread(wait, jitter, random, { before, first, cap: cap ?? Infinity });
      at += before;
      times.push(at);
    }
  }
  return times;
}

function spread(wait, jitter, random, { before, first, cap }) {
  switch (jitter.kind) {
    case "partial": return wait * (jitter.low + (jitter.high - jitter.low) * random());
    case "full": return wait * random();
    // Between the first wait and three times the one before.
    case "decorrelated": return Math.min(cap, first + (before * 3 - first) * random());
    default: return wait;
  }
}

// Marsaglia's xorshift, from 0 up to 1.
function numbers(seed) {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

// How many come in each stretch of time from 0 to `end`.
export function counted(times, end) {
  const width = end > 0 ? round(end / BINS) : 1;
  const counts = new Array(Math.ceil(end / width) + 1).fill(0);
  for (const time of times) counts[Math.min(counts.length - 1, Math.floor(time / width + 1e-9))] += 1;
  return { width, counts, peak: Math.max(...counts), starts: counts.map((_, i) => i * width) };
}

// The next number that people count in: 1, 2, 5, 10, ...
function round(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * [1, 2, 5, 10].find((step) => step * power >= value * (1 - 1e-9));
}
