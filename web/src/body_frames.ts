import { CylinderGeometry, type Group, InstancedMesh, Matrix4, MeshBasicMaterial, type Scene, type Sphere, SphereGeometry, type Vector3 } from "three";
import { onTop } from "./contact_marks";
import { palette } from "./theme";

// The frames and the centres of mass of bodies on request: x red, y green, z blue.

const ofPicture = 0.09; // the length of an axis, of the height of the picture
const ofBody = 1.1; // and of the radius of the body
const slender = 0.035; // its radius, of its length
const centreOfPicture = 0.012; // the radius of a centre of mass
const centreOfBody = 0.25;

export class BodyFrames {
  private readonly axes: InstancedMesh[];
  private readonly balls: InstancedMesh;

  constructor(
    private readonly bodies: Group[],
    private readonly bounds: (Sphere | null)[],
    private readonly centres: (Vector3 | null)[],
    scene: Scene,
  ) {
    this.balls = new InstancedMesh(new SphereGeometry(1, 16, 12), onTop(0.95), Math.max(1, bodies.length));
    this.balls.frustumCulled = false;
    this.balls.renderOrder = 9;
    this.balls.visible = false;
    scene.add(this.balls);
    const rod = () => new CylinderGeometry(slender, slender, 1, 8).translate(0, 0.5, 0);
    const along = [rod().rotateZ(-Math.PI / 2), rod(), rod().rotateX(Math.PI / 2)];
    this.axes = along.map((geometry, k) => {
      const mesh = new InstancedMesh(geometry, onTop(0.95), Math.max(1, bodies.length));
      (mesh.material as MeshBasicMaterial).color.set(["#e03131", "#2f9e44", "#1c7ed6"][k]);
      mesh.frustumCulled = false;
      mesh.renderOrder = 9;
      mesh.visible = false;
      scene.add(mesh);
      return mesh;
    });
  }

  set show(on: boolean) {
    for (const mesh of this.axes) mesh.visible = on;
  }

  set showCentres(on: boolean) {
    this.balls.visible = on;
  }

  /// Where bodies are now, in a picture of that height in metres.
  place(height: number): void {
    if (this.axes[0].visible) this.placeAxes(height);
    if (this.balls.visible) this.placeCentres(height);
  }

  private placeCentres(height: number): void {
    (this.balls.material as MeshBasicMaterial).color.set(palette().cursor);
    const place = new Matrix4();
    let count = 0;
    this.bodies.forEach((body, i) => {
      const centre = this.centres[i];
      if (!body.visible || !centre) return;
      const size = Math.min(centreOfPicture * height, centreOfBody * (this.bounds[i]?.radius ?? Infinity));
      body.updateWorldMatrix(false, false);
      place.makeScale(size, size, size).setPosition(body.localToWorld(centre.clone()));
      this.balls.setMatrixAt(count++, place);
    });
    this.balls.count = count;
    this.balls.instanceMatrix.needsUpdate = true;
  }

  private placeAxes(height: number): void {
    const scale = new Matrix4();
    let count = 0;
    this.bodies.forEach((body, i) => {
      if (!body.visible) return;
      const length = Math.min(ofPicture * height, ofBody * (this.bounds[i]?.radius ?? Infinity));
      body.updateWorldMatrix(false, false);
      scale.makeScale(length, length, length).premultiply(body.matrixWorld);
      for (const mesh of this.axes) mesh.setMatrixAt(count, scale);
      ++count;
    });
    for (const mesh of this.axes) {
      mesh.count = count;
      mesh.instanceMatrix.needsUpdate = true;
    }
  }
}
