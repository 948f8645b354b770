import { el } from "./dom";
import { withUnit } from "./format";
import type { Player } from "./player";
import { type Recording, stateNames } from "./recording";
import type { Picked, Trail, View } from "./view";
import { Vector3 } from "three";

// What touches now, what is selected, and which points leave a trail.

const most = 12; // contacts in the list

export class ContactsCard {
  readonly element: HTMLElement;
  private readonly now = el("div", { class: "now-touching" });
  private readonly details = el("div", { class: "details", "aria-live": "polite" });
  private readonly trails = el("ul", { class: "trails" });
  private selected: Picked = {};
  private listed: string | null = null; // the contacts that the list has

  constructor(
    private readonly recording: Recording,
    private readonly player: Player,
    private readonly view: View | null,
    private readonly plot: (ids: string[], against?: string) => void,
  ) {
    const bodies = recording.head.bodies;
    const body = el("select", { "aria-label": "Body" }, ...bodies.map((name, i) => el("option", { value: i }, name)));
    const add = el(
      "button",
      {
        type: "button",
        class: "small",
        onclick: () => this.addTrail({ body: Number(body.value), point: new Vector3(), name: bodies[Number(body.value)] }),
      },
      "Draw its trail",
    );
    this.element = el(
      "section",
      { class: "card", id: "contacts" },
      el("header", {}, el("h3", {}, "Contacts now")),
      this.now,
      this.details,
      view && bodies.length > 0 && el("h4", {}, "Trails"),
      view && bodies.length > 0 && el("p", { class: "muted" }, "Click a body in the picture to choose a point of it, or take the origin of one:"),
      view && bodies.length > 0 && el("div", { class: "row" }, body, add),
      this.trails,
    );
    player.follow(this.element, () => this.refresh());
    this.refresh();
  }

  select(picked: Picked): void {
    this.selected = picked;
    this.view?.select(picked);
    this.listed = null;
    this.refresh();
    this.showDetails();
  }

  addTrail(trail: Trail): void {
    if (!this.view) return;
    this.view.addTrail(trail);
    const item = el(
      "li",
      {},
      trail.name,
      el(
        "button",
        {
          type: "button",
          class: "small",
          "aria-label": `Remove the trail of ${trail.name}`,
          onclick: () => {
            this.view?.removeTrail(trail);
            item.remove();
          },
        },
        "Remove",
      ),
    );
    this.trails.append(item);
  }

  private refresh(): void {
    const contacts = this.recording.contactsAt(this.player.index).filter((c) => c.state !== 0 || c.normalForce > 0);
    // The list is made anew only when other contacts touch; numbers are put in place.
    const listed = contacts.map((c) => c.key).join();
    if (listed !== this.listed) {
      this.listed = listed;
      this.now.replaceChildren();
      if (contacts.length === 0) this.now.append(el("p", { class: "muted" }, "Nothing touches at this time."));
      else {
        const rows = contacts.slice(0, most).map((contact) =>
          el(
            "tr",
            { class: contact.key === this.selected.contact ? "current" : "" },
            el("td", {}, el("button", { type: "button", class: "link", onclick: () => this.select({ contact: contact.key }) }, this.recording.keyNames[contact.key])),
            el("td", {}, el("span", { class: "badge" })),
            ...Array.from({ length: contacts[0].couple === undefined ? 3 : 4 }, () => el("td", { class: "number" })),
          ),
        );
        const heads = ["contact", "state", "normal force", "friction", "depth"];
        if (contacts[0].couple !== undefined) heads.push("couple");
        this.now.append(
          el(
            "div",
            { class: "scroll-x", tabindex: 0, role: "region", "aria-label": "Contacts now" },
            el("table", {}, el("thead", {}, el("tr", {}, ...heads.map((t) => el("th", { scope: "col" }, t)))), el("tbody", {}, ...rows)),
          ),
        );
        if (contacts.length > most) this.now.append(el("p", { class: "muted" }, `and ${contacts.length - most} more`));
      }
    }
    const rows = this.now.querySelectorAll("tbody tr");
    contacts.slice(0, most).forEach((contact, i) => {
      const [, state, normal, friction, depth, couple] = rows[i].children;
      const name = stateNames[contact.state];
      const badge = state.firstElementChild!;
      badge.textContent = name;
      badge.className = `badge ${name}`;
      normal.textContent = withUnit(contact.normalForce, "N");
      friction.textContent = withUnit(Math.hypot(...contact.friction), "N");
      depth.textContent = withUnit(contact.depth, "m", 3);
      if (contact.couple !== undefined) couple.textContent = withUnit(contact.couple, "N m");
    });
  }

  private showDetails(): void {
    const { contact, body, point } = this.selected;
    this.details.replaceChildren();
    const button = (text: string, onclick: () => void) => el("button", { type: "button", class: "small", onclick }, text);
    if (contact !== undefined) {
      const laws = this.recording.laws(contact);
      const id = (what: string) => `contacts/${contact}/${what}`;
      this.details.append(
        el("h4", {}, `Selected: ${this.recording.keyNames[contact]}`),
        el(
          "div",
          { class: "row" },
          button("Plot forces", () => this.plot([id("normal force"), id("friction force")])),
          button("Force–depth loop", () => this.plot([id("normal force")], id("depth"))),
          button("Slip and state", () => this.plot([id("slip speed"), id("state (0 open, 1 stick, 2 slip)")])),
        ),
      );
      for (const law of laws ? [laws.normal, laws.friction] : []) {
        const parameters = law.parameters.map((p) => `${p.name} ${withUnit(p.value, p.unit === "flag" ? "" : p.unit)}`).join(", ");
        this.details.append(el("p", { class: "law" }, el("b", {}, law.name), parameters ? `: ${parameters}` : ""));
      }
    } else if (body !== undefined) {
      const name = this.recording.head.bodies[body];
      const id = (what: string) => `bodies/${name}/${what}`;
      this.details.append(
        el("h4", {}, `Selected: ${name}`),
        el(
          "div",
          { class: "row" },
          point ? button("Draw the trail of this point", () => this.addTrail({ body, point, name: `${name}, a point of it` })) : "",
          button("Plot position", () => this.plot([id("position.x"), id("position.y"), id("position.z")])),
          button("Plot speed", () => this.plot([id("velocity.size")])),
        ),
      );
    }
  }
}
