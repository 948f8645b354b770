import { Vector3 } from "three";
import { download, el, fileName, icons, tool } from "./dom";
import type { Film } from "./film";
import type { Player } from "./player";
import { playKeys } from "./keys";
import { makeTransport } from "./transport";
import { View } from "./view";

// A motion in three dimensions with its own controls; the last body leaves a trail.

export class FilmCard {
  readonly element: HTMLElement;
  view: View | null = null;
  private readonly stage = el("div", { class: "stage" });

  constructor(
    title: string,
    private readonly film: Film,
    private readonly player: Player,
    /// A point of the last body, in its own frame.
    private readonly trail: Vector3,
  ) {
    const save = () => void this.view?.image().then((blob) => blob && download(`${fileName(title)}.png`, blob));
    this.element = el(
      "section",
      { class: "card film", "aria-label": title },
      el(
        "header",
        {},
        el("h5", {}, title),
        el(
          "div",
          { class: "tools" },
          tool(icons.fit, "Show all that moves", () => this.view?.fit(), "f"),
          tool(icons.image, "Save the picture as PNG", save),
        ),
      ),
      this.stage,
      makeTransport(player, [], () => {}),
    );
    this.element.addEventListener("keydown", (e) => this.onKey(e));
  }

  /// Makes the picture.
  show(): void {
    try {
      this.view = new View(this.stage, this.film, this.player, null);
      const body = this.film.head.bodies.length - 1;
      if (body >= 0) this.view.addTrail({ body, point: this.trail, name: this.film.head.bodies[body] });
    } catch (error) {
      console.warn(error);
      this.stage.replaceChildren(el("p", { class: "trouble" }, "The picture needs WebGL, which this browser does not offer. The charts work without."));
      this.stage.classList.add("empty");
    }
  }

  private onKey(e: KeyboardEvent): void {
    const keys = playKeys(this.player, this.view);
    const target = e.target as HTMLElement;
    if (e.ctrlKey || e.altKey || e.metaKey || !(e.key in keys) || target.closest("select")) return;
    if (e.key === " " && target.closest("button, input")) return;
    e.preventDefault();
    e.stopPropagation();
    keys[e.key](e);
  }
}
