// The report of a run, as a person uses it.

import assert from "node:assert/strict";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { assertAccessible, assertFitsWidth, bristle, closeBrowser, downloaded, openPage, picture, root, scratchFolder } from "./browser.mjs";

const folder = scratchFolder();
const report = join(folder, "block", "report.html");
let summary;

// A block that slides to rest on a slope that shakes, and a ball that bounces beside it.
const scene = `
title = "A block & a ball <on> a slope"
about = "Look at the block."
[clock]
duration_s = 1
[record]
every = "2 ms"
[[bodies]]
name = "slope"
fixed = true
rotation_deg = [0, 10, 0]
shapes = [{ type = "plane" }]
[[bodies]]
name = "block"
mass_kg = 1
position_m = [0.02, 0, 0.12]
rotation_deg = [0, 10, 0]
velocity_m_s = [1, 0, 0]
shapes = [{ type = "sphere", radius_m = 0.1 }]
[[bodies]]
name = "ball"
mass_kg = 0.2
position_m = [0, 0.4, 0.3]
shapes = [{ type = "sphere", radius_m = 0.05 }]
[[probes]]
name = "height of the ball"
kind = "point"
body = "ball"
component = "z"
`;

const seconds = (page) => page.evaluate(() => globalThis.bristle.player.time);
const scrub = (page) => page.getByRole("slider", { name: "Time", exact: true });

before(() => {
  writeFileSync(join(folder, "block.toml"), scene);
  summary = JSON.parse(bristle("run", join(folder, "block.toml"), "--out", join(folder, "block"), "--json"));
});
after(closeBrowser);

