import { BufferAttribute, BufferGeometry } from "three";
import { toCreasedNormals } from "three/examples/jsm/utils/BufferGeometryUtils.js";
import type { Film } from "./film";

const crease = 0.6; // edges that turn by more stay sharp [rad]

/// A mesh of a film, smooth where its triangles turn little from one to the next.
export function surfaceOf(film: Film, mesh: number): BufferGeometry {
  const refs = film.head.meshes[mesh];
  const { packed } = film;
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(packed.f32(refs.vertices), 3));
  geometry.setIndex(new BufferAttribute(packed.u32(refs.triangles), 1));
  if (refs.normals.count === 0) return toCreasedNormals(geometry, crease);
  geometry.setAttribute("normal", new BufferAttribute(packed.f32(refs.normals), 3));
  return geometry;
}
