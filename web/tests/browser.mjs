// Debian's Chromium without a window and without a graphics card, on pages that the program
// wrote.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

export const root = fileURLToPath(new URL("../..", import.meta.url));
const program = process.env.BRISTLE_BIN ?? join(root, "build/release/bin/bristle");
const browserProgram = process.env.BRISTLE_CHROMIUM ?? "/usr/bin/chromium";

/// A folder of its own, gone with the tests.
export function scratchFolder() {
  const folder = mkdtempSync(join(tmpdir(), "bristle-web-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/// Runs the program; its standard output.
export function bristle(...words) {
  return execFileSync(program, words, { encoding: "utf8", cwd: root, maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "pipe"] });
}

let browser;

/// Opens a page; what goes wrong in it is collected in `errors`. A report says when it is shown; other pages are
/// waited for until they are loaded.
export async function openPage(path, { width = 1280, height = 820, colorScheme = "light", report = true } = {}) {
  browser ??= await chromium.launch({
    executablePath: browserProgram,
    args: [
      "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync", "--use-gl=angle", "--use-angle=swiftshader",
      "--enable-unsafe-swiftshader",
    ],
  });
  const context = await browser.newContext({ viewport: { width, height }, colorScheme, acceptDownloads: true });
  const page = await context.newPage();
  const errors = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && !/GPU stall|GL Driver Message/.test(message.text()) && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("requestfailed", (request) => errors.push(`cannot load ${request.url().slice(0, 80)}`));
  await page.goto(pathToFileURL(path).href);
  if (report) await page.waitForFunction(() => performance.getEntriesByName("shown").length > 0, null, { timeout: 60_000 });
  return { page, errors };
}

export async function closeBrowser() {
  await browser?.close();
  browser = undefined;
}

/// Nothing of what axe-core finds is serious or critical.
export async function assertAccessible(page) {
  const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  const serious = violations.filter((v) => ["serious", "critical"].includes(v.impact));
  const told = serious.map((v) => `${v.id}: ${v.help}\n  ${v.nodes.slice(0, 4).map((n) => n.html.slice(0, 160)).join("\n  ")}`);
  assert.deepEqual(told, []);
}

/// No part of the page is wider than the window.
export async function assertFitsWidth(page) {
  const [wide, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(wide <= window, `the page is ${wide} px wide in a window of ${window} px`);
}

/// Saves what a click offers, and gives its name and bytes.
export async function downloaded(page, click) {
  const [file] = await Promise.all([page.waitForEvent("download"), click()]);
  return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) };
}

/// A picture for people, where BRISTLE_SHOTS names a folder.
export async function picture(page, name) {
  if (process.env.BRISTLE_SHOTS) await page.screenshot({ path: join(process.env.BRISTLE_SHOTS, `${name}.png`) });
}
