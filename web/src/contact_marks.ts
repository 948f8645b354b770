import { Color, ConeGeometry, CylinderGeometry, InstancedMesh, Matrix4, MeshBasicMaterial, Quaternion, type Scene, SphereGeometry, Vector3 } from "three";
import type { Contact, Recording } from "./recording";
import { palette } from "./theme";

// Contacts in the picture: a dot where each one is, and arrows for its forces.

const unitZ = new Vector3(0, 0, 1);
const usualOfPicture = 0.15; // a large force, of the height of the picture
const usualOfBody = 1.2; // and of the radius of what moves
const longest = 1.6; // of any force, of that length

/// Seen through what is before it, so that a contact below a body shows.
export function onTop(opacity: number): MeshBasicMaterial {
  return new MeshBasicMaterial({ depthTest: false, transparent: true, opacity, fog: false });
}

export interface Drawn {
  contact: Contact;
  tip: Vector3; // of the arrow of its normal force, or where it is
}

export class ContactMarks {
  showPoints = true;
  showForces = true;
  scale = 1; // of the arrows, by hand
  usual = 0; // length of the arrow of a large force [m]
  private readonly dots: InstancedMesh;
  private readonly arrows: { shaft: InstancedMesh; head: InstancedMesh; kind: "normal" | "friction" }[];

  constructor(
    private readonly recording: Recording | null,
    scene: Scene,
  ) {
    const most = Math.max(1, recording?.mostContacts ?? 0);
    this.dots = new InstancedMesh(new SphereGeometry(1, 12, 8), onTop(0.95), most);
    this.arrows = (["normal", "friction"] as const).map((kind) => ({
      kind,
      shaft: new InstancedMesh(new CylinderGeometry(0.5, 0.5, 1, 10).translate(0, 0.5, 0).rotateX(Math.PI / 2), onTop(0.9), most),
      head: new InstancedMesh(new ConeGeometry(1.3, 3.2, 12).translate(0, 1.6, 0).rotateX(Math.PI / 2), onTop(0.9), most),
    }));
    this.dots.setColorAt(0, new Color());
    for (const mesh of [this.dots, ...this.arrows.flatMap((a) => [a.shaft, a.head])]) {
      mesh.frustumCulled = false;
      mesh.renderOrder = 10;
      mesh.count = 0;
      scene.add(mesh);
    }
  }

  paint(): void {
    const colours = palette();
    for (const { shaft, head, kind } of this.arrows) {
      for (const mesh of [shaft, head]) (mesh.material as MeshBasicMaterial).color.set(colours[kind]);
    }
  }

  /// Metres of arrow per newton.
  get perNewton(): number {
    const large = this.recording?.largeForce ?? 0;
    return large > 0 ? this.usual / large : 0;
  }

  /// Puts dots and arrows where contacts are, in a picture of that height in metres, of
  /// bodies of that radius; the arrows stay shorter than these.
  place(contacts: Contact[], height: number, grain: number, selected: number | undefined): Drawn[] {
    this.usual = Math.min(usualOfPicture * height, usualOfBody * grain) * this.scale;
    const dot = Math.min(0.009 * height, Math.max(0.15 * grain, 0.004 * height));
    this.placeDots(this.showPoints ? contacts : [], dot, selected);
    const drawn = contacts.map((contact) => ({ contact, tip: new Vector3(...contact.point) }));
    const thick = Math.min(0.55 * dot, 0.07 * this.usual);
    for (const arrow of this.arrows) {
      let count = 0;
      for (const one of this.showForces ? drawn : []) {
        const tip = this.placeArrow(arrow, count, one.contact, thick);
        if (!tip) continue;
        ++count;
        if (arrow.kind === "normal") one.tip = tip;
      }
      for (const mesh of [arrow.shaft, arrow.head]) {
        mesh.count = count;
        mesh.instanceMatrix.needsUpdate = true;
      }
    }
    return drawn;
  }

  private placeDots(contacts: Contact[], dot: number, selected: number | undefined): void {
    const colours = palette();
    const place = new Matrix4();
    this.dots.count = contacts.length;
    contacts.forEach((contact, i) => {
      const size = dot * (contact.key === selected ? 1.8 : 1);
      place.makeScale(size, size, size).setPosition(...contact.point);
      this.dots.setMatrixAt(i, place);
      const state = (["open", "stick", "slip"] as const)[contact.state];
      this.dots.setColorAt(i, new Color(colours[state]));
    });
    this.dots.instanceMatrix.needsUpdate = true;
    if (this.dots.instanceColor) this.dots.instanceColor.needsUpdate = true;
  }

  /// Its tip; null where it is too short to be seen.
  private placeArrow({ shaft, head, kind }: (typeof this.arrows)[number], at: number, contact: Contact, thick: number): Vector3 | null {
    const sign = this.recording!.forceIsOnA(contact.key) ? -1 : 1;
    const along = kind === "normal" ? new Vector3(...contact.normal).multiplyScalar(sign * contact.normalForce) : new Vector3(...contact.friction).multiplyScalar(sign);
    const length = Math.min(longest * this.usual, along.length() * this.perNewton);
    if (!(length > 0.5 * thick)) return null;
    const turn = new Quaternion().setFromUnitVectors(unitZ, along.normalize());
    const from = new Vector3(...contact.point);
    const point = Math.min(3.2 * thick, length); // the length of the head
    const place = new Matrix4();
    shaft.setMatrixAt(at, place.compose(from, turn, new Vector3(thick, thick, Math.max(1e-9, length - point))));
    head.setMatrixAt(at, place.compose(from.clone().addScaledVector(along, length - point), turn, new Vector3(thick, thick, point / 3.2)));
    return from.addScaledVector(along, length);
  }
}
