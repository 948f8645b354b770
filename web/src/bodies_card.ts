import { el } from "./dom";
import type { FilmHead } from "./data";
import type { View } from "./view";

// The bodies, each below the one that it is joined to: to hide them and to follow them.

const openUpTo = 12; // bodies, whose list is open from the start

export class BodiesCard {
  readonly element: HTMLElement;
  private readonly boxes: HTMLInputElement[] = [];
  private readonly rows: HTMLElement[] = [];

  constructor(
    head: FilmHead,
    private readonly view: View,
    private readonly actions: { select: (body: number) => void; follow: (body: number) => void },
  ) {
    const { bodies } = head;
    const place = el("div", {});
    const list = el(
      "details",
      {
        open: bodies.length <= openUpTo,
        ontoggle: () => list.open && place.childElementCount === 0 && this.fill(place, head),
      },
      el("summary", {}, `${bodies.length} ${bodies.length === 1 ? "body" : "bodies"}: hide or follow`),
      place,
    );
    this.element = el(
      "section",
      { class: "card", id: "bodies" },
      el("header", {}, el("h3", {}, "Bodies"), el("button", { type: "button", class: "small", onclick: () => this.showAll() }, "Show all")),
      list,
    );
    if (list.open) this.fill(place, head);
  }

  /// Says what the picture has: which bodies are hidden, which one is selected.
  refresh(): void {
    this.boxes.forEach((box, body) => (box.checked = !this.view.hidden.has(body)));
    this.rows.forEach((row, body) => row.classList.toggle("current", body === this.view.selected.body));
  }

  private showAll(): void {
    for (const body of [...this.view.hidden]) this.view.hide(body, false);
    this.refresh();
  }

  private fill(place: HTMLElement, head: FilmHead): void {
    const below = new Map<number, number[]>();
    head.bodies.forEach((_, body) => {
      const parent = head.parents?.[body] ?? -1;
      below.set(parent, [...(below.get(parent) ?? []), body]);
    });
    const tree = (parent: number): HTMLElement => el("ul", { class: "tree" }, ...(below.get(parent) ?? []).map((body) => el("li", {}, this.row(body, head.bodies[body]), below.has(body) && tree(body))));
    const scroll = el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Bodies" }, tree(-1));
    place.append(scroll);
    this.refresh();
  }

  private row(body: number, name: string): HTMLElement {
    const box = el("input", { type: "checkbox", checked: true, "aria-label": `Show ${name}`, onchange: () => this.view.hide(body, !box.checked) });
    const row = el(
      "div",
      { class: "body" },
      box,
      el("button", { type: "button", class: "link", onclick: () => this.actions.select(body) }, name),
      el("button", { type: "button", class: "small", "aria-label": `Follow ${name}`, onclick: () => this.actions.follow(body) }, "Follow"),
    );
    this.boxes[body] = box;
    this.rows[body] = row;
    return row;
  }
}
