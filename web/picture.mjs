// A picture of a report, as docs/report.png is made:
//
//   bristle run scenes/quadruped.toml && node web/picture.mjs out/quadruped/report.html docs/report.png 1.2

import { closeBrowser, openPage } from "./tests/browser.mjs";

const [report, picture, seconds = "0"] = process.argv.slice(2);
if (!picture) {
  console.error("usage: node web/picture.mjs REPORT.html PICTURE.png [SECONDS]");
  process.exit(2);
}
const { page, errors } = await openPage(report, { width: 1280, height: 800 });
await page.evaluate((time) => globalThis.bristle.player.seek(time), Number(seconds));
await page.waitForTimeout(2000); // drawn finely once it rests
await page.screenshot({ path: picture });
await closeBrowser();
for (const error of errors) console.error(error);
