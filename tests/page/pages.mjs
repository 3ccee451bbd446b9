// Pages of several sizes: each loads, draws, is accessible in light and dark; the shop's is used as a person would.

import assert from "node:assert/strict";
import { given, listedPaths, serious, withBrowser } from "./browser.mjs";

const text = (page, selector) => page.locator(selector).first().innerText();

await withBrowser(async (open) => {
  for (const file of [given.shop, given.empty, ...given.sizes]) {
    const looks = [{ scheme: "light" }, { scheme: "dark" }, { scheme: "light", width: 390, height: 800 }];
    for (const look of file === given.sizes.at(-1) ? looks.slice(1, 2) : looks) {
      const page = await open(file, look);
      assert.deepEqual(await serious(page), [], `${file} ${JSON.stringify(look)}`);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.ok(wide <= 0, `${file} ${JSON.stringify(look)} is ${wide} pixels too wide`);
      await page.context().close();
    }
  }

  await averages(await open(given.sizes[1]));
  for (const file of given.sizes.slice(0, 2)) await countsItsRows(await open(file));
  for (const file of given.sizes.slice(0, 2)) await namesInView(await open(file, { width: 500 }));

  const empty = await open(given.empty);
  assert.match(await text(empty, "#headline"), /stays 1/);

  for (const file of given.sizes) {
    const page = await open(file);
    const boxes = await page.evaluate(() => [...document.querySelectorAll("#canvas .component .box, #canvas .count .plate")].map((one) => {
      const { x, y, width, height } = one.getBoundingClientRect();
      return { x, y, width, height };
    }));
    assert.ok(boxes.length > 4, file);
    for (const [i, a] of boxes.entries()) {
      for (const b of boxes.slice(i + 1)) {
        const covers = a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
        assert.ok(!covers, `${file}: ${JSON.stringify([a, b])} overlap`);
      }
    }
  }

  await shop(await open(given.shop));
});

// What is said of the paths is true of the list below it.
async function countsItsRows(page) {
  const rows = await page.locator("#path-rows tr[data-path]").count();
  const alone = await page.locator("#path-rows tr[data-listed=false]").count();
  assert.ok(rows > 0 && rows < 100);
  const note = await text(page, "#paths-note");
  assert.ok(note.startsWith(rows === 1 ? "1 path," : `${rows} paths,`), note);
  assert.equal(note.includes("one layer"), alone > 0, note);
}

// On a narrow page every name that is written in the graph is seen whole, and covers no other one.
async function namesInView(page) {
  const { canvas, names } = await page.evaluate(() => {
    const box = (one) => { const { left, right, top, bottom } = one.getBoundingClientRect(); return { left, right, top, bottom }; };
    const seen = [...document.querySelectorAll("#canvas .names text, #canvas .component text")].filter((one) => one.getBoundingClientRect().width > 0);
    return { canvas: box(document.querySelector("#canvas")), names: seen.map((one) => ({ ...box(one), text: one.textContent })) };
  });
  assert.ok(names.some((name) => name.text), "no name is written");
  for (const name of names) {
    const outside = name.right < canvas.left || name.left > canvas.right || name.bottom < canvas.top || name.top > canvas.bottom;
    assert.ok(outside || (name.left >= canvas.left - 8 && name.right <= canvas.right + 8), JSON.stringify({ canvas, name }));
  }
}

// What the page says of the average load is what the tool says.
async function averages(page) {
  const paths = await page.evaluate(() => window.retrylint.state.data.paths.slice(0, 50).map((path) => ({
    layers: path.layers.map((ix) => window.retrylint.state.data.layers[ix].id).join("\n"), leaf: path.leaf, load: path.expected_load,
  })));
  assert.ok(paths.length > 5);
  for (const [i, { failing }] of paths[0].load.entries()) {
    await page.locator("#share").fill(String(failing * 1000));
    const shown = await page.evaluate(() => [...document.querySelectorAll("#path-rows tr")].map((row) => ({ ...row.dataset })));
    for (const { layers, leaf, load } of paths) {
      const row = shown.find((one) => one.layers === layers && one.leaf === leaf);
      const is = Number(row.average);
      assert.ok(Math.abs(is - load[i].sustained) <= 1e-5 * is, `${leaf} at ${failing}: ${is}, not ${load[i].sustained}`);
    }
  }
}

