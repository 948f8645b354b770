import { CylinderGeometry, type Group, Mesh, MeshLambertMaterial, Quaternion, type Sphere, Vector3 } from "three";
import type { FilmHead } from "./data";

// Thin rods where a joint or a loop holds a body away from all that is seen of it: the
// strings of a cradle, the bars of a linkage without shapes.

const thin = 0.05; // radius, of that of what moves
const slender = 0.02; // at most, of its length
const unitY = new Vector3(0, 1, 0);

/// Puts them on the bodies. `balls` are those around each shape of a body.
export function addRods(head: FilmHead, bodies: Group[], balls: Sphere[][], grain: number): Mesh[] {
  const rods: Mesh[] = [];
  const anchors = new Map<number, Vector3[]>();
  for (const { body, point } of head.anchors ?? []) {
    const list = anchors.get(body) ?? [];
    const at = new Vector3(...point);
    if (!list.some((p) => p.distanceTo(at) < 1e-9)) list.push(at);
    anchors.set(body, list);
  }
  for (const [body, points] of anchors) {
    for (const [from, to] of waysOn(points, balls[body], centreOf(head, body))) {
      const rod = rodBetween(from, to, grain);
      if (!rod) continue;
      rod.userData = { shape: { body, kind: "rod" } };
      bodies[body].add(rod);
      rods.push(rod);
    }
  }
  return rods;
}

/// The centre of mass, of bodies that have one.
export function centreOf(head: FilmHead, body: number): Vector3 | null {
  return head.centres && head.masses && head.masses[body] > 0 ? new Vector3(...head.centres[body]) : null;
}

/// From anchors that lie outside all shapes to the nearest shape; without shapes from one
/// anchor to the next, or to the centre of mass.
function waysOn(points: Vector3[], balls: Sphere[], centre: Vector3 | null): [Vector3, Vector3][] {
  if (balls.length === 0) {
    if (points.length === 1) return centre ? [[points[0], centre]] : [];
    return points.slice(1).map((p) => [points[0], p]);
  }
  const outside = points.filter((p) => balls.every((b) => p.distanceTo(b.center) > 1.02 * b.radius));
  return outside.map((p) => {
    const nearest = balls.reduce((best, b) => (p.distanceTo(b.center) - b.radius < p.distanceTo(best.center) - best.radius ? b : best));
    return [p, nearest.center];
  });
}

function rodBetween(from: Vector3, to: Vector3, grain: number): Mesh | null {
  const along = to.clone().sub(from);
  const length = along.length();
  if (!(length > 1e-9)) return null;
  const radius = Math.min(thin * grain, slender * length);
  const rod = new Mesh(new CylinderGeometry(radius, radius, length, 10), new MeshLambertMaterial());
  rod.position.copy(from).addScaledVector(along, 0.5);
  rod.quaternion.copy(new Quaternion().setFromUnitVectors(unitY, along.normalize()));
  rod.castShadow = true;
  return rod;
}
