import type { PerspectiveCamera } from "three";
import type { Drawn } from "./contact_marks";
import { el } from "./dom";
import { lengthText, withUnit } from "./format";
import { roundBelow } from "./ground";

// Numbers over the picture: the forces of the hardest contacts, and how long a length and
// a force are drawn.

const most = 3; // contacts with a number
const room = { x: 60, y: 20 }; // that a number takes [pixels]

export class Labels {
  show = true;
  private readonly forces = Array.from({ length: most }, () => el("span", { class: "force-label", hidden: true }));
  private readonly length = bar("length");
  private readonly force = bar("normal");

  private width = 0; // of the picture [pixels]
  private tall = 0;

  constructor(host: HTMLElement) {
    host.append(el("div", { class: "scales", "aria-hidden": "true" }, this.length.element, this.force.element), ...this.forces);
  }

  resize(width: number, height: number): void {
    this.width = width;
    this.tall = height;
  }

  /// `height` is that of the picture in metres, at the distance of what it looks at.
  place(drawn: Drawn[], camera: PerspectiveCamera, height: number, perNewton: number, large: number): void {
    const { width, tall } = this; // asking the page would make it lay itself out
    if (tall === 0) return;
    const hardest = this.show ? drawn.filter((d) => d.contact.normalForce > 0.02 * large).sort((a, b) => b.contact.normalForce - a.contact.normalForce) : [];
    const places: [number, number][] = [];
    for (const { contact, tip } of hardest.slice(0, 40)) {
      if (places.length === most) break;
      const at = tip.clone().project(camera);
      const x = (0.5 + 0.5 * at.x) * width;
      const y = (0.5 - 0.5 * at.y) * tall;
      if (at.z > 1 || x < 0 || x > width || y < 0 || y > tall) continue;
      if (places.some(([px, py]) => Math.abs(px - x) < room.x && Math.abs(py - y) < room.y)) continue;
      const label = this.forces[places.length];
      setText(label, withUnit(contact.normalForce, "N", 3));
      label.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
      label.hidden = false;
      places.push([x, y]);
    }
    for (const label of this.forces.slice(places.length)) label.hidden = true;

    const perMetre = tall / height; // pixels
    const metres = roundBelow(90 / perMetre);
    this.length.set(metres * perMetre, lengthText(metres));
    const perForce = perNewton * perMetre;
    this.force.element.hidden = !(perForce > 0) || !this.show;
    if (perForce > 0) {
      const newtons = roundBelow(Math.min(large, 90 / perForce));
      this.force.set(newtons * perForce, withUnit(newtons, "N"));
    }
  }
}

function bar(kind: string) {
  const line = el("i", { class: `scale-line ${kind}` });
  const text = el("span", {});
  const element = el("span", { class: "scale" }, line, text);
  return {
    element,
    set(pixels: number, words: string) {
      line.style.width = `${pixels.toFixed(0)}px`;
      setText(text, words);
    },
  };
}

function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}
