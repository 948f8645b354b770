import type { Chart } from "./chart";
import type { Packed } from "./data";
import { showShortcuts } from "./dialogs";
import { append, el } from "./dom";
import { short, withUnit } from "./format";
import { pageHeader } from "./header";
import { Lazy } from "./lazy";
import { labelsOf, panelCard } from "./panel";
import type { FigureHead } from "./studies_data";
import { toggleTheme } from "./theme";

// The report of a fit: parameters with their intervals, what is wrong with them, data with the fitted
// curve, residuals, correlations and likelihood profiles.

/// What is not known is null: the interval of a parameter that the data do not determine.
interface Estimate {
  name: string;
  value: number;
  sd: number | null;
  low: number | null;
  high: number | null;
  bootstrap_sd?: number;
  unit: string;
  identified: boolean;
  meaning: string;
}

interface Compared {
  law: string;
  aicc: number;
  bic: number;
  held_out_rms: number | null;
  rms: number;
}

/// As cli/fit_files.cpp writes it.
export interface FitHead {
  kind: "fit";
  title: string;
  version: string;
  created: string;
  data: string; // its file
  about: string; // the shape of the bodies, or the scene
  rms_unit: string;
  parameters: Estimate[];
  figures: FigureHead[];
  files: string[]; // beside the page
  result: {
    points: number;
    rms: number;
    aicc: number;
    bic: number;
    starts: number;
    starts_at_best: number;
    fixed: Record<string, number>;
    correlations: Record<string, number | null>;
    warnings: string[];
    comparison?: Compared[];
  };
}

const shortcuts: [string, string][] = [
  ["t", "light or dark"],
  ["?", "this list"],
  ["Tab", "to the next chart; the keys below act on it"],
  ["+ −", "zoom"],
  ["← → ↑ ↓", "pan"],
  ["0", "all again"],
  ["drag", "zoom; with Shift: pan; double-click: all again"],
  ["Ctrl wheel", "zoom"],
];

export function showFit(app: HTMLElement, packed: Packed<FitHead>): void {
  const { head } = packed;
  const lazy = new Lazy();
  const charts: Chart[] = [];
  const date = head.created.replace("T", " ").replace("Z", " UTC");
  const main = el("main", { class: "fit" }, result(head));
  for (const figure of head.figures) {
    const labels = labelsOf(figure.panels);
    const cards = figure.panels.map((panel) => panelCard(packed, panel, labels, lazy, (chart) => charts.push(chart)));
    append(
      main,
      el("section", { class: "figure", "aria-label": figure.title }, el("h2", {}, figure.title), figure.note ? el("p", { class: "muted" }, figure.note) : "", el("div", { class: "panels" }, ...cards)),
    );
  }
  append(main, el("p", { class: "muted" }, `Beside this page: ${head.files.join(", ")}.`));
  app.replaceChildren(pageHeader(head.title, `Bristle ${head.version}, ${date}`, () => showShortcuts(shortcuts)), main);
  addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.altKey || e.metaKey || (e.target as HTMLElement).closest("dialog")) return;
    if (e.key === "t") toggleTheme();
    if (e.key === "?") showShortcuts(shortcuts);
  });
  // On paper everything is drawn, as wide as the paper is.
  addEventListener("beforeprint", () => {
    document.documentElement.classList.add("paper");
    lazy.makeAll();
    for (const chart of charts) chart.redraw();
  });
  addEventListener("afterprint", () => document.documentElement.classList.remove("paper"));
}

/// Parameters, warnings, and what else is a number.
function result(head: FitHead): HTMLElement {
  const { result: r } = head;
  const about = head.about ? ` · ${head.about}` : "";
  return el(
    "section",
    { class: "card result", "aria-label": "Result" },
    el("p", { class: "muted" }, `${head.data}${about} · ${r.points} points, rms of the residuals ${withUnit(r.rms, head.rms_unit, 5)} · ${r.starts_at_best} of ${r.starts} starts end at this fit`),
    estimates(head),
    r.warnings.length > 0 && el("ul", { class: "warnings trouble", "aria-label": "Warnings" }, ...r.warnings.map((text) => el("li", {}, text))),
    fixed(r.fixed),
    correlations(head),
    r.comparison && comparison(r.comparison),
  );
}

