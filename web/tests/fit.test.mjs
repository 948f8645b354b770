// The report of a fit, as a person reads it.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { assertAccessible, assertFitsWidth, bristle, closeBrowser, openPage, picture, scratchFolder } from "./browser.mjs";

const folder = scratchFolder();
after(closeBrowser);

function fitted(name, ...words) {
  const out = join(folder, name);
  const told = JSON.parse(bristle("fit", ...words, "--out", out, "--json"));
  return { told, page: join(out, "report.html") };
}

/// 7.644·10¹³ as a number.
const number = (text) => Number(text.replaceAll("−", "-").replace(/·10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)/, (_, p) => `e${[...p].map((c) => (c === "⁻" ? "-" : "⁰¹²³⁴⁵⁶⁷⁸⁹".indexOf(c))).join("")}`));

describe("a press", () => {
  let page, errors, told;
  before(async () => {
    const fit = fitted("press", "force", "scenes/data/press.csv", "--law", "volumetric", "--shape", "sphere", "--radius", "9.52e-3", "--compare", "hertz");
    told = fit.told;
    ({ page, errors } = await openPage(fit.page, { width: 1280, height: 900 }));
  });

  test("parameters are those of --json, with their intervals", async () => {
    const rows = await page.locator('[aria-label="Parameters"] tbody tr').evaluateAll((list) => list.map((row) => [...row.children].map((cell) => cell.textContent)));
    assert.deepEqual(rows.map((r) => r[0]), Object.keys(told.parameters));
    for (const [name, value, sd, interval, unit] of rows) {
      const { value: v, sd: s, low, high, unit: u } = told.parameters[name];
      assert.ok(Math.abs(number(value) - v) < 0.1 * s, `${name} ${value}`);
      assert.ok(Math.abs(number(sd) / s - 1) < 0.06, `${name} ± ${sd}`);
      const [from, to] = interval.split(" to ").map(number);
      assert.ok(Math.abs(from - low) < 0.1 * s && Math.abs(to - high) < 0.1 * s, interval);
      assert.equal(unit, u);
    }
  });

  test("correlations and the comparison are tables", async () => {
    const matrix = await page.locator('[aria-label="Correlations"] tbody').textContent();
    assert.ok(matrix.includes(told.correlations["stiffness,contact_point_m"].toPrecision(3)), matrix);
    const laws = await page.locator('[aria-label="Laws compared"] tbody code').allTextContents();
    assert.deepEqual(laws, told.comparison.map((law) => law.law));
  });

  test("data, residuals and profiles are drawn", async () => {
    const titles = await page.locator(".chart-card h5").allTextContents();
    assert.deepEqual(titles, ["Force against position", "Residuals: Force against position", ...Object.keys(told.parameters)]);
    for (let i = 0; i < titles.length; ++i) {
      const card = page.locator(".chart-card").nth(i);
      await card.scrollIntoViewIfNeeded();
      await card.locator(".u-over").waitFor();
    }
    await picture(page, "fit");
    const files = (await page.locator("main > p").last().textContent()).replace(/^[^:]*: |\.$/g, "").split(", ");
    for (const file of files) assert.ok(readFileSync(join(folder, "press", file)).length > 0, file);
  });

  test("it can be read by everybody, on a telephone too", async () => {
    await assertAccessible(page);
    await page.setViewportSize({ width: 390, height: 800 });
    await assertFitsWidth(page);
    assert.deepEqual(errors, []);
  });
});

test("what is not determined has no interval, and a warning", async () => {
  const { told, page: path } = fitted("cylinder", "force", "scenes/data/cylinder.csv", "--law", "volumetric", "--shape", "cylinder", "--radius", "5e-3", "--free", "tilt_deg");
  const { page, errors } = await openPage(path);
  assert.equal(await page.getByText("not determined", { exact: true }).count(), 2);
  assert.deepEqual(await page.locator('[aria-label="Warnings"] li').allTextContents(), told.warnings);
  assert.deepEqual(errors, []);
});
