// A browser, and what every page is asked.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

// Without these the browser looks for servers of its maker's.
const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync",
];

export const given = JSON.parse(readFileSync(process.argv[2], "utf8"));

// Runs `act` with a function that opens pages; each is watched for errors and requests until the end.
export async function withBrowser(act) {
  const browser = await chromium.launch({ executablePath: process.env.BROWSER_PROGRAM, args: FLAGS });
  const trouble = [];
  const open = async (file, { scheme = "light", width = 1280, height = 900 } = {}) => {
    const context = await browser.newContext({ colorScheme: scheme, viewport: { width, height } });
    const page = await context.newPage();
    const address = pathToFileURL(file).href;
    page.on("console", (message) => trouble.push(`${file}: ${message.type()}: ${message.text()}`));
    page.on("pageerror", (error) => trouble.push(`${file}: ${error.stack}`));
    page.on("request", (request) => {
      if (request.url() !== address && !request.url().startsWith("data:")) trouble.push(`${file}: asks for ${request.url()}`);
    });
    await page.goto(address);
    await page.waitForFunction(() => document.documentElement.dataset.ready === "true", null, { timeout: 30_000 });
    return page;
  };
  try {
    await act(open);
  } finally {
    await browser.close();
  }
  assert.deepEqual(trouble, []);
}

// What axe-core finds that is serious.
export async function serious(page) {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  const bad = violations.filter((one) => ["serious", "critical"].includes(one.impact));
  return bad.map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => node.html).join(" | ")}`);
}

// The listed paths as the page shows them.
export function listedPaths(page) {
  return page.evaluate(() => [...document.querySelectorAll("#path-rows tr[data-listed='true']")].map((row) => ({
    product: row.dataset.product, leaf: row.dataset.leaf, layers: row.dataset.layers.split("\n"),
  })));
}