describe("the report of a run", () => {
  let page;
  let errors;
  before(async () => ({ page, errors } = await openPage(report)));
  after(async () => {
    assert.deepEqual(errors, []);
    await page.context().close();
  });

  test("says what it shows", async () => {
    assert.equal(summary.report, report);
    assert.equal(await page.title(), "A block & a ball <on> a slope");
    assert.equal(await page.locator("h1").textContent(), "A block & a ball <on> a slope");
    const facts = await page.locator("#summary").textContent();
    assert.match(facts, /Look at the block\./);
    assert.match(facts, new RegExp(`touches${summary.touches}`));
    await picture(page, "run");
  });

  test("draws the bodies where the recording has them", async () => {
    const end = summary.probes["height of the ball"].last;
    await page.evaluate(() => globalThis.bristle.player.seek(1e9));
    await page.waitForFunction(() => globalThis.bristle.player.time === globalThis.bristle.player.end);
    await page.waitForFunction((z) => {
      const { view, recording } = globalThis.bristle;
      return Math.abs(view.bodies[recording.head.bodies.indexOf("ball")].position.z - z) < 1e-6;
    }, end);
    const drawn = await page.evaluate(() => {
      const { view, recording } = globalThis.bristle;
      return view.bodies[recording.head.bodies.indexOf("ball")].position.z;
    });
    assert.ok(Math.abs(drawn - end) < 1e-6, `${drawn} against ${end}`);
    // The picture has colours of bodies in it, not the background only.
    const colours = await page.evaluate(() => {
      const { view } = globalThis.bristle;
      view.draw();
      const copy = document.createElement("canvas");
      [copy.width, copy.height] = [200, 120];
      const pen = copy.getContext("2d");
      pen.drawImage(view.canvas, 0, 0, 200, 120);
      const { data } = pen.getImageData(0, 0, 200, 120);
      let vivid = 0;
      for (let i = 0; i < data.length; i += 4) if (Math.max(data[i], data[i + 1], data[i + 2]) - Math.min(data[i], data[i + 1], data[i + 2]) > 60) ++vivid;
      return vivid;
    });
    assert.ok(colours > 100, `${colours} vivid pixels`);
  });

  test("plays, pauses and steps", async () => {
    await page.getByRole("button", { name: "To the beginning" }).click();
    await page.getByLabel("Speed").selectOption("0.5");
    await page.getByRole("button", { name: "Play" }).click();
    await page.waitForFunction(() => globalThis.bristle.player.time > 0.05);
    await page.getByRole("button", { name: "Pause" }).click();
    const at = await seconds(page);
    await page.waitForTimeout(200);
    assert.equal(await seconds(page), at);
    await page.getByRole("button", { name: "One sample on" }).click();
    const next = await seconds(page);
    assert.ok(next > at && next - at <= 0.002 + 1e-9);
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("ArrowLeft");
    assert.ok((await seconds(page)) < next);
  });

  test("scrubs with the mouse", async () => {
    const box = await scrub(page).boundingBox();
    await page.mouse.move(box.x + 0.2 * box.width, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + 0.6 * box.width, box.y + box.height / 2, { steps: 5 });
    await page.mouse.up();
    assert.ok(Math.abs((await seconds(page)) - 0.6) < 0.03, `${await seconds(page)} s`);
    await assertText(page.locator(".clock"), /0\.(59|60|61)/);
  });

  test("selects a contact in the picture and plots it", async () => {
    await page.evaluate(() => {
      const { recording, player } = globalThis.bristle;
      const touching = recording.time.findIndex((_, i) => i > 250 && recording.contactsAt(i).some((c) => c.state !== 0 && recording.keyNames[c.key] === "block – slope"));
      player.seek(recording.time[touching]);
    });
    await page.waitForFunction(() => globalThis.bristle.view.contacts.some((c) => globalThis.bristle.recording.keyNames[c.key] === "block – slope"));
    const at = await page.evaluate(() => {
      const { view, recording } = globalThis.bristle;
      return view.onScreen(view.contacts.find((c) => recording.keyNames[c.key] === "block – slope"));
    });
    await page.mouse.click(...at);
    // Its numbers stand where the click was.
    const details = page.locator(".stage .details");
    await assertText(details.locator("h4"), /Selected: block – slope/);
    const [box, stage] = [await details.boundingBox(), await page.locator(".stage").boundingBox()];
    assert.ok(box.x >= stage.x && box.x + box.width <= stage.x + stage.width && box.y >= stage.y && box.y + box.height <= stage.y + stage.height);
    assert.ok(Math.abs(box.x - at[0]) < 320 && at[1] > box.y - 20 && at[1] < box.y + box.height + 20, `${JSON.stringify(box)} for a click at ${at}`);
    const force = await page.evaluate(() => {
      const { recording, player } = globalThis.bristle;
      return recording.contactsAt(player.index).find((c) => recording.keyNames[c.key] === "block – slope").normalForce;
    });
    const said = Number((await details.locator(".fact", { hasText: "normal force" }).locator("dd").textContent()).replace(" N", ""));
    assert.ok(Math.abs(said - force) < 1e-3 * force, `${said} N for ${force} N`);
    await assertAccessible(page);
    const charts = await page.locator(".chart-card").count();
    await page.getByRole("button", { name: "Force–depth loop" }).click();
    assert.equal(await page.locator(".chart-card").count(), charts + 1);
    await assertText(page.locator(".chart-card h3").last(), /^block – slope: normal force against depth$/);
    await picture(page, "run-contact");
    await page.getByRole("button", { name: "Remove this chart" }).last().click();
    assert.equal(await page.locator(".chart-card").count(), charts);
    // From the list they stand below it.
    await page.locator("#contacts .now-touching button").first().click();
    assert.equal(await page.locator("#contacts .details h4").count(), 1);
    await page.locator("h1").click();
    await page.keyboard.press("Escape");
    assert.equal(await page.locator(".details h4").count(), 0);
  });

  test("arrows stay shorter than what moves, also when the picture is zoomed", async () => {
    const lengths = () =>
      page.evaluate(() => {
        const { view } = globalThis.bristle;
        view.draw();
        const { grain } = view.motion;
        return { longest: 1.6 * view.marks.usual, grain, height: view.height };
      });
    const before = await lengths();
    assert.ok(before.longest > 0 && before.longest < 2 * before.grain, JSON.stringify(before));
    await page.evaluate(() => globalThis.bristle.view.move(0, 0, 0.1));
    const near = await lengths();
    assert.ok(near.longest < before.longest && near.longest < 0.3 * near.height, JSON.stringify(near));
    await page.evaluate(() => globalThis.bristle.view.fit());
  });

  test("the hardest contact has its force beside it", async () => {
    const label = page.locator(".force-label:not([hidden])").first();
    await assertText(label, /^[\d.]+ N$/);
    await page.getByLabel("Values").uncheck();
    await page.waitForFunction(() => document.querySelectorAll(".force-label:not([hidden])").length === 0);
    await page.getByLabel("Values").check();
    await assertText(page.locator(".scales"), /m.*N/);
  });

  test("a body is hidden, shown and followed from the list of bodies", async () => {
    const shown = (name) => page.evaluate((body) => globalThis.bristle.view.bodies[globalThis.bristle.recording.head.bodies.indexOf(body)].visible, name);
    const list = page.locator("#bodies");
    await list.getByLabel("Show ball").uncheck();
    assert.deepEqual([await shown("ball"), await shown("block")], [false, true]);
    await list.getByRole("button", { name: "Show all" }).click();
    assert.equal(await shown("ball"), true);
    assert.equal(await list.getByLabel("Show ball").isChecked(), true);
    await page.evaluate(() => globalThis.bristle.player.seek(0.1));
    await list.getByRole("button", { name: "Follow ball" }).click();
    assert.equal(await page.getByLabel("Follow", { exact: true }).isChecked(), true);
    const away = () =>
      page.evaluate(() => {
        const { view, recording } = globalThis.bristle;
        return view.bodies[recording.head.bodies.indexOf("ball")].position.distanceTo(view.controls.target);
      });
    await page.evaluate(() => globalThis.bristle.player.seek(0.6));
    for (let k = 0; k < 50 && (await away()) >= 1e-6; ++k) await page.waitForTimeout(100);
    assert.ok((await away()) < 1e-6, `${await away()} m from the middle of the picture`);
    await page.getByLabel("Follow", { exact: true }).uncheck();
    await page.keyboard.press("Escape");
    await page.keyboard.press("f");
  });

  test("frames of bodies on request", async () => {
    const count = () => page.evaluate(() => globalThis.bristle.view.frames.axes.filter((a) => a.visible).map((a) => a.count));
    assert.deepEqual(await count(), []);
    await page.getByLabel("Frames").check();
    await page.waitForFunction(() => globalThis.bristle.view.frames.axes[0].count === 2);
    assert.deepEqual(await count(), [2, 2, 2]);
    await page.getByLabel("Frames").uncheck();
  });

  test("a body's point leaves a trail", async () => {
    const trails = await page.locator(".trails li").count();
    // Scrolled to the top, and while the ball still falls: nothing is in the way of the click.
    await page.evaluate(() => {
      scrollTo({ top: 0, behavior: "instant" });
      globalThis.bristle.player.seek(0.05);
    });
    await page.waitForFunction(() => scrollY === 0 && globalThis.bristle.player.time === 0.05);
    await page.waitForTimeout(500);
    const at = await page.evaluate(() => {
      const { view, recording } = globalThis.bristle;
      const body = view.bodies[recording.head.bodies.indexOf("ball")];
      const box = view.canvas.getBoundingClientRect();
      const p = body.position.clone().project(view.camera);
      return [box.left + (0.5 + 0.5 * p.x) * box.width, box.top + (0.5 - 0.5 * p.y) * box.height];
    });
    await page.mouse.click(...at);
    await page.getByRole("button", { name: "Draw the trail of this point" }).click();
    assert.equal(await page.locator(".trails li").count(), trails + 1);
    await page.getByRole("button", { name: "Remove the trail of ball, a point of it" }).click();
    assert.equal(await page.locator(".trails li").count(), trails);
  });

  test("zooms a chart, all charts over time with it, and back", async () => {
    const plot = page.locator(".chart-card .u-over").first();
    await plot.scrollIntoViewIfNeeded();
    const box = await plot.boundingBox();
    const extents = () => page.evaluate(() => [...document.querySelectorAll(".chart")].map((c) => c.textContent.slice(0, 0)) && globalThis.bristle.window.range);
    assert.equal(await extents(), null);
    await page.mouse.move(box.x + 0.25 * box.width, box.y + 40);
    await page.mouse.down();
    await page.mouse.move(box.x + 0.75 * box.width, box.y + 60, { steps: 6 });
    await page.mouse.up();
    const zoomed = await extents();
    assert.ok(Math.abs(zoomed.low - 0.25) < 0.02 && Math.abs(zoomed.high - 0.75) < 0.02, JSON.stringify(zoomed));
    await page.keyboard.down("Shift");
    await page.mouse.move(box.x + 0.5 * box.width, box.y + 50);
    await page.mouse.down();
    await page.mouse.move(box.x + 0.6 * box.width, box.y + 50, { steps: 4 });
    await page.mouse.up();
    await page.keyboard.up("Shift");
    const panned = await extents();
    assert.ok(panned.low < zoomed.low - 0.03 && Math.abs(panned.high - panned.low - (zoomed.high - zoomed.low)) < 1e-6);
    await plot.dblclick();
    assert.equal(await extents(), null);
  });

  test("a click in a chart goes to that time; a curve can be hidden", async () => {
    const plot = page.locator(".chart-card .u-over").first();
    const box = await plot.boundingBox();
    await page.mouse.click(box.x + 0.4 * box.width, box.y + 30);
    assert.ok(Math.abs((await seconds(page)) - 0.4) < 0.02);
    const curve = page.locator(".chart-card .curve").first();
    await curve.click();
    assert.equal(await curve.getAttribute("aria-pressed"), "false");
    await curve.click();
    assert.equal(await curve.getAttribute("aria-pressed"), "true");
  });

  test("any signal can be found by its name and drawn", async () => {
    await page.getByRole("button", { name: "+ New chart" }).click();
    await page.getByLabel("Find a signal").fill("block speed");
    await page.keyboard.press("Enter");
    await assertText(page.locator(".chart-card h3").last(), /^block speed$/);
    await page.getByRole("button", { name: "Against …" }).last().click();
    await page.getByLabel("Find a signal").fill("block position x");
    await page.keyboard.press("Enter");
    await assertText(page.locator(".chart-card h3").last(), /^block speed against position x$/);
  });

  test("a chart is saved as CSV, with the numbers of the recording, and as PNG", async () => {
    const card = page.locator(".chart-card").first();
    const csv = await downloaded(page, () => card.getByRole("button", { name: "CSV" }).click());
    assert.equal(csv.name, "height-of-the-ball.csv");
    const lines = csv.bytes.toString().trim().split("\n");
    assert.equal(lines[0], "time [s],height of the ball [m]");
    const last = lines.at(-1).split(",").map(Number);
    assert.equal(last[0], 1);
    assert.ok(Math.abs(last[1] - summary.probes["height of the ball"].last) < 1e-6);
    const png = await downloaded(page, () => card.getByRole("button", { name: "PNG" }).click());
    assert.deepEqual([...png.bytes.subarray(1, 4)], [..."PNG"].map((c) => c.charCodeAt(0)));
    assert.ok(png.bytes.length > 3000);
  });

  test("the energies add up, and the residual is the run's", async () => {
    const off = await page.evaluate(() => {
      const { recording } = globalThis.bristle;
      const line = (name) => recording.ledger(name);
      const [held, lost, given, rest] = ["energy", "dissipated", "supplied", "residual"].map(line);
      let worst = 0;
      for (let i = 0; i < held.length; ++i) worst = Math.max(worst, Math.abs(held[i] + lost[i] - given[i] - held[0] - rest[i]));
      return worst;
    });
    assert.ok(off < 1e-5 * summary.ledger.scale_J, `${off} J`);
    await assertText(page.locator("#energy"), /balance error/i);
    const names = await page.locator("#energy .curve").evaluateAll((all) => all.map((c) => c.dataset.label));
    assert.ok(names.includes("kinetic") && names.includes("gravitational"), names.join());
  });

  test("events jump", async () => {
    const rows = page.locator("table.events tbody tr");
    const touches = await page.locator("table.events .badge.touch").count();
    assert.equal(touches, summary.touches);
    await rows.nth(1).getByRole("button").click();
    const shown = Number(await rows.nth(1).getByRole("button").textContent());
    await page.waitForFunction((time) => Math.abs(globalThis.bristle.player.time - time) < 1e-6, shown);
    const at = await seconds(page);
    // It is marked, or one at the same time is.
    await page.waitForFunction((time) => document.querySelector("table.events tr.current button")?.textContent === time, await rows.nth(1).getByRole("button").textContent());
    await page.locator("h1").click();
    await page.keyboard.press("n");
    assert.ok((await seconds(page)) > at);
    const kinds = page.locator("#events .filters input");
    await kinds.first().uncheck();
    assert.equal(await page.locator("table.events .badge.touch").count(), 0);
    await kinds.first().check();
  });

  test("theme, keys and help", async () => {
    const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
    assert.equal(await theme(), "light");
    await page.getByRole("button", { name: "Light or dark" }).click();
    assert.equal(await theme(), "dark");
    await picture(page, "run-dark");
    await assertAccessible(page);
    await page.keyboard.press("t");
    assert.equal(await theme(), "light");
    await page.keyboard.press("?");
    assert.ok(await page.getByRole("dialog").isVisible());
    await page.keyboard.press("Escape");
    assert.equal(await page.getByRole("dialog").count(), 0);
    const arrows = page.getByLabel("Forces");
    await page.locator("h1").click();
    await page.keyboard.press("r");
    assert.equal(await arrows.isChecked(), false);
    await page.keyboard.press("r");
  });

  test("axe-core finds nothing serious", async () => assertAccessible(page));
});

