// The site of docs/: built without a warning, read without a network, on a telephone, by everyone. With BRISTLE_SOAK
// every page, else one of each kind.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { after, before, test } from "node:test";

import { assertAccessible, assertFitsWidth, closeBrowser, openPage, picture, root, scratchFolder } from "./browser.mjs";

const folder = scratchFolder();
const everything = Boolean(process.env.BRISTLE_SOAK);
const some = ["index.html", "start.html", "faq.html", "gallery.html", "tutorials/bounce.html", "scenes.html", "theory/volumetric.html",
  "papers/gonthier2004.html", "api/run.html"];

function htmlFiles() {
  return readdirSync(folder, { recursive: true }).map(String).filter((name) => name.endsWith(".html") && !name.startsWith("_static")).sort();
}

before(() => {
  execFileSync(join(root, "tools/site"), [folder], { stdio: ["ignore", "pipe", "pipe"], encoding: "utf8" });
});
after(closeBrowser);

test("no page asks the network for anything", () => {
  const pages = htmlFiles();
  assert.ok(pages.length > 60, `${pages.length} pages`);
  const styles = readdirSync(join(folder, "_static"), { recursive: true }).map(String).filter((name) => name.endsWith(".css")).map((name) => join("_static", name));
  for (const page of [...pages, ...styles]) {
    const text = readFileSync(join(folder, page), "utf8");
    assert.deepEqual(text.match(/(?:src="|<link[^>]*href="|url\(["']?|@import ["'])(?:https?:)?\/\/[^"') ]*/g) ?? [], [], page);
  }
});

test("every link and anchor within the site leads somewhere", () => {
  const pages = htmlFiles();
  const ids = new Map(pages.map((page) => [resolve(folder, page), new Set([...readFileSync(join(folder, page), "utf8").matchAll(/\bid="([^"]*)"/g)].map((m) => m[1]))]));
  const dead = [];
  for (const page of pages) {
    const text = readFileSync(join(folder, page), "utf8");
    for (const [, link] of text.matchAll(/<a\b[^>]*?\bhref="([^"]*)"/g)) {
      if (/^[a-z]+:/.test(link)) continue;
      const [path, anchor] = link.split("#");
      const target = path ? resolve(folder, dirname(page), decodeURIComponent(path)) : resolve(folder, page);
      if (ids.has(target) ? anchor && !ids.get(target).has(decodeURIComponent(anchor)) : !exists(target)) dead.push(`${page}: ${link}`);
    }
  }
  assert.deepEqual([...new Set(dead)], []);
});

function exists(path) {
  try {
    readFileSync(path);
    return true;
  } catch {
    return false;
  }
}

/// Equations, and what readers of screens get of them.
async function equationsDrawn(page) {
  if ((await page.locator("script[src*=MathJax]").count()) === 0) return;
  await page.waitForFunction(() => globalThis.MathJax?.isReady);
  await page.evaluate(() => new Promise((done) => globalThis.MathJax.Hub.Queue(done)));
}

for (const colorScheme of ["light", "dark"]) {
  test(`readable at 390 pixels, and axe finds nothing serious, ${colorScheme}`, async () => {
    const found = [];
    for (const name of everything ? htmlFiles() : some) {
      const { page, errors } = await openPage(join(folder, name), { width: 390, height: 844, colorScheme, report: false });
      await equationsDrawn(page);
      await picture(page, `site-390-${colorScheme}-${name.replace(/\W/g, "-")}`);
      found.push(...errors.map((error) => `${name}: ${error}`));
      for (const check of [assertFitsWidth, assertAccessible]) await check(page).catch((error) => found.push(`${name}: ${error.message}`));
      await page.context().close();
    }
    assert.equal(found.join("\n"), "");
  });
}

test("equations are drawn without a network", async () => {
  const { page, errors } = await openPage(join(folder, "theory/volumetric.html"), { report: false });
  await page.waitForSelector(".MathJax_SVG svg", { timeout: 20_000 });
  assert.equal(await page.locator(".MathJax_Error, .merror").count(), 0);
  assert.deepEqual(errors, []);
  await picture(page, "site-equations");
});

test("search finds a page", async () => {
  const { page } = await openPage(join(folder, "search.html"), { report: false });
  await page.goto(`${page.url()}?q=restitution`);
  await page.waitForSelector("#search-results li a", { timeout: 20_000 });
});