function table(label: string, heads: string[], rows: HTMLElement[]): HTMLElement {
  return el(
    "div",
    { class: "scroll-x", tabindex: 0, role: "region", "aria-label": label },
    el("table", {}, el("thead", {}, el("tr", {}, ...heads.map((h) => el("th", { scope: "col" }, h)))), el("tbody", {}, ...rows)),
  );
}

const number = (text: string) => el("td", { class: "number" }, text);

/// So many digits that the last one is a tenth of the error.
function digitsOf(value: number, sd: number | null): number {
  if (sd === null || !(sd > 0) || value === 0) return 6;
  return Math.min(12, Math.max(2, Math.floor(Math.log10(Math.abs(value))) - Math.floor(Math.log10(sd)) + 2));
}

function estimates(head: FitHead): HTMLElement {
  const resampled = head.parameters.some((p) => p.bootstrap_sd !== undefined);
  const rows = head.parameters.map((p) => {
    const digits = digitsOf(p.value, p.sd);
    const known = p.identified && p.low !== null && p.high !== null;
    return el(
      "tr",
      {},
      el("td", {}, el("code", {}, p.name)),
      number(short(p.value, digits)),
      number(known ? short(p.sd, 2) : "–"),
      resampled && number(p.bootstrap_sd === undefined ? "–" : short(p.bootstrap_sd, 2)),
      known ? number(`${short(p.low, digits)} to ${short(p.high, digits)}`) : el("td", { class: "trouble" }, "not determined"),
      el("td", {}, p.unit === "1" ? "" : p.unit),
      el("td", {}, p.meaning),
    );
  });
  const heads = ["parameter", "value", "standard error", ...(resampled ? ["resampled"] : []), "95 % interval", "unit", "meaning"];
  return table("Parameters", heads, rows);
}

function fixed(values: Record<string, number>): HTMLElement | "" {
  const names = Object.entries(values);
  if (names.length === 0) return "";
  const rows = names.map(([name, value]) => el("tr", {}, el("td", {}, el("code", {}, name)), number(short(value, 8))));
  return el("details", { class: "list" }, el("summary", {}, `Fixed (${names.length})`), table("Fixed parameters", ["parameter", "value"], rows));
}

/// The matrix below its diagonal, darker where two parameters go together.
function correlations(head: FitHead): HTMLElement | "" {
  const names = head.parameters.map((p) => p.name);
  if (names.length < 2) return "";
  const rows = names.slice(1).map((name, i) => {
    const cells = names.slice(0, i + 1).map((other) => {
      const value = head.result.correlations[`${other},${name}`] ?? null;
      const share = value === null ? 0 : Math.round(40 * Math.abs(value));
      return el("td", { class: "number", style: `background: color-mix(in srgb, var(--accent) ${share}%, transparent)` }, value === null ? "–" : short(value, 3));
    });
    return el("tr", {}, el("th", { scope: "row" }, el("code", {}, name)), ...cells, ...names.slice(i + 1, -1).map(() => el("td", {})));
  });
  const matrix = table("Correlations", ["", ...names.slice(0, -1)], rows);
  matrix.classList.add("correlations");
  return el("div", {}, el("h2", {}, "Correlations"), matrix);
}

function comparison(laws: Compared[]): HTMLElement {
  const rows = laws.map((law) =>
    el("tr", {}, el("td", {}, el("code", {}, law.law)), number((law.aicc - laws[0].aicc).toFixed(2)), number((law.bic - laws[0].bic).toFixed(2)), number(short(law.held_out_rms, 5)), number(short(law.rms, 5))),
  );
  return el("div", {}, el("h2", {}, "Laws compared"), table("Laws compared", ["law", "AICc above the best", "BIC above the best", "held-out rms", "rms"], rows));
}
