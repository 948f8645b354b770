import { TimeWindow } from "./chart";
import { BodiesCard } from "./bodies_card";
import { ChartCard } from "./chart_card";
import { ContactsCard } from "./contacts_card";
import type { Packed, RunHead } from "./data";
import { Details } from "./details";
import { chooseSignal, showShortcuts } from "./dialogs";
import { append, download, el, fileName, icons, tool } from "./dom";
import { makeEnergyCard } from "./energy_card";
import { EventsCard } from "./events_card";
import { short, withUnit } from "./format";
import { pageHeader } from "./header";
import { type Keys, playKeys } from "./keys";
import { Player } from "./player";
import { Recording, type Signal } from "./recording";
import { toggleTheme } from "./theme";
import { makeTransport } from "./transport";
import { type Picked, View } from "./view";
import { Vector3 } from "three";

// The report of a run.

const shortcuts: [string, string][] = [
  ["space", "play or pause"],
  ["← →", "one sample back or on; with Shift ten"],
  [", .", "slower or faster"],
  ["Home End", "to the beginning or the end"],
  ["n p", "next or previous event"],
  ["f", "show all that moves"],
  ["a d w s", "turn the view left, right, up, down"],
  ["+ −", "zoom the view; in a chart, the chart"],
  ["c", "contact points on or off"],
  ["r", "force arrows on or off"],
  ["l", "numbers at the hardest contacts on or off"],
  ["g", "grid on or off"],
  ["x", "frames of the bodies on or off"],
  ["m", "centres of mass on or off"],
  ["b", "the other run on or off, where there is one"],
  ["o", "what touches, in place of what is seen of a robot"],
  ["v", "follow the selected body or all that moves, or stay"],
  ["t", "light or dark"],
  ["?", "this list"],
  ["Esc", "nothing selected"],
  ["drag", "in the picture: turn; right button: pan; wheel: zoom"],
  ["click", "in the picture: select a contact or a point of a body; in a chart: go to that time"],
  ["drag", "in a chart: zoom; with Shift: pan; double-click: all again"],
  ["Ctrl wheel", "in a chart: zoom"],
];

export function showRun(app: HTMLElement, packed: Packed<RunHead>): void {
  const recording = new Recording(packed);
  const { head } = recording;
  const player = new Player(recording.time);
  const window = new TimeWindow();
  Object.assign(globalThis, { bristle: { player, recording, window } }); // for the curious, and for tests

  // The picture and its controls.
  const stage = el("div", { class: "stage" });
  const main = el("main", { class: "run" });
  const side = el("div", { class: "side" });
  app.replaceChildren(pageHeader(head.title, head.source, () => showShortcuts(shortcuts)), main);
  const left = el("div", { class: "left" }, stage);
  append(main, left, side);

  let view: View | null = null;
  try {
    view = new View(stage, recording.film, player, recording);
  } catch (error) {
    console.warn(error);
    stage.replaceChildren(el("p", { class: "trouble" }, "The picture needs WebGL, which this browser does not offer. Charts and events work without."));
    stage.classList.add("empty");
  }
  Object.assign((globalThis as unknown as { bristle: object }).bristle, { view });

  const events = new EventsCard(recording, player, (event) => event.contact >= 0 && select({ contact: event.contact }));
  append(left, makeTransport(player, recording.events, (by) => events.jump(by)));
  if (view) left.append(viewOptions(view, head.centres !== undefined, recording.other?.name));
  if (view) stage.append(viewTools(view, head.title));

  // Charts.
  const charts = el("div", { class: "charts" });
  const addChart = (signals: Signal[], against: Signal | null = null) => {
    const card = new ChartCard(recording, player, window, signals, against, (gone) => gone.remove());
    charts.append(card.element);
    return card;
  };
  const plot = (ids: string[], against?: string) => {
    const find = (id: string) => recording.signal(id);
    const card = addChart(ids.map(find).filter((s) => s !== undefined), against ? (find(against) ?? null) : null);
    card.element.scrollIntoView({ behavior: "smooth", block: "nearest" });
  };
  const newChart = el(
    "button",
    { type: "button", class: "wide", onclick: () => chooseSignal("A new chart of", recording.signals, (s) => addChart([s])) },
    "+ New chart",
  );

  // What is selected, wherever that was done.
  const select = (picked: Picked, at?: [number, number]) => {
    view?.select(picked);
    contacts.select(picked.contact);
    bodies?.refresh();
    details.putInto(contacts.below);
    details.show(picked);
    if (view && at) details.putBeside(stage, at);
  };
  const follow = (body: number) => {
    view!.followBody(body);
    select({ body });
    setBox("v", true);
  };
  const contacts = new ContactsCard(recording, player, view, (contact) => select({ contact }));
  const bodies = view && head.bodies.length > 0 ? new BodiesCard(head, view, { select: (body) => select({ body }), follow }) : null;
  const details = new Details(recording, player, view, {
    plot,
    trail: (trail) => contacts.addTrail(trail),
    follow,
    hide: (body) => {
      view!.hide(body, true);
      select({});
    },
    close: () => select({}),
  });
  details.show({});
  details.putInto(contacts.below);
  if (view) view.onPick = select;

  append(
    side,
    summaryCard(head, recording.other?.head),
    charts,
    newChart,
    makeEnergyCard(recording, player, window),
    contacts.element,
    events.element,
    bodies?.element,
    detailsCard(head),
  );
  for (const signals of firstCharts(recording)) addChart(signals);
  const walker = longestWay(recording);
  if (walker >= 0) contacts.addTrail({ body: walker, point: new Vector3(), name: head.bodies[walker] });

  listenForKeys(player, view, events, () => select({}));
  player.changed();
}

