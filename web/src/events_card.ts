import { el } from "./dom";
import { timeText, withUnit } from "./format";
import { indexAt, type Player } from "./player";
import type { Recording, RunEvent } from "./recording";

// What happened when; a click puts the time there.

const meaning: Record<string, string> = {
  touch: "two bodies begin to touch",
  "lift-off": "they part",
  stick: "slipping ends, the contact holds",
  slip: "the contact lets go and slides",
  clamp: "the normal force reaches zero before they part, or begins again",
  friction: "the friction law switches",
};

const atOnce = 200;

export class EventsCard {
  readonly element: HTMLElement;
  private readonly body = el("tbody", {});
  private readonly more: HTMLButtonElement;
  private readonly kinds: Set<string>;
  private shown = atOnce;
  private list: RunEvent[] = [];
  private listTimes: number[] = []; // of those that are shown
  private marked: Element | null = null;

  constructor(
    private readonly recording: Recording,
    private readonly player: Player,
    private readonly select: (event: RunEvent) => void,
  ) {
    const { events } = recording;
    const kinds = [...new Set(events.map((e) => e.kind))];
    this.kinds = new Set(kinds);
    const filters = kinds.map((kind) => {
      const count = events.filter((e) => e.kind === kind).length;
      const box = el("input", {
        type: "checkbox",
        checked: true,
        onchange: () => {
          if (box.checked) this.kinds.add(kind);
          else this.kinds.delete(kind);
          this.fill();
        },
      });
      return el("label", { class: "check", title: meaning[kind] ?? "" }, box, `${kind} (${count})`);
    });
    this.more = el("button", { type: "button", class: "small", onclick: () => ((this.shown += atOnce), this.fill()) }, "Show more");
    const total = recording.head.events.count;
    const about =
      total === 0
        ? "Nothing was touched, and nothing slipped."
        : total > events.length
          ? `The first ${events.length} of ${total} events; all are in the recording.`
          : "Click one to go there.";
    this.element = el(
      "section",
      { class: "card", id: "events" },
      el("header", {}, el("h3", {}, "Events")),
      el("p", { class: "muted" }, about),
      el("div", { class: "filters" }, ...filters),
      total > 0 &&
        el(
          "div",
          { class: "scroll", tabindex: 0, role: "region", "aria-label": "Events" },
          el(
            "table",
            { class: "events" },
            el("thead", {}, el("tr", {}, ...["time [s]", "event", "where", "speed"].map((t) => el("th", { scope: "col" }, t)))),
            this.body,
          ),
        ),
      this.more,
    );
    this.fill();
    player.follow(this.element, () => this.mark());
  }

  /// The next event of the kinds that are shown, or the one before.
  jump(by: number): void {
    const { player } = this;
    const times = this.list.map((e) => e.time);
    if (times.length === 0) return;
    const slack = 1e-9 * Math.max(1e-3, player.duration);
    const target =
      by > 0 ? times.find((t) => t > player.time + slack) : times.findLast((t) => t < player.time - slack);
    if (target === undefined) return;
    player.pause();
    player.seek(target);
  }

  private fill(): void {
    this.list = this.recording.events.filter((e) => this.kinds.has(e.kind));
    this.body.replaceChildren(
      ...this.list.slice(0, this.shown).map((event) =>
        el(
          "tr",
          {},
          el(
            "td",
            {},
            el(
              "button",
              {
                type: "button",
                class: "link",
                onclick: () => {
                  this.player.pause();
                  this.player.seek(event.time);
                  this.select(event);
                },
              },
              timeText(event.time, 1e-6),
            ),
          ),
          el("td", { title: meaning[event.kind] ?? "" }, el("span", { class: `badge ${event.kind}` }, event.kind)),
          el("td", {}, event.where),
          el("td", { class: "number" }, Number.isNaN(event.speed) ? "" : withUnit(event.speed, event.unit, 3)),
        ),
      ),
    );
    this.listTimes = this.list.slice(0, this.shown).map((e) => e.time);
    this.more.hidden = this.list.length <= this.shown;
    this.mark();
  }

  private mark(): void {
    const times = this.listTimes;
    this.marked?.classList.remove("current");
    this.marked = null;
    if (times.length === 0 || this.player.time < times[0]) return;
    this.marked = this.body.children[indexAt(times, this.player.time)] ?? null;
    this.marked?.classList.add("current");
  }
}
