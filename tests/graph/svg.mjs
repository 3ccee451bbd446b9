// Reads a picture from standard input as the XML that it must be, and tells what is in it.
import { readFileSync } from "node:fs";
import { JSDOM } from "jsdom";

const { document } = new JSDOM(readFileSync(0, "utf8"), { contentType: "image/svg+xml" }).window;
const texts = (selector) => [...document.querySelectorAll(selector)].map((element) => element.textContent);
const loads = [...document.querySelectorAll("[href], [src], script, image, foreignObject")].length;
console.log(
  JSON.stringify({
    root: document.documentElement.localName,
    boxes: document.querySelectorAll("rect.box").length,
    lines: document.querySelectorAll("path.line").length,
    titles: texts("g > title"),
    loads,
  }),
);