/// Probes where there are any, one chart per unit; else the hardest pressed contact and
/// the body that goes furthest.
function firstCharts(recording: Recording): Signal[][] {
  const byUnit = new Map<string, Signal[]>();
  for (const signal of recording.signals.filter((s) => s.group === "Probes")) {
    byUnit.set(signal.unit, [...(byUnit.get(signal.unit) ?? []), signal]);
  }
  if (byUnit.size > 0) return [...byUnit.values()].slice(0, 4).map((list) => list.slice(0, 6));
  const charts: Signal[][] = [];
  const body = recording.head.bodies[Math.max(0, longestWay(recording))];
  const position = ["x", "y", "z"].map((k) => recording.signal(`bodies/${body}/position.${k}`)).filter((s) => s !== undefined);
  if (position.length > 0) charts.push(position);
  const forces = recording.signals.filter((s) => s.id.endsWith("/normal force"));
  if (forces.length > 0) charts.push(forces.slice(0, 4));
  return charts;
}

function longestWay(recording: Recording): number {
  const { film } = recording;
  const p = [0, 0, 0];
  const before = [0, 0, 0];
  let best = -1;
  let longest = 0;
  recording.head.bodies.forEach((_, body) => {
    let way = 0;
    const stride = Math.max(1, Math.floor(film.time.length / 300));
    for (let i = 0; i < film.time.length; i += stride) {
      film.position(body, i, p);
      if (i > 0) way += Math.hypot(p[0] - before[0], p[1] - before[1], p[2] - before[2]);
      before.splice(0, 3, ...p);
    }
    if (way > longest) {
      longest = way;
      best = body;
    }
  });
  return best;
}

function viewOptions(view: View, centres: boolean, other: string | undefined): HTMLElement {
  const check = (label: string, key: string, on: (checked: boolean) => void, checked = true) => {
    const box = el("input", {
      type: "checkbox",
      checked,
      "data-key": key,
      onchange: () => {
        on(box.checked);
        view.update();
      },
    });
    return el("label", { class: "check", title: `${label} (${key})` }, box, label);
  };
  const scale = el("input", {
    type: "range",
    min: -1.5,
    max: 1.5,
    step: 0.05,
    value: 0,
    "aria-label": "Length of the force arrows",
    oninput: () => {
      view.marks.scale = 10 ** Number(scale.value);
      view.redraw();
    },
  });
  const key = (name: string, label: string) => el("span", { class: "key" }, el("i", { class: `dot ${name}` }), label);
  return el(
    "div",
    { class: "view-options" },
    check("Contacts", "c", (on) => (view.marks.showPoints = on)),
    check("Forces", "r", (on) => (view.marks.showForces = on)),
    check("Values", "l", (on) => (view.labels.show = on)),
    check("Grid", "g", (on) => (view.showGrid = on)),
    check("Frames", "x", (on) => (view.showFrames = on), false),
    centres && check("Centres of mass", "m", (on) => (view.showCentres = on), false),
    other !== undefined && check(`See-through: ${other}`, "b", (on) => (view.showOther = on)),
    view.hasVisuals && check("What touches", "o", (on) => (view.showShapes = on), false),
    check("Follow", "v", (on) => view.follow(on), view.following),
    el("label", { class: "field" }, el("span", {}, "Arrows"), scale),
    el("span", { class: "keys-of-view" }, key("stick", "sticks"), key("slip", "slips"), key("normal", "normal force"), key("friction", "friction")),
  );
}

function viewTools(view: View, title: string): HTMLElement {
  const save = async () => {
    const picture = await view.image();
    if (picture) download(`${fileName(title)}.png`, picture);
  };
  return el(
    "div",
    { class: "over-stage" },
    tool(icons.fit, "Show all that moves", () => view.fit(), "f"),
    tool(icons.image, "Save the picture as PNG", () => void save()),
  );
}

