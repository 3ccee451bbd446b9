// Names from the input are shown as they are, and are nothing but text.

import assert from "node:assert/strict";
import { given, withBrowser } from "./browser.mjs";

await withBrowser(async (open) => {
  const page = await open(given.page);
  const seen = await page.evaluate(() => ({
    pwned: typeof window.pwned,
    images: document.querySelectorAll("img, iframe, object, embed").length,
    scripts: document.querySelectorAll("script").length,
    handlers: [...document.querySelectorAll("*")].filter((one) => [...one.attributes].some((a) => a.name.startsWith("on"))).length,
    links: [...document.querySelectorAll("a[href]")].map((a) => a.getAttribute("href")),
    text: document.body.innerText,
    title: document.title,
  }));
  assert.deepEqual([seen.pwned, seen.images, seen.scripts, seen.handlers], ["undefined", 0, 3, 0]);
  assert.equal(seen.title, given.title);
  for (const name of given.names) assert.ok(seen.text.toLowerCase().includes(name.toLowerCase()), `${name} is shown`);
  const sources = seen.links.filter((link) => !link.startsWith("#"));
  assert.ok(sources.length > 5);
  for (const link of sources) assert.match(link, /^\.\/[^:<>]+#L\d+$/);
  assert.ok(sources.some((link) => link.startsWith("./javascript%3A")));
});
