import { Box3, Quaternion, Sphere, Vector3 } from "three";
import type { Film } from "./film";

// What moves, how far, and from where a camera has it in view.

const mostInstants = 100;
const mostBalls = 20_000;

/// What moves: balls around the bodies at instants of the whole motion.
export class Motion {
  readonly centre = new Vector3(); // of the room in which things move
  radius = 1; // of that room [m]
  reach = 1; // of all bodies at one instant, in the middle of all instants [m]
  grain = 1; // of one body, in the middle of all [m]
  readonly size = new Vector3(); // of the room along the axes
  readonly balls: Sphere[] = []; // all of them, and
  readonly about: Sphere[] = []; // those near the middle of their instant, seen from there

  constructor(
    private readonly film: Film,
    readonly bounds: (Sphere | null)[], // of each body in its own frame
    sizes: number[], // of bodies without their strings: radii
  ) {
    const room = new Box3();
    const reaches: number[] = [];
    const bodies = bounds.map((b, i) => (b ? i : -1)).filter((i) => i >= 0);
    const n = film.time.length;
    const instants = Math.max(2, Math.min(mostInstants, mostBalls / Math.max(1, bodies.length)));
    const stride = Math.max(1, Math.floor(n / instants));
    for (let i = 0; i < n; i += stride) {
      const now = bodies.map((body) => this.ballAt(body, i)).filter((b) => b !== null);
      if (now.length === 0) continue;
      const box = new Box3();
      for (const ball of now) box.union(ball.getBoundingBox(new Box3()));
      room.union(box);
      reaches.push(0.5 * box.getSize(new Vector3()).length());
      this.balls.push(...now);
      const middle = middleOf(now.map((b) => b.center));
      for (const ball of now) this.about.push(new Sphere(ball.center.clone().sub(middle), ball.radius));
    }
    if (room.isEmpty()) room.set(new Vector3(-1, -1, -1), new Vector3(1, 1, 1));
    if (this.balls.length === 0) this.balls.push(new Sphere(new Vector3(), 1));
    room.getCenter(this.centre);
    room.getSize(this.size);
    this.radius = Math.max(1e-4, 0.5 * this.size.length());
    this.reach = median(reaches) ?? this.radius;
    this.grain = median(sizes) ?? this.radius;
    const near = this.about.filter((b) => b.center.length() <= 3 * this.reach);
    this.about.splice(0, this.about.length, ...near);
  }

  /// Whether what moves goes so far that it is small in a picture of all its ways.
  get goesFar(): boolean {
    return this.about.length > 0 && this.radius > 3.2 * this.reach;
  }

  /// From where one looks: on the long side of a long room.
  get away(): Vector3 {
    const { x, y, z } = this.size;
    // A row is seen from an end of it, so that the near part of it is large.
    if (!this.goesFar && x > 6 * Math.max(y, z)) return new Vector3(1, -0.75, 0.45).normalize();
    if (!this.goesFar && y > 6 * Math.max(x, z)) return new Vector3(0.75, -1, 0.45).normalize();
    if (!this.goesFar && x > 2 * y) return new Vector3(0.35, -1.5, 0.6).normalize();
    if (!this.goesFar && y > 2 * x) return new Vector3(1.5, -0.35, 0.6).normalize();
    return new Vector3(0.9, -1.5, 0.75).normalize();
  }

  private ballAt(body: number, sample: number): Sphere | null {
    const p = [0, 0, 0];
    const q = [1, 0, 0, 0];
    this.film.position(body, sample, p);
    this.film.quaternion(body, sample, q);
    if (![...p, ...q].every(Number.isFinite)) return null;
    const { center, radius } = this.bounds[body]!;
    const turn = new Quaternion(q[1], q[2], q[3], q[0]);
    return new Sphere(center.clone().applyQuaternion(turn).add(new Vector3(...p)), radius);
  }
}

/// The mean of points, without those that lie far from most.
export function middleOf(points: Vector3[]): Vector3 {
  const parts = (["x", "y", "z"] as const).map((k) => median(points.map((p) => p[k])) ?? 0);
  const middle = new Vector3(...parts);
  const usual = median(points.map((p) => p.distanceTo(middle))) ?? 0;
  const near = points.filter((p) => p.distanceTo(middle) <= 6 * usual + 1e-12);
  const sum = near.reduce((s, p) => s.add(p), new Vector3());
  return near.length > 0 ? sum.divideScalar(near.length) : middle;
}

function median(list: number[]): number | undefined {
  return [...list].sort((a, b) => a - b)[list.length >> 1];
}

/// Where a camera looks at and how far it is from there, that has all balls just in view.
/// `tall` and `wide` are the tangents of half its angles.
export function frame(balls: Sphere[], away: Vector3, tall: number, wide: number): { target: Vector3; distance: number } {
  const right = new Vector3(0, 0, 1).cross(away).normalize();
  const up = away.clone().cross(right);
  const seen = balls.map(({ center, radius }) => ({ x: center.dot(right), y: center.dot(up), z: center.dot(away), radius }));
  const middle = (key: "x" | "y" | "z") => {
    let low = Infinity;
    let high = -Infinity;
    for (const ball of seen) {
      low = Math.min(low, ball[key] - ball.radius);
      high = Math.max(high, ball[key] + ball.radius);
    }
    return 0.5 * (low + high);
  };
  let [x, y] = [middle("x"), middle("y")];
  const z = middle("z");
  let distance = 0;
  // What is near looks larger: the middle of the picture is not that of the room.
  for (let pass = 0; pass < 4; ++pass) {
    distance = 0;
    for (const ball of seen) {
      const beside = Math.abs(ball.x - x) / wide + ball.radius * Math.hypot(1, 1 / wide);
      const above = Math.abs(ball.y - y) / tall + ball.radius * Math.hypot(1, 1 / tall);
      distance = Math.max(distance, ball.z - z + Math.max(beside, above));
    }
    const shift = (key: "x" | "y", at: number) => {
      let low = Infinity;
      let high = -Infinity;
      for (const ball of seen) {
        const depth = Math.max(1e-9, distance - (ball.z - z));
        low = Math.min(low, (ball[key] - at - ball.radius) / depth);
        high = Math.max(high, (ball[key] - at + ball.radius) / depth);
      }
      return 0.5 * (low + high) * distance;
    };
    if (pass === 3) break;
    const [dx, dy] = [shift("x", x), shift("y", y)];
    x += dx;
    y += dy;
  }
  const target = right.multiplyScalar(x).addScaledVector(up, y).addScaledVector(away, z);
  return { target, distance: Math.max(distance, 1e-6) };
}
