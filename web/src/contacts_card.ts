import { el } from "./dom";
import { rounded, withUnit } from "./format";
import type { Player } from "./player";
import { type Recording, stateNames } from "./recording";
import type { Trail, View } from "./view";
import { Vector3 } from "three";

// What touches now, and which points leave a trail.

const most = 12; // contacts in the list

export class ContactsCard {
  readonly element: HTMLElement;
  private readonly now = el("div", { class: "now-touching" });
  readonly below = el("div", {}); // where details of a selected contact go
  private readonly trails = el("ul", { class: "trails" });
  private selected: number | undefined;
  private listed: string | null = null; // the contacts that the list has

  constructor(
    private readonly recording: Recording,
    private readonly player: Player,
    private readonly view: View | null,
    private readonly choose: (contact: number) => void,
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
      this.below,
      view && bodies.length > 0 && el("h4", {}, "Trails"),
      view && bodies.length > 0 && el("p", { class: "muted" }, "Click a body in the picture to choose a point of it, or take the origin of one:"),
      view && bodies.length > 0 && el("div", { class: "row" }, body, add),
      this.trails,
    );
    player.follow(this.element, () => this.refresh());
    this.refresh();
  }

  /// Marks the contact in the list.
  select(contact: number | undefined): void {
    this.selected = contact;
    this.listed = null;
    this.refresh();
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
            { class: contact.key === this.selected ? "current" : "" },
            el("td", {}, el("button", { type: "button", class: "link", onclick: () => this.choose(contact.key) }, this.recording.keyNames[contact.key])),
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
      const force = Math.max(contact.normalForce, this.recording.largeForce);
      friction.textContent = withUnit(rounded(Math.hypot(...contact.friction), force), "N");
      depth.textContent = withUnit(contact.depth, "m", 3);
      if (contact.couple !== undefined) couple.textContent = withUnit(contact.couple, "N m");
    });
  }
}
