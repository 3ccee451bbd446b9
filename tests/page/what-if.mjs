// Attempts are changed in the fields of the page; its paths must be those that the tool lists for the changed input.

import assert from "node:assert/strict";
import { given, listedPaths, withBrowser } from "./browser.mjs";

const text = (path) => `${path.product} at ${path.leaf}: ${path.layers.join(", ")}`;

await withBrowser(async (open) => {
  for (const { page: file, cases } of given) {
    const page = await open(file);
    for (const { changes, paths } of cases) {
      await page.evaluate((changes) => {
        document.getElementById("reset").click();
        for (const [id, attempts] of Object.entries(changes)) {
          const field = document.querySelector(`#layers [data-layer=${CSS.escape(id)}]`);
          field.value = String(attempts);
          field.dispatchEvent(new Event("change"));
        }
      }, changes);
      const shown = (await listedPaths(page)).map(text).sort();
      assert.deepEqual(shown, paths.map(text).sort(), `${file}: ${JSON.stringify(changes)}`);
      const worst = Math.max(1, ...paths.map((path) => path.product));
      const headline = await page.evaluate(() => document.querySelector("#headline strong").textContent.replaceAll(",", ""));
      if (paths.length > 0) assert.equal(Number(headline), worst, JSON.stringify(changes));
    }
  }
});
