// Numbers, times and places as people read them.

const MOST = 2 ** 53 - 1;

// A product: "64", "at least 16", "1.2 × 10⁹", "no end".
export function product({ count, unbounded, unknown }) {
  if (unbounded > 0) return "∞";
  return (unknown > 0 ? "≥ " : "") + number(Math.min(count, MOST));
}

export function number(value) {
  if (value === Infinity) return "∞";
  if (value >= 1e9) {
    const exponent = Math.floor(Math.log10(value));
    return `${(value / 10 ** exponent).toFixed(1)} × 10${raised(exponent)}`;
  }
  if (Number.isInteger(value)) return value.toLocaleString("en");
  if (value >= 100) return Math.round(value).toLocaleString("en");
  return value.toFixed(value < 10 ? 2 : 1);
}

function raised(n) {
  return [...String(n)].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(digit)]).join("");
}

export function seconds(value) {
  const [amount, unit] = value < 0.001 ? [value * 1e6, "µs"]
    : value < 1 ? [value * 1e3, "ms"]
    : value < 120 ? [value, "s"]
    : value < 7200 ? [value / 60, "min"]
    : value < 172800 ? [value / 3600, "h"]
    : [value / 86400, "days"];
  return `${Number(amount.toFixed(1))} ${unit}`;
}

export function percent(share) {
  const percents = share * 100;
  return `${Number(percents.toFixed(percents > 99 && percents < 100 ? 2 : 1))} %`;
}

export function plural(count, one, many) {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

// "wms refuses the connection", "wms answers 503".
export function failing(name, modes) {
  const [mode] = modes;
  if (mode === "refused") return `${name} refuses the connection`;
  if (mode === "timeout") return `${name} does not answer in time`;
  return `${name} answers ${mode}`;
}

// Failures, of gRPC's codes those that follow each other together: "503, grpc:1–16".
export function failures(names) {
  const code = (name) => Number(/^grpc:(\d+)$/.exec(name)?.[1] ?? Number.NaN);
  const runs = [];
  for (const name of names) {
    const run = runs.at(-1);
    if (run && code(name) === code(run.last) + 1) run.last = name;
    else runs.push({ first: name, last: name });
  }
  return runs.map(({ first, last }) => (first === last ? first : `${first}–${code(last)}`)).join(", ");
}

// The modes of one class, for a list: "503, 504", "400–407 and 12 more".
export function modeName(modes) {
  if (modes.length <= 3) return modes.join(", ");
  return `${modes.slice(0, 2).join(", ")} and others`;
}

// The address of a line of a file.
export function address(template, location) {
  const path = location.file.split("/").map(encodeURIComponent).join("/");
  return template.replaceAll("{path}", path).replaceAll("{line}", String(location.line));
}
