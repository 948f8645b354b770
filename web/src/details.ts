import type { Vector3 } from "three";
import { el, icons, tool } from "./dom";
import { rounded, withUnit } from "./format";
import type { Player } from "./player";
import { type Recording, stateNames } from "./recording";
import type { Picked, Trail, View } from "./view";

// What is selected, with its numbers now: beside the place of the click in the picture,
// or in the list of contacts.

export interface DetailsActions {
  plot: (ids: string[], against?: string) => void;
  trail: (trail: Trail) => void;
  follow: (body: number) => void;
  hide: (body: number) => void;
  close: () => void;
}

export class Details {
  readonly element = el("div", { class: "details", role: "group", "aria-label": "Selected" });
  private selected: Picked = {};
  private numbers: (() => void) | null = null; // puts them in place

  constructor(
    private readonly recording: Recording,
    private readonly player: Player,
    private readonly view: View | null,
    private readonly actions: DetailsActions,
  ) {
    player.follow(this.element, () => this.numbers?.());
  }

  show(picked: Picked): void {
    this.selected = picked;
    this.numbers = null;
    this.element.replaceChildren();
    const { contact, body, point } = picked;
    this.element.hidden = contact === undefined && body === undefined;
    if (contact !== undefined) this.showContact(contact);
    else if (body !== undefined) this.showBody(body, point);
    (this.numbers as (() => void) | null)?.();
  }

  /// Into the picture, beside the click, or into another place.
  putBeside(stage: HTMLElement, [x, y]: [number, number]): void {
    stage.append(this.element);
    this.element.classList.add("beside");
    const { clientWidth: width, clientHeight: height } = stage;
    const { offsetWidth: wide, offsetHeight: tall } = this.element;
    const gap = 18;
    const left = x + gap + wide < width ? x + gap : x - gap - wide;
    const top = y - tall / 2;
    this.element.style.left = `${Math.max(8, Math.min(left, width - wide - 8)).toFixed(0)}px`;
    this.element.style.top = `${Math.max(8, Math.min(top, height - tall - 8)).toFixed(0)}px`;
  }
  putInto(place: HTMLElement): void {
    this.element.classList.remove("beside");
    this.element.removeAttribute("style");
    place.append(this.element);
  }

  private head(name: string): HTMLElement {
    return el("header", {}, el("h4", { "aria-live": "polite" }, `Selected: ${name}`), tool(icons.close, "Nothing selected", () => this.actions.close(), "Esc"));
  }

  private showContact(contact: number): void {
    const { plot } = this.actions;
    const id = (what: string) => `contacts/${contact}/${what}`;
    const state = el("span", { class: "badge" });
    const labels = ["normal force", "friction", "depth", "slip speed"];
    const values = labels.map(() => el("dd", { class: "number" }));
    this.element.append(
      this.head(this.recording.keyNames[contact]),
      el("dl", { class: "facts" }, el("div", { class: "fact" }, el("dt", {}, "state"), el("dd", {}, state)), ...labels.map((label, i) => el("div", { class: "fact" }, el("dt", {}, label), values[i]))),
      el(
        "div",
        { class: "row" },
        small("Plot forces", () => plot([id("normal force"), id("friction force")])),
        small("Force–depth loop", () => plot([id("normal force")], id("depth"))),
        small("Slip and state", () => plot([id("slip speed"), id("state (0 open, 1 stick, 2 slip)")])),
      ),
    );
    const laws = this.recording.laws(contact);
    for (const law of laws ? [laws.normal, laws.friction] : []) {
      const parameters = law.parameters.map((p) => `${p.name.replaceAll("_", " ")} ${withUnit(p.value, p.unit === "flag" ? "" : p.unit)}`).join(", ");
      this.element.append(el("p", { class: "law" }, el("b", {}, law.name), parameters ? `: ${parameters}` : ""));
    }
    const large = this.recording.largeForce;
    this.numbers = () => {
      const now = this.recording.contactsAt(this.player.index).find((c) => c.key === contact);
      const name = stateNames[now?.state ?? 0];
      state.textContent = name;
      state.className = `badge ${name}`;
      const friction = now && rounded(Math.hypot(...now.friction), Math.max(large, now.normalForce));
      const texts = [withUnit(now?.normalForce ?? 0, "N"), withUnit(friction ?? 0, "N"), withUnit(now?.depth, "m", 3), withUnit(now && rounded(now.slipSpeed, 1e-3), "m/s", 3)];
      texts.forEach((text, i) => (values[i].textContent = text));
    };
  }

  private showBody(body: number, point: Vector3 | undefined): void {
    const name = this.recording.head.bodies[body];
    const { plot, trail, follow, hide } = this.actions;
    const id = (what: string) => `bodies/${name}/${what}`;
    const speed = el("dd", { class: "number" });
    const place = el("dd", { class: "number" });
    this.element.append(
      this.head(name),
      el("dl", { class: "facts" }, el("div", { class: "fact" }, el("dt", {}, "position"), place), el("div", { class: "fact" }, el("dt", {}, "speed"), speed)),
      el(
        "div",
        { class: "row" },
        this.view && small("Follow", () => follow(body)),
        this.view && small("Hide", () => hide(body)),
        point && small("Draw the trail of this point", () => trail({ body, point, name: `${name}, a point of it` })),
        small("Plot position", () => plot([id("position.x"), id("position.y"), id("position.z")])),
        small("Plot speed", () => plot([id("velocity.size")])),
      ),
    );
    const at = (what: string) => this.recording.signal(id(what))?.values()[this.player.index];
    this.numbers = () => {
      const position = ["x", "y", "z"].map((k) => at(`position.${k}`) ?? NaN);
      const scale = Math.hypot(...position);
      place.textContent = `${position.map((x) => withUnit(rounded(x, scale), "", 3)).join(", ")} m`;
      speed.textContent = withUnit(rounded(at("velocity.size") ?? NaN, 1e-3), "m/s", 3);
    };
  }

  get shown(): Picked {
    return this.selected;
  }
}

const small = (text: string, onclick: () => void) => el("button", { type: "button", class: "small", onclick }, text);
