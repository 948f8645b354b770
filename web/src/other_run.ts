import { Group, Mesh, MeshLambertMaterial, Quaternion, type Scene, SRGBColorSpace, Vector3 } from "three";
import type { ShapeHead } from "./data";
import type { Film } from "./film";
import { indexAt } from "./player";
import { surfaceOf } from "./surfaces";
import { palette } from "./theme";

// The bodies of another run, seen through, where they are at the same time.

const opacity = 0.35;

export class OtherRun {
  readonly group = new Group();
  private readonly bodies: Group[];
  private readonly meshes: Mesh[] = [];

  constructor(
    private readonly film: Film,
    scene: Scene,
  ) {
    this.bodies = film.head.bodies.map(() => new Group());
    this.group.add(...this.bodies);
    scene.add(this.group);
    for (const shape of film.head.shapes) {
      if (shape.body < 0 || shape.mesh === null || shape.drawn === false) continue;
      const mesh = new Mesh(surfaceOf(film, shape.mesh), new MeshLambertMaterial({ transparent: true, opacity, depthWrite: false }));
      mesh.position.set(...shape.position);
      const [w, x, y, z] = shape.quaternion;
      mesh.quaternion.set(x, y, z, w);
      mesh.userData = { shape };
      this.meshes.push(mesh);
      this.bodies[shape.body].add(mesh);
    }
  }

  paint(): void {
    const colours = palette();
    for (const mesh of this.meshes) {
      const shape = mesh.userData.shape as ShapeHead;
      const { color } = mesh.material as MeshLambertMaterial;
      if (shape.rgba) color.setRGB(shape.rgba[0], shape.rgba[1], shape.rgba[2], SRGBColorSpace);
      else color.set(colours.bodies[shape.body % colours.bodies.length]);
    }
  }

  /// To a time of the first run; after its own end it stays where it is.
  update(time: number): void {
    const { film } = this;
    const i = indexAt(film.time, time);
    const next = Math.min(i + 1, film.time.length - 1);
    const part = next > i ? Math.min(1, Math.max(0, (time - film.time[i]) / (film.time[next] - film.time[i]))) : 0;
    const read = (sample: number, body: number) => {
      const p = [0, 0, 0];
      const q = [1, 0, 0, 0];
      film.position(body, sample, p);
      film.quaternion(body, sample, q);
      return { at: new Vector3(...p), turn: new Quaternion(q[1], q[2], q[3], q[0]), ok: [...p, ...q].every(Number.isFinite) };
    };
    this.bodies.forEach((group, body) => {
      const [from, to] = [read(i, body), read(next, body)];
      group.visible = from.ok && to.ok;
      group.position.copy(from.at.lerp(to.at, part));
      group.quaternion.copy(from.turn.slerp(to.turn, part));
    });
  }
}
