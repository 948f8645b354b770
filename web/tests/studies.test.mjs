// The report of studies, as a person uses it.

import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { assertAccessible, assertFitsWidth, bristle, closeBrowser, downloaded, openPage, picture, scratchFolder } from "./browser.mjs";

const folder = scratchFolder();
const all = join(folder, "all", "report.html");
let told;

before(() => {
  told = JSON.parse(bristle("study", "all", "--out", join(folder, "all"), "--json")).studies;
});
after(closeBrowser);

const words = (page, selector) => page.locator(selector).allTextContents();
const study = (page, name) => page.locator(`[id="${name}"]`);
/// The chart of a title, once it is drawn.
async function chartOf(page, title) {
  const card = page.locator(".chart-card").filter({ has: page.getByRole("heading", { name: title, exact: true }) }).first();
  await card.scrollIntoViewIfNeeded();
  await card.locator(".u-over").waitFor();
  return card;
}
const drawn = (card) => card.locator("canvas").evaluate((canvas) => canvas.toDataURL());

describe("all studies", () => {
  let page, errors;
  before(async () => ({ page, errors } = await openPage(all, { width: 1360, height: 860 })));

  test("every check of --json is a row, with its verdict", async () => {
    const checks = told.flatMap((s) => s.checks);
    assert.ok(checks.length > 50);
    const papers = new Set(told.map((s) => s.study.split(".")[0]));
    assert.equal(await page.locator("table.checks").count(), papers.size);
    const rows = await page.locator("tr.statement").evaluateAll((list) => list.map((row) => [...row.children].map((cell) => cell.textContent)));
    assert.deepEqual(rows.map((r) => r[0]), checks.map((c) => c.name));
    assert.deepEqual(rows.map((r) => r[4]), checks.map((c) => (c.pass ? "✓ holds" : "✗ fails")));
    assert.deepEqual(rows.map((r) => r[5]), checks.map((c) => c.source));
    for (const [i, row] of rows.entries()) {
      const { value, reference, tolerance } = checks[i];
      if (row[1].startsWith("<") || tolerance === 0) continue;
      // What is printed is the value, to a part of its tolerance.
      const printed = row[1].replaceAll("−", "-").replace(/·10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)/, (_, p) => `e${[...p].map((c) => (c === "⁻" ? "-" : "⁰¹²³⁴⁵⁶⁷⁸⁹".indexOf(c))).join("")}`);
      assert.ok(Math.abs(Number(printed) - value) <= 0.11 * tolerance + 1e-9 * Math.abs(value), `${row} is not ${value}, ${reference} ± ${tolerance}`);
    }
  });

  test("the overview says how many hold", async () => {
    const checks = told.flatMap((s) => s.checks);
    const verdict = await page.locator(".grand").textContent();
    assert.equal(checks.every((c) => c.pass), /^All \d+ checks hold/.test(verdict), verdict);
    assert.ok(verdict.includes(String(checks.length)), verdict);
  });

  test("each study has its text, parameters and results", async () => {
    assert.deepEqual(await page.locator(".study").evaluateAll((list) => list.map((s) => s.id)), told.map((s) => s.study));
    for (const { study: name, parameters, results } of told) {
      const names = await study(page, name).locator("details code").allTextContents();
      assert.deepEqual(names, [...Object.keys(results), ...Object.keys(parameters)], name);
      assert.ok((await study(page, name).locator(".about").textContent()).length > 40, name);
    }
  });

  test("charts are drawn when they come into sight, with what the CSV file has", async () => {
    const drawnFirst = await page.locator(".u-over").count();
    const cards = await page.locator(".chart-card").count();
    assert.ok(drawnFirst < cards / 2, `${drawnFirst} of ${cards} charts are drawn at once`);
    const titles = [];
    for (const { study: name } of told) {
      const lines = readFileSync(join(folder, "all", `${name}.csv`), "utf8").split("\n").slice(1);
      titles.push(new Set(lines.filter(Boolean).map((l) => l.match(/^("(?:[^"]|"")*"|[^,]*)/)[0].replace(/^"|"$/g, "").replaceAll('""', '"'))));
      const shown = new Set(await words(page, `[id="${name}"] .chart-card h5`));
      for (const title of titles.at(-1)) assert.ok(shown.has(title), `${name} lacks the panel "${title}"`);
    }
    for (let i = 0; i < cards; ++i) {
      await page.locator(".chart-card").nth(i).scrollIntoViewIfNeeded();
      await page.locator(".chart-card").nth(i).locator(".u-over").waitFor();
    }
    await picture(page, "studies-last");
  });

  test("a chart zooms by dragging and by keys, and goes back", async () => {
    const card = await chartOf(page, "Joint angles (fig. 17)");
    const whole = await drawn(card);
    const box = await card.locator(".u-over").boundingBox();
    await page.mouse.move(box.x + 0.2 * box.width, box.y + 0.3 * box.height);
    await page.mouse.down();
    await page.mouse.move(box.x + 0.5 * box.width, box.y + 0.6 * box.height, { steps: 5 });
    await page.mouse.up();
    const zoomed = await drawn(card);
    assert.notEqual(zoomed, whole);
    await card.getByRole("button", { name: "Whole range" }).click();
    assert.equal(await drawn(card), whole);
    await card.locator(".plot").focus();
    await page.keyboard.press("+");
    assert.notEqual(await drawn(card), whole);
    await page.keyboard.press("0");
    assert.equal(await drawn(card), whole);
  });

  test("the numbers of a chart can be saved", async () => {
    const card = await chartOf(page, "Joint angles (fig. 17)");
    const file = await downloaded(page, () => card.getByRole("button", { name: "CSV" }).click());
    const lines = file.bytes.toString().trim().split("\n");
    assert.ok(lines.length > 100, file.name);
    assert.match(lines[0], /time \[s\]/);
  });

  test("a film plays, and its charts follow", async () => {
    const part = study(page, "gonthier2004.cylinder");
    const film = part.locator(".film").first();
    await film.scrollIntoViewIfNeeded();
    await film.locator(".stage canvas").waitFor();
    assert.equal(await part.locator(".film").count(), 2);
    const clock = film.locator(".clock");
    const began = await clock.textContent();
    const before = await film.locator(".stage").screenshot();
    await film.getByRole("button", { name: "Play" }).click();
    await page.waitForFunction(([t, i]) => globalThis.bristle.page.films[i].player.time > t, [0.5, 1]);
    await film.getByRole("button", { name: "Pause" }).click();
    assert.notEqual(await clock.textContent(), began);
    assert.ok(!before.equals(await film.locator(".stage").screenshot()), "the picture does not move");
    // A click in a chart over time goes there, in this film alone.
    const card = await chartOf(page, "Velocity (fig. 12)");
    const box = await card.locator(".u-over").boundingBox();
    await page.mouse.click(box.x + 0.5 * box.width, box.y + 0.5 * box.height);
    await page.waitForFunction(() => Math.abs(globalThis.bristle.page.films[1].player.time - 6) < 0.2);
    assert.equal(await page.evaluate(() => globalThis.bristle.page.films[2].player.time), 0);
    // Keys act on the film that has the focus.
    await film.locator(".stage canvas").focus();
    await page.keyboard.press("Home");
    await page.waitForFunction(() => globalThis.bristle.page.films[1].player.time === 0);
    await picture(page, "studies-film");
  });

  test("links lead to papers and studies", async () => {
    // In a page that has not been seen yet, charts before the place are drawn, and grow.
    const { page: fresh } = await openPage(all, { width: 1360, height: 860 });
    await fresh.locator('.contents a[href="#azad2010.rolling"]').click();
    await fresh.waitForTimeout(1000);
    const top = await fresh.evaluate(() => document.getElementById("azad2010.rolling").getBoundingClientRect().top);
    assert.ok(top > -2 && top < 30, `it is at ${top} px`);
    await fresh.context().close();
    const broken = await page.locator('a[href^="#"]').evaluateAll((list) => list.filter((a) => !document.getElementById(a.getAttribute("href").slice(1))).map((a) => a.href));
    assert.deepEqual(broken, []);
  });

  test("light and dark", async () => {
    const colour = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await colour();
    await page.getByRole("button", { name: "Light or dark" }).click();
    assert.notEqual(await colour(), light);
    await assertAccessible(page);
    await page.keyboard.press("t");
    assert.equal(await colour(), light);
    await assertAccessible(page);
  });

  test("it prints with all charts", async () => {
    const pdf = await page.pdf({ format: "A4" });
    assert.ok(pdf.length > 200_000);
  });

  test("nothing went wrong, and the page is small", () => {
    assert.deepEqual(errors, []);
    assert.ok(statSync(all).size < 5e6, `${statSync(all).size} bytes`);
  });
});

test("a telephone", async () => {
  const { page, errors } = await openPage(all, { width: 390, height: 844, colorScheme: "dark" });
  await assertFitsWidth(page);
  await study(page, "gonthier2004.cylinder").scrollIntoViewIfNeeded();
  await page.locator('[id="gonthier2004.cylinder"] .u-over').first().waitFor();
  await assertFitsWidth(page);
  await assertAccessible(page);
  await picture(page, "studies-telephone");
  assert.deepEqual(errors, []);
});

test("one study with other parameters", async () => {
  const out = join(folder, "one");
  const json = JSON.parse(bristle("study", "run", "gonthier2004.impact", "--set", "restitution=0.3", "--set", "rtol=1e-9", "--out", out, "--json"));
  const { page, errors } = await openPage(join(out, "report.html"));
  assert.equal(await page.title(), await page.locator("h1").textContent());
  assert.equal(await page.locator(".study").count(), 1);
  assert.equal(await page.locator("tr.statement").count(), json.checks.length);
  assert.match(await page.locator(".changes").textContent(), /restitution 0\.3, not 0\.5.*rtol/);
  await page.locator("summary", { hasText: "Parameters" }).click();
  const marked = await page.locator(".list tr.current").allTextContents();
  assert.equal(marked.length, 2);
  assert.match(marked[0], /restitution.*0\.3.*the paper's: 0\.5/);
  assert.match(await page.locator(".overview").textContent(), /differ from the paper/);
  await assertAccessible(page);
  await picture(page, "studies-one");
  assert.deepEqual(errors, []);
});