test("what rounding left is shown as 0", async () => {
  const { page, errors } = await openPage(report);
  // The block stays in its plane: its way across is round-off.
  await page.getByRole("button", { name: "+ New chart" }).click();
  await page.getByLabel("Find a signal").fill("ball position y");
  await page.keyboard.press("Enter");
  const largest = await page.evaluate(() => {
    const { recording, player } = globalThis.bristle;
    player.seek(player.end);
    const y = recording.signal("bodies/block/position.y");
    y.values().fill(1e-13);
    return [y.scale(), recording.signal("ledger//residual").scale()];
  });
  assert.ok(largest[0] > 0.3 && largest[1] < 1e-3, `${largest}`);
  await page.getByRole("button", { name: "+ New chart" }).click();
  await page.getByLabel("Find a signal").fill("block position y");
  await page.keyboard.press("Enter");
  await assertText(page.locator(".chart-card").last().locator(".curve .value"), /^0 m$/);
  assert.deepEqual(errors, []);
  await page.context().close();
});

test("ledger lines have names", async () => {
  const { page } = await openPage(report);
  const named = await page.evaluate(() => globalThis.bristle.recording.signals.filter((s) => s.group === "Energy").map((s) => s.label));
  assert.ok(named.includes("contact friction, dissipated by slip") && named.includes("gravitational"), named.join("; "));
  assert.deepEqual(named.filter((n) => /work|_/.test(n) && !/work of /.test(n)), []);
  await page.context().close();
});

