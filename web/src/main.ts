import "./style.css";
import "./studies.css";
import "./fit.css";
import { type Packed, type RunHead, unpack } from "./data";
import { el } from "./dom";
import { type FitHead, showFit } from "./fit_page";
import { showRun } from "./run_page";
import type { StudiesHead } from "./studies_data";
import { showStudies } from "./studies_page";
import { startTheme } from "./theme";

// Unpacks what the page was given, and shows it.

async function start(): Promise<void> {
  const app = document.getElementById("app")!;
  startTheme();
  const data = document.getElementById("data");
  if (!data) {
    app.replaceChildren(el("p", { class: "loading" }, "This page holds no data. `bristle run`, `bristle study` and `bristle fit` write reports with data in them."));
    return;
  }
  // The first picture comes before the work.
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  try {
    const packed = await unpack<{ kind: string }>(data.textContent ?? "");
    data.remove();
    if (packed.head.kind === "run") showRun(app, packed as unknown as Packed<RunHead>);
    else if (packed.head.kind === "studies") showStudies(app, packed as unknown as Packed<StudiesHead>);
    else if (packed.head.kind === "fit") showFit(app, packed as unknown as Packed<FitHead>);
    else throw new Error(`it is of an unknown kind, "${packed.head.kind}"`);
  } catch (error) {
    console.error(error);
    const why = error instanceof Error ? error.message : String(error);
    app.replaceChildren(el("p", { class: "loading trouble", role: "alert" }, `The data of this page cannot be shown: ${why}.`));
  }
  performance.mark("shown");
}

if (document.readyState === "loading") addEventListener("DOMContentLoaded", () => void start());
else void start();
