// What retries multiply to. The tool has worked out which layers repeat which failure; here their attempts are only
// multiplied and compared, so that any of them can be changed.

// The attempts of every layer as they are: a number, Infinity, or null where it is not known.
export function attemptsOf(data) {
  return data.layers.map((layer) => (layer.unbounded ? Infinity : layer.attempts.value));
}

function active(data, attempts, layer) {
  return attempts[layer] !== 1 && data.layers[layer].purpose === "request";
}

// What every repeat comes to, with all that repeats further out; the outer ones stand before the inner ones.
function products(data, attempts) {
  const all = [];
  for (const repeat of data.repeats) {
    const product = repeat.outer === null ? { unbounded: 0, count: 1, unknown: 0 } : { ...all[repeat.outer].product };
    for (const layer of repeat.layers) {
      const count = attempts[layer];
      if (count === null) product.unknown += 1;
      else if (count === Infinity) product.unbounded += 1;
      else product.count *= count;
    }
    all.push({ product, active: repeat.layers.some((layer) => active(data, attempts, layer)) });
  }
  return all;
}

// Which of two products is worse: more without end, then the larger, then the one of which less is known.
export function compare(a, b) {
  return a.unbounded - b.unbounded || a.count - b.count || a.unknown - b.unknown;
}

// What one way through the graph comes to at worst. `mode` null: in any mode.
function worstOf(data, chain, known, mode) {
  let worst = null;
  for (const failure of chain.failures) {
    if (mode !== null && !failure.modes.includes(mode)) continue;
    const { product, active } = known[failure.repeat];
    // Nothing repeats the call of the failing component: then this is the failure of the one that calls it.
    if (!active) continue;
    const named = mode ?? failure.modes[0];
    const depth = chain.hops.indexOf(data.repeats[failure.repeat].hop);
    const one = { product, mode: named, depth, repeat: failure.repeat, chain };
    if (!worst || better(one, worst) > 0) worst = one;
  }
  return worst;
}

function better(a, b) {
  return compare(a.product, b.product) || b.mode - a.mode || b.depth - a.depth;
}

// The layers that multiply, outermost first, each with its hop.
function placed(data, attempts, repeat) {
  const found = [];
  for (let at = repeat; at !== null; at = data.repeats[at].outer) {
    const { hop, layers } = data.repeats[at];
    found.unshift(...layers.map((layer) => ({ hop, layer })));
  }
  return found.filter(({ layer }) => active(data, attempts, layer));
}

// The paths, the worst first.
export function paths(data, attempts, mode = null) {
  const known = products(data, attempts);
  const repeated = data.hops.map((hop) => hop.layers.some((layer) => active(data, attempts, layer)));
  const byHops = new Map();
  let folded = false;
  for (const chain of data.chains) {
    const hops = chain.hops.filter((hop) => repeated[hop]);
    folded ||= chain.hops.some((hop) => !repeated[hop] && data.hops[hop].layers.length > 0);
    const key = `,${hops.join(",")},`;
    const worst = worstOf(data, chain, known, mode);
    const before = byHops.get(key);
    if (before === undefined || (worst && (!before || better(worst, before) > 0))) byHops.set(key, worst);
  }
  // What another path contains is none of its own. Nothing does so before layers are turned off.
  const keys = folded ? [...byHops.keys()] : [];
  const inside = (key) => keys.some((other) => other.length > key.length && (key === ",," || other.includes(key)));
  const found = new Map();
  for (const [hops, worst] of byHops) {
    if (!worst || inside(hops)) continue;
    const steps = placed(data, attempts, worst.repeat);
    const layers = steps.map((step) => step.layer);
    const leaf = data.hops[data.repeats[worst.repeat].hop].to;
    const entry = data.hops[steps[0].hop].from;
    const key = `${layers.join(",")}>${leaf}`;
    if (found.has(key)) continue;
    found.set(key, { ...worst, steps, layers, leaf, entry, key, listed: isListed(data, worst.product, layers) });
  }
  const order = (a, b) => compare(b.product, a.product) || a.layers.length - b.layers.length || (a.key < b.key ? -1 : 1);
  return [...found.values()].sort(order);
}

// Whether the tool lists a path: two layers or more, one without end, or more than the limit.
function isListed(data, product, layers) {
  return layers.length > 1 || product.unbounded > 0 || product.count > data.max_amplification;
}

export function isOver(data, product) {
  return product.unbounded > 0 || product.count > data.max_amplification;
}