test("a small ball that falls far is large in the picture, and the camera goes along", async () => {
  writeFileSync(join(folder, "far.toml"), `
title = "Far"
[clock]
duration_s = 0.6
[record]
every = "5 ms"
[[bodies]]
name = "floor"
fixed = true
shapes = [{ type = "plane" }]
[[bodies]]
name = "ball"
mass_kg = 0.03
position_m = [0, 0, 1]
shapes = [{ type = "sphere", radius_m = 0.01 }]
`);
  const run = JSON.parse(bristle("run", join(folder, "far.toml"), "--out", join(folder, "far"), "--json"));
  for (const width of [1400, 390]) {
    const { page, errors } = await openPage(run.report, { width, height: width === 390 ? 780 : 900 });
    for (const time of [0, 0.2, 0.45]) {
      await page.evaluate((t) => globalThis.bristle.player.seek(t), time);
      await page.waitForTimeout(150);
      const part = await page.evaluate(() => {
        const { view } = globalThis.bristle;
        view.draw();
        const at = view.bodies[0].position.clone().project(view.camera);
        const size = 0.02 / view.height;
        return { x: at.x, y: at.y, size };
      });
      assert.ok(part.size > 0.25 && Math.abs(part.x) < 0.5 && Math.abs(part.y) < 0.5, `${width} px, ${time} s: ${JSON.stringify(part)}`);
    }
    assert.deepEqual(errors, []);
    await page.context().close();
  }
});

