// Elements. Text from the input only ever becomes text, never markup.

export function el(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked") element[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(3).filter((child) => child !== undefined && child !== null && child !== false));
  return element;
}

// Words of the tool, in which code stands between backticks.
export function prose(text) {
  const parts = text.split("`");
  if (parts.length % 2 === 0) return [text];
  return parts.map((part, i) => (i % 2 === 1 ? el("code", {}, part) : part));
}

// A path or a name, which may be broken behind its slashes, dots and dashes.
export function breakable(text) {
  return text.split(/(?<=[/.\-_:])/).flatMap((part, i) => (i > 0 ? [el("wbr", {}), part] : [part]));
}

export function byId(id) {
  return document.getElementById(id);
}

export function replace(element, ...children) {
  element.replaceChildren(...children.flat(3).filter((child) => child !== undefined && child !== null && child !== false));
}

// Fills a list with so many of its items, and lets the button show more of them.
export function listed(holder, button, items, draw, step) {
  let shown = 0;
  holder.replaceChildren();
  const more = () => {
    holder.append(...items.slice(shown, shown + step).map(draw));
    shown = Math.min(shown + step, items.length);
    button.hidden = shown >= items.length;
    button.textContent = `Show ${Math.min(step, items.length - shown)} more of ${items.length - shown}`;
  };
  button.onclick = more;
  more();
}
