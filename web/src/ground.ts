import { BufferAttribute, BufferGeometry, LineBasicMaterial, LineSegments, Object3D, type Vector3 } from "three";
import type { Motion } from "./framing";

// Planes and their grids, as large as the room in which things move.

/// The foot of a point on a plane, in the plane's own frame.
function footOn(plane: Object3D, point: Vector3): Vector3 {
  plane.updateWorldMatrix(true, false);
  return plane.worldToLocal(point.clone()).setZ(0);
}

/// The part of a plane that is drawn.
export function planePatch(plane: Object3D, motion: Motion): BufferGeometry {
  const { x, y } = footOn(plane, motion.centre);
  const s = 6 * motion.radius;
  const geometry = new BufferGeometry();
  const corners = [x - s, y - s, 0, x + s, y - s, 0, x + s, y + s, 0, x - s, y + s, 0];
  geometry.setAttribute("position", new BufferAttribute(new Float32Array(corners), 3));
  geometry.setAttribute("normal", new BufferAttribute(new Float32Array([0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1]), 3));
  geometry.setIndex([0, 1, 2, 0, 2, 3]);
  return geometry;
}

/// Lines on a plane a round distance apart: 1, 2 or 5 times a power of ten metres. Where
/// what moves is small in its room, finer ones go along with it.
export class Grid {
  readonly coarse: LineSegments;
  private readonly fine: LineSegments | null;
  private readonly step: number;

  constructor(
    private readonly plane: Object3D,
    motion: Motion,
  ) {
    const step = roundBelow(motion.radius / 4);
    const half = Math.ceil((4 * motion.radius) / step);
    this.coarse = lines(step, half, 0.55);
    this.step = roundBelow(motion.reach / 2);
    this.fine = motion.goesFar ? lines(this.step, 40, 0.4) : null;
    plane.add(this.coarse);
    if (this.fine) plane.add(this.fine);
    const foot = footOn(plane, motion.centre);
    this.coarse.position.set(step * Math.round(foot.x / step), step * Math.round(foot.y / step), 0);
  }

  get parts(): LineSegments[] {
    return this.fine ? [this.coarse, this.fine] : [this.coarse];
  }

  goTo(point: Vector3): void {
    if (!this.fine) return;
    const { x, y } = footOn(this.plane, point);
    this.fine.position.set(this.step * Math.round(x / this.step), this.step * Math.round(y / this.step), 0);
  }
}

export function roundBelow(wanted: number): number {
  const power = 10 ** Math.floor(Math.log10(wanted));
  return [5, 2, 1].map((k) => k * power).find((k) => k <= wanted * (1 + 1e-9)) ?? power;
}

function lines(step: number, half: number, opacity: number): LineSegments {
  const points: number[] = [];
  for (let i = -half; i <= half; ++i) {
    points.push(i * step, -half * step, 0, i * step, half * step, 0);
    points.push(-half * step, i * step, 0, half * step, i * step, 0);
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(new Float32Array(points), 3));
  return new LineSegments(geometry, new LineBasicMaterial({ transparent: true, opacity }));
}