test("follows a dark system", async () => {
  const { page, errors } = await openPage(report, { colorScheme: "dark" });
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  assert.deepEqual(errors, []);
  await page.context().close();
});

test("works at a width of 390 px", async () => {
  const { page, errors } = await openPage(report, { width: 390, height: 780 });
  await assertFitsWidth(page);
  await page.getByRole("button", { name: "Play" }).click();
  await page.waitForFunction(() => globalThis.bristle.player.time > 0.05);
  await picture(page, "run-390");
  await assertAccessible(page);
  assert.deepEqual(errors, []);
  await page.context().close();
});

test("can be used with keys alone", async () => {
  const { page } = await openPage(report);
  const reached = new Set();
  for (let i = 0; i < 60; ++i) {
    await page.keyboard.press("Tab");
    reached.add(await page.evaluate(() => document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent.slice(0, 20)));
  }
  for (const name of ["Play", "Time", "Speed", "+ New chart", "CSV"]) assert.ok(reached.has(name), `${name} among ${[...reached].join("; ")}`);
  await page.context().close();
});

test("prints on white, without buttons", async () => {
  const { page, errors } = await openPage(report, { colorScheme: "dark" });
  const pdf = await page.pdf({ format: "A4" });
  assert.ok(pdf.length > 20_000);
  await page.emulateMedia({ media: "print" });
  assert.equal(await page.locator(".transport .buttons").isVisible(), false);
  assert.deepEqual(errors, []);
  await page.context().close();
});