/// What stands beside the numbers of this run.
function otherFacts(head: RunHead): HTMLElement {
  const { summary } = head;
  const residual = summary.ledger?.relative_residual;
  const words = [
    summary.simulated_s !== undefined && `${withUnit(summary.simulated_s, "s")} simulated`,
    summary.steps !== undefined && `${summary.steps.toLocaleString("en")} steps`,
    summary.touches !== undefined && `${summary.touches.toLocaleString("en")} touches`,
    residual !== undefined && `balance error ${short(100 * Math.abs(residual), 2)} %`,
  ].filter(Boolean);
  return el("p", { class: "other" }, el("b", {}, `With ${head.name || head.title}`), `, see-through in the picture and dashed in charts: ${words.join(", ")}.`);
}

function summaryCard(head: RunHead, other: RunHead | undefined): HTMLElement {
  const { summary } = head;
  const fact = (label: string, value: string, title = "") => el("div", { class: "fact", title }, el("dt", {}, label), el("dd", {}, value));
  const ended = head.complete ? "" : "The run was not finished when this was written: it shows what was recorded so far.";
  const trouble = [ended, head.status && head.status !== "finished" ? `The run ended early: ${summary.trouble ?? head.status}.` : "", head.note, ...(summary.warnings ?? [])].filter(Boolean);
  const facts = el("dl", { class: "facts" });
  const residual = summary.ledger?.relative_residual;
  append(
    facts,
    summary.simulated_s !== undefined && fact("simulated", withUnit(summary.simulated_s, "s")),
    summary.simulated_s === undefined && fact("samples", head.samples.recorded.toLocaleString("en")),
    summary.realtime_factor !== undefined && fact("pace", `${short(summary.realtime_factor, 3)} × real time`),
    summary.steps !== undefined && fact("steps", summary.steps.toLocaleString("en")),
    summary.touches !== undefined && fact("touches", summary.touches.toLocaleString("en")),
    residual !== undefined && fact("balance error", `${short(100 * Math.abs(residual), 2)} %`, "Of the energy scale: how well the energy ledger of the run balances"),
  );
  return el(
    "section",
    { class: "card", id: "summary" },
    head.about ? el("p", { class: "about" }, head.about.trim()) : "",
    facts,
    other ? otherFacts(other) : "",
    ...trouble.map((text) => el("p", { class: "trouble", role: "alert" }, text)),
    head.samples.shown < head.samples.recorded
      ? el(
          "p",
          { class: "muted" },
          `This page shows ${head.samples.shown.toLocaleString("en")} of ${head.samples.recorded.toLocaleString("en")} samples, the peaks of contact forces among them. All are in the recording.`,
        )
      : "",
  );
}

function detailsCard(head: RunHead): HTMLElement {
  return el(
    "section",
    { class: "card" },
    el(
      "details",
      {},
      el("summary", {}, "The scene file, and what ran it"),
      el("p", { class: "muted" }, `Bristle ${head.version}, ${head.created}; ${head.summary.clock ?? ""} clock, ${head.summary.evaluations ?? "–"} evaluations.`),
      el("pre", { tabindex: 0, role: "region", "aria-label": "Scene file" }, head.scene),
    ),
  );
}

const boxOf = (key: string) => document.querySelector<HTMLInputElement>(`input[data-key="${key}"]`);

/// Shows a box as checked whose work is done already.
function setBox(key: string, on: boolean): void {
  const box = boxOf(key);
  if (box) box.checked = on;
}

function listenForKeys(player: Player, view: View | null, events: EventsCard, deselect: () => void): void {
  const flip = (key: string) => boxOf(key)?.click();
  const keys: Keys = {
    ...playKeys(player, view),
    n: () => events.jump(1),
    p: () => events.jump(-1),
    c: () => flip("c"),
    r: () => flip("r"),
    l: () => flip("l"),
    g: () => flip("g"),
    x: () => flip("x"),
    m: () => flip("m"),
    o: () => flip("o"),
    b: () => flip("b"),
    Escape: deselect,
    v: () => flip("v"),
    t: () => toggleTheme(),
    "?": () => showShortcuts(shortcuts),
  };
  addEventListener("keydown", (e) => {
    const target = e.target as HTMLElement;
    if (e.ctrlKey || e.altKey || e.metaKey || document.querySelector("dialog[open]")) return;
    if (target.closest("input:not([type=range]):not([type=checkbox]), select, textarea")) return;
    if (target.matches("input[type=range]:not(.scrub)") && /^(Arrow|Home|End)/.test(e.key)) return;
    if (e.key === " " && target.closest("button, summary, input")) return;
    if (target.closest(".scroll, .scroll-x, pre") && e.key.startsWith("Arrow")) return;
    if (!(e.key in keys)) return;
    e.preventDefault();
    keys[e.key](e);
  });
}