// The demonstration: a gateway, a client and a loop of four attempts each.
async function shop(page) {
  assert.equal(await text(page, "#worst-product"), "64");
  assert.deepEqual((await listedPaths(page)).map((path) => [path.product, path.layers.length]), [["64", 3]]);
  assert.ok(await page.locator("#canvas .hop.lit").count() >= 3);
  assert.equal(await page.locator("#canvas .count.lit").count(), 3);
  assert.equal(await page.locator("#steps li").count(), 5);

  // What if the gateway does not retry, and the client tries twice?
  await page.locator("#steps input[type=checkbox]").first().uncheck();
  assert.equal(await text(page, "#worst-product"), "16");
  assert.match(await text(page, "#whatif-now"), /1 layer changed/);
  const client = page.locator("#layers tr", { hasText: "reqwest-retry" }).locator("input[type=number]");
  await client.fill("2");
  await client.press("Enter");
  assert.equal(await text(page, "#worst-product"), "8");
  assert.equal(await text(page, "#chosen-product"), "8");
  await page.locator("#reset").click();
  assert.equal(await text(page, "#worst-product"), "64");

  // At a failure probability of one half it is (1 − p⁶⁴) / (1 − p).
  await page.locator("#share").fill("500");
  assert.ok(Math.abs(Number(await text(page, "#chosen-average")) - 2) < 0.005);
  await page.locator("#share").fill("1000");

  // In each mode the layers that retry it multiply.
  const modes = await page.locator("#mode option").allInnerTexts();
  assert.ok(modes.includes("refused") && modes.length > 2, modes.join());
  await page.locator("#mode").selectOption({ label: "refused" });
  assert.equal(await text(page, "#worst-product"), "64");
  await page.locator("#mode").selectOption({ label: "any" });

  // The search is reached by a key, filters, and gives everything back.
  await page.keyboard.press("/");
  await page.keyboard.type("nothing of this name");
  assert.equal(await page.locator("#path-rows [data-path]").count(), 0);
  assert.ok(await page.locator("#canvas .component.faded").count() > 0);
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type("warehouse");
  assert.ok(await page.locator("#path-rows [data-path]").count() > 0);
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.press("Delete");
  assert.equal(await page.locator("#canvas .component.faded").count(), 0);

  // The graph is zoomed and moved by keys.
  const seen = () => page.locator("#canvas svg").getAttribute("viewBox");
  const before = await seen();
  await page.locator("#canvas").press("+");
  await page.locator("#canvas").press("ArrowRight");
  assert.notEqual(await seen(), before);
  await page.locator("#canvas").press("0");
  assert.equal(await seen(), before);

  // A herd without jitter is one spike; the charts hold ink.
  assert.match(await text(page, "#charts figure:first-child figcaption"), /10,000/);
  const inks = await page.evaluate(() => [...document.querySelectorAll("#charts canvas")].map((canvas) =>
    canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some((value) => value > 0)));
  assert.deepEqual(inks, [true, true]);

  // Sources are linked, line by line.
  const link = page.locator("#steps li:nth-child(2) .source a");
  assert.match(await link.getAttribute("href"), /gateway\/envoy\.yaml#L24$/);

  // On paper there are no controls, and no part has a scroll bar.
  await page.emulateMedia({ media: "print" });
  assert.equal(await page.locator("#controls").isVisible(), false);
  assert.equal(await page.evaluate(() => getComputedStyle(document.querySelector("#paths .scroll")).overflowY), "visible");
}