test("strings of Newton's cradle, the tree and centres of mass", async () => {
  const out = join(folder, "cradle");
  const run = JSON.parse(bristle("run", join(root, "scenes/newtons-cradle.toml"), "--set", "clock.duration_s=0.3", "--out", out, "--json"));
  const { page, errors } = await openPage(run.report, { width: 1400, height: 900 });
  const rods = await page.evaluate(() => globalThis.bristle.view.rods.map((rod) => [rod.geometry.parameters.height, rod.parent.position.z]));
  assert.equal(rods.length, 5);
  for (const [length] of rods) assert.ok(Math.abs(length - 0.3) < 1e-9, `${length} m`);
  // Arrows are measured by the balls, not by their strings.
  assert.ok((await page.evaluate(() => globalThis.bristle.view.motion.grain)) < 0.021);
  await page.getByLabel("Centres of mass").check();
  // Placed with the next picture; all lie at 0 before.
  await page.waitForFunction(() => globalThis.bristle.view.frames.balls.count === 5 && globalThis.bristle.view.frames.balls.instanceMatrix.array[16 * 4 + 14] !== 0);
  const below = await page.evaluate(() => {
    const { view } = globalThis.bristle;
    return view.frames.balls.instanceMatrix.array[16 * 4 + 14];
  });
  assert.ok(below < -0.25 && below > -0.31, `${below} m`);
  await picture(page, "run-cradle");
  assert.deepEqual(errors, []);
  await page.context().close();
});

const robot = `
<mujoco>
  <compiler meshdir="."/>
  <asset>
    <mesh name="shell" file="shell.stl"/>
    <mesh name="lost" file="lost.stl"/>
    <material name="red" rgba="0.9 0.1 0.1 1"/>
  </asset>
  <worldbody>
    <body name="base" pos="0 0 0.5">
      <freejoint/>
      <geom name="core" type="box" size="0.2 0.2 0.1" group="3"/>
      <geom type="mesh" mesh="shell" material="red" contype="0" conaffinity="0" density="0" group="2"/>
      <geom type="mesh" mesh="lost" contype="0" conaffinity="0" density="0" group="2"/>
      <body name="arm" pos="0.3 0 0">
        <joint name="shoulder" axis="0 1 0"/>
        <geom name="rod" type="capsule" fromto="0 0 0 0.3 0 0" size="0.04" rgba="0.1 0.2 0.9 1"/>
      </body>
    </body>
  </worldbody>
</mujoco>`;

/// A tetrahedron as text.
const shell = () => {
  const corners = [[0.25, 0, -0.1], [-0.2, 0.2, -0.1], [-0.2, -0.2, -0.1], [0, 0, 0.25]];
  const faces = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];
  const facet = (f) => `facet normal 0 0 0\nouter loop\n${f.map((k) => `vertex ${corners[k].join(" ")}`).join("\n")}\nendloop\nendfacet`;
  return `solid shell\n${faces.map(facet).join("\n")}\nendsolid shell\n`;
};

