import { Vector3 } from "three";
import type { Chart } from "./chart";
import { checksTable, held, tally } from "./checks_table";
import type { FilmHead, Packed } from "./data";
import { showShortcuts } from "./dialogs";
import { append, el } from "./dom";
import { Film } from "./film";
import { FilmCard } from "./film_card";
import { short } from "./format";
import { pageHeader } from "./header";
import { Lazy } from "./lazy";
import { labelsOf, panelCard } from "./panel";
import { Player } from "./player";
import type { PanelHead, ParameterHead, StudiesHead, StudyHead, Value } from "./studies_data";
import { toggleTheme } from "./theme";

// The report of studies: what was found, paper by paper, with the figures of each.

const shortcuts: [string, string][] = [
  ["t", "light or dark"],
  ["?", "this list"],
  ["Tab", "to the next link, chart or film; the keys below act on it"],
  ["space", "in a film: play or pause"],
  ["← →", "in a film: one sample back or on; with Shift ten"],
  [", .", "in a film: slower or faster"],
  ["Home End", "in a film: to the beginning or the end"],
  ["a d w s", "in a film: turn the view left, right, up, down"],
  ["f", "in a film: show the whole scene"],
  ["+ −", "in a film or a chart: zoom"],
  ["← → ↑ ↓", "in a chart: pan"],
  ["0", "in a chart: all again"],
  ["drag", "in a film: turn; right button: pan; wheel: zoom"],
  ["click", "in a chart over time beside a film: go to that time"],
  ["drag", "in a chart: zoom; with Shift: pan; double-click: all again"],
  ["Ctrl wheel", "in a chart: zoom"],
];

export function showStudies(app: HTMLElement, packed: Packed<StudiesHead>): void {
  const { head } = packed;
  const page = new StudiesPage(packed);
  const date = head.created.replace("T", " ").replace("Z", " UTC");
  const main = el("main", { class: "studies" }, contents(head), el("div", { class: "papers" }, overview(head), ...page.papers()));
  app.replaceChildren(pageHeader(head.title, `Bristle ${head.version}, ${date}`, () => showShortcuts(shortcuts)), main);
  Object.assign(globalThis, { bristle: { page } }); // for the curious, and for tests

  addEventListener("keydown", (e) => {
    const busy = (e.target as HTMLElement).closest("input:not([type=range]):not([type=checkbox]), select, dialog");
    if (e.ctrlKey || e.altKey || e.metaKey || busy) return;
    if (e.key === "t") toggleTheme();
    if (e.key === "?") showShortcuts(shortcuts);
  });
  const go = () => location.hash && stayAt(placeOf(location.hash), main);
  addEventListener("hashchange", go);
  go();
}

/// What an address points to; nothing where it is nonsense.
function placeOf(hash: string): HTMLElement | null {
  try {
    return document.getElementById(decodeURIComponent(hash.slice(1)));
  } catch {
    return null;
  }
}

/// Scrolls to a place, and keeps to it while charts before it are drawn and grow, until the
/// person moves on.
function stayAt(place: HTMLElement | null, page: HTMLElement): void {
  if (!place) return;
  place.scrollIntoView();
  const watcher = new ResizeObserver(() => place.scrollIntoView());
  watcher.observe(page);
  const leave = () => {
    watcher.disconnect();
    for (const kind of moves) removeEventListener(kind, leave);
  };
  const moves = ["wheel", "touchstart", "pointerdown", "keydown", "hashchange"];
  for (const kind of moves) addEventListener(kind, leave);
  setTimeout(leave, 1500);
}

const ofPaper = (head: StudiesHead, paper: string) => head.studies.filter((s) => s.paper === paper);
const sign = (good: boolean) => el("span", { class: good ? "holds" : "fails", "aria-hidden": "true" }, good ? "✓" : "✗");
const allHold = (studies: StudyHead[]) => studies.every((s) => !s.trouble && s.checks.every((c) => c.pass));

function contents(head: StudiesHead): HTMLElement {
  const list = head.papers.map((paper) =>
    el(
      "li",
      {},
      el("a", { href: `#${paper.name}` }, shortCitation(paper.citation)),
      el("ul", {}, ...ofPaper(head, paper.name).map((s) => el("li", {}, sign(allHold([s])), " ", el("a", { href: `#${s.name}`, title: s.title }, s.name.slice(s.name.indexOf(".") + 1))))),
    ),
  );
  const details = el("details", {}, el("summary", {}, "Contents"), el("ul", {}, el("li", {}, el("a", { href: "#overview" }, "Overview")), ...list));
  details.open = innerWidth > 900;
  details.addEventListener("click", (e) => {
    if (innerWidth <= 900 && (e.target as HTMLElement).closest("a")) details.open = false;
  });
  return el("nav", { class: "contents", "aria-label": "Contents" }, details);
}

