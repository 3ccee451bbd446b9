// Expected load: what a request becomes on average where each try at the end of a path fails with some probability.
// Each layer tries until it succeeds, or its attempts are used up; that is then one try of the layer outside.

// Of layers, outermost first: what each sends for one request at the entry, and how often the request fails for good.
export function load(layers, attempts, failing, budgets) {
  let fails = failing;
  const sent = layers.toReversed().map((layer) => {
    const tries = triesOf(layer, attempts(layer), fails, budgets);
    fails = givesUp(layer, attempts(layer), fails, tries);
    return { tries, fails };
  }).toReversed();
  let requests = 1;
  for (const layer of sent) {
    requests *= layer.tries;
    layer.requests = requests;
  }
  return { sent, leaf: requests, fails };
}

function triesOf(layer, count, fails, budgets) {
  const all = count === null ? 1 : layer.copies && count !== Infinity ? count : untilSuccess(fails, count);
  const ratio = budgets ? layer.budget?.value ?? null : null;
  return ratio === null ? all : Math.min(all, 1 + Math.max(ratio, 0));
}

// (1 − pⁿ) / (1 − p), also where p is next to 1.
function untilSuccess(p, n) {
  if (p >= 1) return n;
  if (p <= 0) return 1;
  return n === Infinity ? 1 / (1 - p) : -Math.expm1(n * Math.log(p)) / (1 - p);
}

// Of a request's tries at most one succeeds, each with the same probability.
function givesUp(layer, count, fails, tries) {
  if (layer.copies && count !== null && count !== Infinity) return fails ** count;
  if (count === Infinity && tries === Infinity) return 1;
  return Math.min(1, Math.max(0, 1 - (1 - fails) * tries));
}