test("a robot is seen by its visual meshes and colours", async () => {
  writeFileSync(join(folder, "robot.xml"), robot);
  writeFileSync(join(folder, "shell.stl"), shell());
  const run = JSON.parse(bristle("run", join(folder, "robot.xml"), "--set", "clock.duration_s=0.5", "--out", join(folder, "robot"), "--json"));
  for (const [width, colorScheme] of [[1400, "light"], [390, "dark"]]) {
    const { page, errors } = await openPage(run.report, { width, height: 850, colorScheme });
    const seen = () =>
      page.evaluate(() =>
        globalThis.bristle.view.meshes
          .filter((m) => m.visible && m.userData.shape.body >= 0)
          .map((m) => [m.userData.shape.kind, m.material.color.getHexString()])
          .sort(),
      );
    assert.deepEqual(await seen(), [["capsule", "1a33e6"], ["mesh", "e61a1a"]]);
    await page.getByLabel("What touches").check();
    assert.deepEqual((await seen()).map(([kind]) => kind), ["box", "capsule"]);
    await page.getByLabel("What touches").uncheck();
    // The arm hangs from the base.
    assert.equal(await page.locator("#bodies .tree .tree").getByLabel("Show arm").count(), 1);
    await assertFitsWidth(page);
    await assertAccessible(page);
    await picture(page, `run-robot-${width}`);
    assert.deepEqual(errors, []);
    await page.context().close();
  }
});

test("two runs in one page", async () => {
  writeFileSync(join(folder, "slower.toml"), scene.replace("velocity_m_s = [1, 0, 0]", "velocity_m_s = [0.5, 0, 0]"));
  const slower = JSON.parse(bristle("run", join(folder, "slower.toml"), "--out", join(folder, "slower"), "--json"));
  bristle("export", join(folder, "block"), "--html", "--with", join(folder, "slower"), "--out", join(folder, "both"));
  for (const [width, colorScheme] of [[1400, "dark"], [390, "light"]]) {
    const { page, errors } = await openPage(join(folder, "both", "report.html"), { width, height: 850, colorScheme });
    await assertText(page.locator("#summary .other"), new RegExp(`^With slower, .*${slower.touches.toLocaleString("en")} touches`));
    const start = await page.evaluate(() => globalThis.bristle.view.bodies[globalThis.bristle.recording.head.bodies.indexOf("block")].position.x);
    await page.evaluate(() => globalThis.bristle.player.seek(0.3));
    await page.waitForFunction((x) => globalThis.bristle.view.bodies[globalThis.bristle.recording.head.bodies.indexOf("block")].position.x > x + 0.01, start);
    const [mine, other, expected] = await page.evaluate(() => {
      const { view, recording } = globalThis.bristle;
      const block = recording.head.bodies.indexOf("block");
      const signal = recording.other.signal("bodies/block/position.x").values();
      const at = recording.other.time.findIndex((t) => t > 0.3 - 1e-9);
      return [view.bodies[block].position.x, view.other.bodies[block].position.x, signal[at]];
    });
    assert.ok(Math.abs(other - expected) < 1e-4 && mine > other + 0.05, `${mine} ${other} ${expected}`);
    const curves = await page.locator(".chart-card").first().locator(".curve").evaluateAll((all) => all.map((c) => c.dataset.label));
    assert.deepEqual(curves, ["height of the ball", "height of the ball, slower"]);
    await page.getByLabel("See-through: slower").uncheck();
    assert.equal(await page.evaluate(() => globalThis.bristle.view.other.group.visible), false);
    await assertFitsWidth(page);
    await assertAccessible(page);
    await picture(page, `run-two-${width}`);
    assert.deepEqual(errors, []);
    await page.context().close();
  }
});

test("another run that is not there is refused", () => {
  assert.throws(() => bristle("export", join(folder, "block"), "--html", "--with", join(folder, "nowhere")), (error) => error.status === 2 && /there is no such file or folder/.test(error.stderr));
});

test("a run that went wrong says so", async () => {
  const wild = join(folder, "wild");
  writeFileSync(join(folder, "wild.toml"), scene.replace("duration_s = 1", 'duration_s = 3\nkind = "fixed"\nmethod = "rk4"\nstep_ms = 20\nsubsteps = 1'));
  let ended;
  try {
    bristle("run", join(folder, "wild.toml"), "--out", wild, "--json");
  } catch (failure) {
    ended = failure;
  }
  assert.equal(ended?.status, 3);
  const { trouble, warnings } = JSON.parse(ended.stdout);
  assert.match(trouble, /created energy/);
  assert.ok(warnings.some((text) => text.includes("balance error")));
  const { page, errors } = await openPage(join(wild, "report.html"));
  await assertText(page.locator("#summary [role=alert]").last(), /balance error is .* of the energy scale: the steps are too long/);
  assert.deepEqual(errors, []);
  await page.context().close();
});