/// "Azad & Featherstone 2010", out of what goes on with the title.
const shortCitation = (citation: string) => citation.slice(0, citation.search(/\d{4}/) + 4);

function overview(head: StudiesHead): HTMLElement {
  const { studies, papers } = head;
  const checks = studies.flatMap((s) => s.checks);
  const failing = studies.filter((s) => s.checks.some((c) => !c.pass));
  const troubled = studies.filter((s) => s.trouble);
  const good = allHold(studies);
  const many = studies.length > 1;
  const count = (n: number, what: string) => `${n} ${what}${n === 1 ? "" : "s"}`;
  const verdict =
    checks.length === 0
      ? "No check applies."
      : held(checks) === checks.length
        ? checks.length === 1
          ? "The one check holds."
          : `All ${checks.length} checks hold.`
        : `${held(checks)} of ${checks.length} checks hold, ${checks.length - held(checks)} ${checks.length - held(checks) === 1 ? "does" : "do"} not.`;
  const done = many
    ? `The results of ${count(papers.length, "paper")}, computed anew in ${count(studies.length, "study").replace("studys", "studies")}.`
    : `${studies[0]?.name}: ${studies[0]?.of_paper} of ${shortCitation(papers[0]?.citation ?? "")}.`;
  const what =
    "A check compares a number that was computed here with what the paper says, with a closed form, or with an independent " +
    "solution of the same equations, and names which. It holds where the difference is within the tolerance.";
  const links = (list: StudyHead[]) => list.flatMap((s, i) => [i > 0 ? ", " : "", el("a", { href: `#${s.name}` }, s.name)]);
  const rows = papers.map((paper) => {
    const own = ofPaper(head, paper.name);
    const all = own.flatMap((s) => s.checks);
    return el(
      "tr",
      {},
      el("td", {}, el("a", { href: `#${paper.name}` }, shortCitation(paper.citation))),
      el("td", { class: "number" }, String(own.length)),
      el("td", { class: "number" }, `${held(all)} of ${all.length}`),
      el("td", {}, sign(allHold(own)), allHold(own) ? " all hold" : " see below"),
    );
  });
  return el(
    "section",
    { class: "card overview", id: "overview", "aria-label": "Overview" },
    el("p", { class: `grand ${checks.length === 0 ? "" : good ? "holds" : "fails"}`, role: "status" }, verdict),
    el("p", {}, done),
    failing.length > 0 && el("p", { class: "trouble" }, "Checks fail in ", ...links(failing), "."),
    troubled.length > 0 && el("p", { class: "trouble" }, "Could not go on to its end: ", ...links(troubled), "."),
    !many && studies[0] && !studies[0].as_published && el("p", {}, "Parameters differ from the paper's: checks that hold only for its numbers are left out, those that hold always stay."),
    el("p", { class: "muted" }, what),
    many &&
      el(
        "table",
        { class: "summary", "aria-label": "Papers" },
        el("thead", {}, el("tr", {}, ...["paper", "studies", "checks that hold", "verdict"].map((t) => el("th", { scope: "col" }, t)))),
        el("tbody", {}, ...rows),
      ),
  );
}

class StudiesPage {
  readonly charts: Chart[] = [];
  readonly films: { card: FilmCard; player: Player }[] = [];
  private readonly lazy = new Lazy();

  constructor(private readonly packed: Packed<StudiesHead>) {
    // On paper everything is drawn, as wide as the paper is.
    addEventListener("beforeprint", () => {
      document.documentElement.classList.add("paper");
      this.lazy.makeAll();
      for (const chart of this.charts) chart.redraw();
    });
    addEventListener("afterprint", () => document.documentElement.classList.remove("paper"));
  }

  papers(): HTMLElement[] {
    const { head } = this.packed;
    return head.papers.map((paper) => {
      const studies = ofPaper(head, paper.name);
      const section = el("section", { class: "paper", id: paper.name, "aria-labelledby": `${paper.name}-title` });
      append(
        section,
        el("h2", { id: `${paper.name}-title` }, paper.citation),
        checksTable(studies, shortCitation(paper.citation)),
        ...studies.map((study) => this.study(study)),
      );
      return section;
    });
  }