test("damaged data give a message, not an empty page", async () => {
  const text = readFileSync(report, "utf8");
  const at = text.indexOf('id="data">') + 200;
  const broken = join(folder, "broken.html");
  writeFileSync(broken, text.slice(0, at) + "AAAAAAAA" + text.slice(at + 8));
  const { page } = await openPage(broken);
  await assertText(page.locator("#app [role=alert]"), /cannot be shown/);
  await page.context().close();
});

test("ten seconds of sixty bodies at 1 kHz: quick to open, quick to scrub", async (t) => {
  const lines = [
    'title = "Sixty balls in a heap"\n[clock]\nkind = "fixed"\nduration_s = 10\nstep_ms = 1\nsubsteps = 2\n[record]\nevery = "1 ms"',
    '[[bodies]]\nname = "floor"\nfixed = true\nshapes = [{ type = "plane" }]',
  ];
  for (let i = 0; i < 60; ++i) {
    const [x, y, z] = [((i % 4) - 1.5) * 0.11 + 0.004 * Math.sin(7 * i), ((Math.floor(i / 4) % 4) - 1.5) * 0.11 + 0.004 * Math.cos(5 * i), 0.06 + Math.floor(i / 16) * 0.12];
    lines.push(`[[bodies]]\nname = "ball ${i + 1}"\nmass_kg = 0.2\nposition_m = [${x}, ${y}, ${z}]\nshapes = [{ type = "sphere", radius_m = 0.05 }]`);
  }
  lines.push('[[contacts]]\na = "*"\nb = "*"\nnormal = { law = "hunt-crossley", stiffness = 1e5, dissipation = 0.5 }\nfriction = { law = "spring-slider", mu = 0.5, stiffness = 5e3, damping = 5 }');
  writeFileSync(join(folder, "sixty.toml"), lines.join("\n"));
  const run = JSON.parse(bristle("run", join(folder, "sixty.toml"), "--out", join(folder, "sixty"), "--json"));
  const size = statSync(run.report).size;
  const { page, errors } = await openPage(run.report);
  // The browser tells of the paint once the picture is on the screen, which may be after the page is ready.
  await page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint").length > 0);
  const [paint, shown] = await page.evaluate(() => [performance.getEntriesByName("first-contentful-paint")[0].startTime, performance.getEntriesByName("shown")[0].startTime]);

  // As fast as the page takes them, the slider is moved and the page brought up to date.
  const rate = await page.evaluate(async () => {
    const slider = document.querySelector("input.scrub");
    const { player } = globalThis.bristle;
    const first = player.updates;
    const began = performance.now();
    let k = 0;
    while (performance.now() - began < 3000) {
      slider.value = String(0.5 + 0.45 * Math.sin(0.11 * ++k));
      slider.dispatchEvent(new Event("input"));
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    }
    return (1000 * (player.updates - first)) / (performance.now() - began);
  });
  const held = await page.evaluate(() => globalThis.bristle.recording.time.length);
  await picture(page, "run-sixty");
  t.diagnostic(`${(size / 1e6).toFixed(1)} MB, ${held} samples, first paint ${paint.toFixed(0)} ms, all shown ${shown.toFixed(0)} ms, ${rate.toFixed(0)} updates per second`);
  // Timings are for people to read where other programs keep the machine busy.
  const slack = process.env.BRISTLE_TIMING ? 1 : 4;
  assert.ok(paint < 2000 * slack, `first paint after ${paint} ms`);
  assert.ok(rate > 20 / slack, `${rate} updates per second`);
  assert.deepEqual(errors, []);
  await page.context().close();
});

test("the page without data is below 1.5 MB", () => {
  const text = readFileSync(report, "utf8");
  const data = text.indexOf('<script type="application/octet-stream" id="data">');
  const end = text.indexOf("</script>", data);
  assert.ok(text.length - (end - data) < 1.5e6, `${text.length - (end - data)} bytes`);
});

async function assertText(locator, pattern) {
  const began = Date.now();
  let text = "";
  do {
    text = (await locator.textContent()) ?? "";
    if (pattern.test(text)) return;
    await new Promise((done) => setTimeout(done, 50));
  } while (Date.now() - began < 5000);
  assert.match(text, pattern);
}