  private study(study: StudyHead): HTMLElement {
    const changed = study.parameters.filter((p) => p.changed);
    const section = el("section", { class: "study", id: study.name, "aria-labelledby": `${study.name}-title` });
    append(
      section,
      el("h3", { id: `${study.name}-title` }, study.title),
      el("p", { class: "muted" }, `${study.name} · ${study.of_paper} of the paper · ${tally(study.checks)}`),
      el("p", { class: "about" }, study.about),
      study.trouble ? el("p", { class: "trouble", role: "alert" }, `It could not go on to its end: ${study.trouble}.`) : "",
      changed.length > 0 && el("p", { class: "changes" }, el("b", {}, "Changed: "), changed.map(change).join(", ")),
    );
    study.figures.forEach((figure, i) => {
      const labels = labelsOf(figure.panels);
      const film = study.films[i] ? this.film(study.films[i]) : null;
      const card = (panel: PanelHead) => panelCard(this.packed, panel, labels, this.lazy, (chart) => this.charts.push(chart), film?.player);
      append(
        section,
        el("h4", {}, figure.title),
        figure.note ? el("p", { class: "muted" }, figure.note) : "",
        film?.card.element,
        el("div", { class: "panels" }, ...figure.panels.map(card)),
      );
    });
    const files = study.figures.map((_, i) => `${study.name}${i > 0 ? `-${i + 1}` : ""}.csv`);
    append(section, resultsTable(study), parametersTable(study));
    if (files.length > 0) append(section, el("p", { class: "muted" }, `Every point of the figures: ${files.join(", ")}, beside this page.`));
    return section;
  }

  private film(head: FilmHead & { title: string }): { card: FilmCard; player: Player } {
    const film = new Film(this.packed as unknown as Packed<FilmHead>, head);
    const player = new Player(film.time);
    // The outermost point that can touch something draws the trail, else the body's middle.
    const last = head.shapes.find((s) => s.body === head.bodies.length - 1);
    const card = new FilmCard(head.title, film, player, new Vector3(...(last?.position ?? [0, 0, 0])));
    this.lazy.whenNear(card.element, () => card.show());
    const made = { card, player };
    this.films.push(made);
    return made;
  }
}

function valueOf(value: Value, unit = ""): string {
  if (value === null || value === "") return "–";
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "number" ? `${short(value, 8)}${unit ? ` ${unit}` : ""}` : value;
}

/// "restitution 0.3, not 0.5"
function change(p: ParameterHead): string {
  const before = p.preset === null ? "" : `, not ${valueOf(p.preset, p.unit)}`;
  return `${p.name} ${valueOf(p.value, p.unit)}${before}`;
}

function resultsTable(study: StudyHead): HTMLElement {
  const rows = study.results.map((r) =>
    el("tr", {}, el("td", {}, el("code", {}, r.name)), el("td", { class: "number" }, short(r.value, 8)), el("td", {}, r.meaning)),
  );
  return details(`Results (${rows.length})`, ["name", "value", "meaning"], rows, `Results of ${study.name}`);
}

function parametersTable(study: StudyHead): HTMLElement {
  const rows = study.parameters.map((p) => {
    const preset = p.changed ? (p.preset === null ? "left open" : valueOf(p.preset)) : "";
    const whose = p.changed ? `${p.of_clock ? "preset" : "the paper's"}: ${preset}` : "";
    return el(
      "tr",
      { class: p.changed ? "current" : "" },
      el("td", {}, el("code", {}, p.name), p.symbol ? ` ${p.symbol}` : ""),
      el("td", { class: "number" }, valueOf(p.value)),
      el("td", {}, p.unit),
      el("td", {}, p.meaning, whose ? el("b", {}, `${p.meaning ? "; " : ""}${whose}`) : ""),
    );
  });
  const changed = study.parameters.filter((p) => p.changed).length;
  const text = `Parameters (${rows.length}${changed > 0 ? `, ${changed} changed` : ""})`;
  return details(text, ["name", "value", "unit", "meaning"], rows, `Parameters of ${study.name}`);
}

function details(text: string, heads: string[], rows: HTMLElement[], label: string): HTMLElement {
  return el(
    "details",
    { class: "list" },
    el("summary", {}, text),
    el(
      "div",
      { class: "scroll-x", tabindex: 0, role: "region", "aria-label": label },
      el("table", {}, el("thead", {}, el("tr", {}, ...heads.map((h) => el("th", { scope: "col" }, h)))), el("tbody", {}, ...rows)),
    ),
  );
}
