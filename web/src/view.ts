import {
  Box3,
  BufferAttribute,
  BufferGeometry,
  Color,
  ConeGeometry,
  CylinderGeometry,
  DirectionalLight,
  DoubleSide,
  Fog,
  FrontSide,
  Group,
  HemisphereLight,
  InstancedMesh,
  Line,
  LineBasicMaterial,
  LineSegments,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  MeshLambertMaterial,
  Object3D,
  PerspectiveCamera,
  Quaternion,
  Raycaster,
  Scene,
  SphereGeometry,
  Vector2,
  Vector3,
  WebGLRenderer,
} from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import type { ShapeHead } from "./data";
import type { Film } from "./film";
import type { Player } from "./player";
import type { Contact, Recording } from "./recording";
import { onTheme, palette } from "./theme";

// The scene in three dimensions: bodies, contacts with their forces, trails.

/// A point of a body whose way is drawn.
export interface Trail {
  body: number;
  point: Vector3; // in the body's own frame
  name: string;
}

export interface Picked {
  contact?: number; // key
  body?: number;
  point?: Vector3; // in the body's own frame
}

const unitZ = new Vector3(0, 0, 1);

export class View {
  readonly canvas: HTMLCanvasElement;
  onPick: (picked: Picked) => void = () => {};
  showContacts = true;
  showForces = true;
  forceScale = 1;
  following = false; // the camera goes with the selected body
  selected: Picked = {};
  readonly trails: Trail[] = [];

  private readonly renderer: WebGLRenderer;
  private readonly plain: boolean; // without shadows and fine pixels
  private readonly scene = new Scene();
  private readonly camera = new PerspectiveCamera(40, 1, 0.01, 100);
  private readonly controls: OrbitControls;
  private readonly bodies: Group[] = [];
  private readonly meshes: Mesh[] = [];
  private readonly grids: LineSegments[] = [];
  private readonly trailGroup = new Group();
  private readonly trailLines: { line: Line; rest: Line; trail: Trail }[] = [];
  private readonly sun = new DirectionalLight(0xffffff, 1.6);
  private readonly marks: InstancedMesh;
  private readonly arrows: { shaft: InstancedMesh; head: InstancedMesh; kind: "normal" | "friction" }[];
  private readonly centre = new Vector3();
  private readonly room = new Box3(); // in which things move
  private radius = 1; // of the room in which things move [m]
  private grain = 1; // of one thing that moves, in the middle of all [m]
  private contacts: Contact[] = [];
  private waiting = false;
  private rest = 0; // the timer after which the picture counts as at rest

  constructor(
    private readonly host: HTMLElement,
    private readonly film: Film,
    private readonly player: Player,
    private readonly recording: Recording | null,
  ) {
    this.plain = drawsSlowly();
    this.renderer = new WebGLRenderer({ antialias: !this.plain });
    this.canvas = this.renderer.domElement;
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute(
      "aria-label",
      "The scene in three dimensions. Drag to turn, right-drag to pan, wheel to zoom.",
    );
    host.append(this.canvas);
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.addEventListener("change", () => {
      this.hurry();
      this.redraw();
    });

    const most = Math.max(1, recording?.mostContacts ?? 0);
    this.marks = new InstancedMesh(new SphereGeometry(1, 12, 8), onTop(0.95), most);
    this.arrows = (["normal", "friction"] as const).map((kind) => ({
      kind,
      shaft: new InstancedMesh(new CylinderGeometry(0.5, 0.5, 1, 10).translate(0, 0.5, 0).rotateX(Math.PI / 2), onTop(0.9), most),
      head: new InstancedMesh(new ConeGeometry(1.3, 3.2, 12).translate(0, 1.6, 0).rotateX(Math.PI / 2), onTop(0.9), most),
    }));
    this.marks.setColorAt(0, new Color());
    for (const mesh of [this.marks, ...this.arrows.flatMap((a) => [a.shaft, a.head])]) {
      mesh.frustumCulled = false;
      mesh.renderOrder = 10;
      mesh.count = 0;
      this.scene.add(mesh);
    }
    this.measure();
    this.build();
    this.scene.add(this.trailGroup, new HemisphereLight(0xffffff, 0xa0a8b0, 1.6));
    this.sun.position.copy(this.centre).add(new Vector3(-0.6, -1, 2).multiplyScalar(2 * this.radius));
    this.sun.target.position.copy(this.centre);
    this.scene.add(this.sun, this.sun.target);
    this.fit();
    this.paint();
    onTheme(() => this.paint());
    addEventListener("beforeprint", () => this.draw());
    new ResizeObserver(() => this.resize()).observe(host);
    this.resize();
    this.listenForPicks();
    player.follow(host, () => {
      this.update();
      this.hurry();
      this.draw(); // now, not a frame later
    });
    this.update();
  }

  /// The middle and size of the room in which things move.
  private measure(): void {
    const box = this.room;
    const p = [0, 0, 0];
    const q = [1, 0, 0, 0];
    const turn = new Quaternion();
    const n = this.film.time.length;
    const stride = Math.max(1, Math.floor(n / 100));
    const around = (centre: Vector3, radius: number) => {
      box.expandByPoint(centre.clone().addScalar(radius));
      box.expandByPoint(centre.clone().addScalar(-radius));
    };
    const sizes: number[] = [];
    for (const shape of this.film.head.shapes) {
      if (shape.body < 0 || shape.mesh === null || shape.kind === "plane") continue;
      const geometry = this.geometry(shape.mesh);
      geometry.computeBoundingSphere();
      const { center, radius } = geometry.boundingSphere!;
      sizes.push(radius);
      const [w, x, y, z] = shape.quaternion;
      const inBody = center.clone().applyQuaternion(turn.set(x, y, z, w)).add(new Vector3(...shape.position));
      for (let i = 0; i < n; i += stride) {
        this.film.position(shape.body, i, p);
        this.film.quaternion(shape.body, i, q);
        if (![...p, ...q].every(Number.isFinite)) break;
        around(inBody.clone().applyQuaternion(turn.set(q[1], q[2], q[3], q[0])).add(new Vector3(...p)), radius);
      }
    }
    if (box.isEmpty()) around(new Vector3(), 1);
    box.getCenter(this.centre);
    this.radius = Math.max(1e-4, 0.5 * box.getSize(new Vector3()).length());
    sizes.sort((a, b) => a - b);
    this.grain = sizes[sizes.length >> 1] ?? this.radius;
  }

  private readonly geometries = new Map<number, BufferGeometry>();
  private geometry(mesh: number): BufferGeometry {
    let geometry = this.geometries.get(mesh);
    if (!geometry) {
      const refs = this.film.head.meshes[mesh];
      const { packed } = this.film;
      geometry = new BufferGeometry();
      geometry.setAttribute("position", new BufferAttribute(packed.f32(refs.vertices), 3));
      geometry.setIndex(new BufferAttribute(packed.u32(refs.triangles), 1));
      if (refs.normals.count > 0) {
        geometry.setAttribute("normal", new BufferAttribute(packed.f32(refs.normals), 3));
      } else {
        geometry = geometry.toNonIndexed(); // flat triangles
        geometry.computeVertexNormals();
      }
      this.geometries.set(mesh, geometry);
    }
    return geometry;
  }

  private build(): void {
    for (const _ of this.film.head.bodies) {
      const group = new Group();
      this.bodies.push(group);
      this.scene.add(group);
    }
    let fixed = 0;
    for (const shape of this.film.head.shapes) {
      if (shape.mesh === null) continue;
      const parent: Object3D = shape.body < 0 ? this.scene : this.bodies[shape.body];
      const holder = new Group();
      holder.position.set(...shape.position);
      const [w, x, y, z] = shape.quaternion;
      holder.quaternion.set(x, y, z, w);
      parent.add(holder);
      if (shape.body < 0) ++fixed;
      const geometry = shape.kind === "plane" ? this.planePatch(holder) : this.geometry(shape.mesh);
      const turns = shape.body >= 0 && roundKinds.has(shape.kind);
      if (turns) quarter(geometry);
      // One looks into a cavity through its near wall.
      const side = shape.body < 0 && shape.kind !== "cavity" ? DoubleSide : FrontSide;
      const material = new MeshLambertMaterial({ side, vertexColors: turns });
      if (shape.kind === "plane") {
        Object.assign(material, { polygonOffset: true, polygonOffsetFactor: 2, polygonOffsetUnits: 2 });
        holder.add(this.gridOn(holder));
      }
      if (shape.kind === "cavity") Object.assign(material, { transparent: true, opacity: 0.6, depthWrite: false });
      const mesh = new Mesh(geometry, material);
      mesh.castShadow = shape.kind !== "plane" && shape.kind !== "cavity";
      mesh.receiveShadow = shape.body < 0;
      mesh.userData = { shape };
      this.meshes.push(mesh);
      holder.add(mesh);
    }
    if (fixed === 0) this.scene.add(this.floorGrid());
    this.renderer.shadowMap.enabled = !this.plain;
    this.sun.castShadow = !this.plain;
    this.sun.shadow.mapSize.set(1024, 1024);
    const camera = this.sun.shadow.camera;
    const reach = 1.5 * this.radius;
    Object.assign(camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: 0.1 * reach, far: 8 * reach });
    this.sun.shadow.normalBias = 0.004 * this.radius;
  }

  /// The foot of the middle of the scene on a plane, in the plane's own frame.
  private footOn(plane: Object3D): Vector3 {
    plane.updateWorldMatrix(true, false);
    const foot = plane.worldToLocal(this.centre.clone());
    return foot.setZ(0);
  }

  private planePatch(plane: Object3D): BufferGeometry {
    const { x, y } = this.footOn(plane);
    const s = 6 * this.radius;
    const geometry = new BufferGeometry();
    const corners = [x - s, y - s, 0, x + s, y - s, 0, x + s, y + s, 0, x - s, y + s, 0];
    geometry.setAttribute("position", new BufferAttribute(new Float32Array(corners), 3));
    geometry.setAttribute("normal", new BufferAttribute(new Float32Array([0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1]), 3));
    geometry.setIndex([0, 1, 2, 0, 2, 3]);
    return geometry;
  }

  private gridOn(plane: Object3D): LineSegments {
    return this.gridLines(this.footOn(plane));
  }

  private floorGrid(): LineSegments {
    const grid = this.gridLines(new Vector3(this.centre.x, this.centre.y, 0));
    grid.position.z = Math.min(0, this.centre.z - this.radius);
    return grid;
  }

  /// Lines a round distance apart: 1, 2 or 5 times a power of ten metres.
  private gridLines(middle: Vector3): LineSegments {
    const wanted = this.radius / 4;
    const power = 10 ** Math.floor(Math.log10(wanted));
    const step = [5, 2, 1].map((k) => k * power).find((k) => k <= wanted) ?? power;
    const half = Math.ceil((4 * this.radius) / step);
    const x0 = Math.round(middle.x / step);
    const y0 = Math.round(middle.y / step);
    const points: number[] = [];
    for (let i = -half; i <= half; ++i) {
      points.push((x0 + i) * step, (y0 - half) * step, 0, (x0 + i) * step, (y0 + half) * step, 0);
      points.push((x0 - half) * step, (y0 + i) * step, 0, (x0 + half) * step, (y0 + i) * step, 0);
    }
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(new Float32Array(points), 3));
    const grid = new LineSegments(geometry, new LineBasicMaterial({ transparent: true, opacity: 0.55 }));
    this.grids.push(grid);
    return grid;
  }

  set showGrid(on: boolean) {
    for (const grid of this.grids) grid.visible = on;
    this.redraw();
  }

  /// Colours of the theme.
  private paint(): void {
    const colours = palette();
    const ground = new Color(colours.ground);
    this.scene.background = ground;
    this.scene.fog = new Fog(ground, 5 * this.radius, 12 * this.radius);
    for (const mesh of this.meshes) {
      const shape = mesh.userData.shape as ShapeHead;
      const chosen = shape.body >= 0 && shape.body === this.selected.body;
      const material = mesh.material as MeshLambertMaterial;
      const own = shape.body < 0 ? (shape.kind === "plane" ? colours.ground : colours.world) : colours.bodies[shape.body % colours.bodies.length];
      material.color.set(own);
      material.emissive.set(chosen ? own : "#000").multiplyScalar(0.5);
    }
    for (const grid of this.grids) (grid.material as LineBasicMaterial).color.set(colours.open);
    for (const arrow of this.arrows) {
      for (const mesh of [arrow.shaft, arrow.head]) (mesh.material as MeshBasicMaterial).color.set(colours[arrow.kind]);
    }
    this.trailLines.forEach(({ line, rest }, i) => {
      (line.material as LineBasicMaterial).color.set(colours.series[i % colours.series.length]);
      (rest.material as LineBasicMaterial).color.set(colours.series[i % colours.series.length]);
    });
    this.redraw();
  }

  /// Looks at everything that moves.
  fit(): void {
    const away = new Vector3(0.9, -1.5, 0.75).normalize();
    const distance = 1.08 * this.distanceToSeeAll(away);
    this.camera.position.copy(this.centre).addScaledVector(away, distance);
    this.camera.near = distance / 500;
    this.camera.far = 40 * distance;
    this.camera.updateProjectionMatrix();
    this.controls.target.copy(this.centre);
    this.controls.update();
    this.redraw();
  }

  /// How far from the middle the camera must be, in that direction, to have all corners of
  /// the room in view.
  private distanceToSeeAll(away: Vector3): number {
    const tall = Math.tan((0.5 * this.camera.fov * Math.PI) / 180);
    const wide = tall * this.camera.aspect;
    const right = new Vector3(0, 0, 1).cross(away).normalize();
    const up = away.clone().cross(right);
    const { min, max } = this.room;
    let distance = 0.2 * this.radius;
    for (const x of [min.x, max.x]) {
      for (const y of [min.y, max.y]) {
        for (const z of [min.z, max.z]) {
          const corner = new Vector3(x, y, z).sub(this.centre);
          const beside = Math.max(Math.abs(corner.dot(up)) / tall, Math.abs(corner.dot(right)) / wide);
          distance = Math.max(distance, corner.dot(away) + beside);
        }
      }
    }
    return distance;
  }

  /// Turns and zooms by keys: radians about the vertical, up or down, and a factor.
  move(turn: number, lift: number, zoom: number): void {
    const arm = this.camera.position.clone().sub(this.controls.target);
    const length = arm.length() * zoom;
    const flat = Math.hypot(arm.x, arm.y);
    const angle = Math.atan2(arm.y, arm.x) + turn;
    const height = Math.min(1.5, Math.max(-1.5, Math.atan2(arm.z, flat) + lift));
    arm.set(Math.cos(height) * Math.cos(angle), Math.cos(height) * Math.sin(angle), Math.sin(height)).multiplyScalar(length);
    this.camera.position.copy(this.controls.target).add(arm);
    this.controls.update();
    this.redraw();
  }

  private resize(): void {
    const { clientWidth: width, clientHeight: height } = this.host;
    if (width === 0 || height === 0) return;
    const narrowBefore = Math.min(1, this.camera.aspect);
    this.camera.aspect = width / height;
    // What was in view stays in view.
    const arm = this.camera.position.clone().sub(this.controls.target);
    this.camera.position.copy(this.controls.target).addScaledVector(arm, narrowBefore / Math.min(1, this.camera.aspect));
    this.camera.updateProjectionMatrix();
    this.renderer.setPixelRatio(this.plain ? 1 : Math.min(2, devicePixelRatio));
    this.renderer.setSize(width, height);
    this.redraw();
  }

  addTrail(trail: Trail): void {
    this.trails.push(trail);
    const n = this.film.time.length;
    const points = new Float32Array(3 * n);
    const p = [0, 0, 0];
    const q = [1, 0, 0, 0];
    const turn = new Quaternion();
    const at = new Vector3();
    for (let i = 0; i < n; ++i) {
      this.film.position(trail.body, i, p);
      this.film.quaternion(trail.body, i, q);
      turn.set(q[1], q[2], q[3], q[0]);
      at.copy(trail.point).applyQuaternion(turn);
      points.set([at.x + p[0], at.y + p[1], at.z + p[2]], 3 * i);
    }
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(points, 3));
    const rest = new Line(geometry, new LineBasicMaterial({ transparent: true, opacity: 0.3 }));
    const travelled = geometry.clone();
    const line = new Line(travelled, new LineBasicMaterial());
    for (const part of [rest, line]) {
      part.frustumCulled = false;
      this.trailGroup.add(part);
    }
    this.trailLines.push({ line, rest, trail });
    this.paint();
    this.update();
  }

  removeTrail(trail: Trail): void {
    const at = this.trails.indexOf(trail);
    if (at < 0) return;
    this.trails.splice(at, 1);
    const [gone] = this.trailLines.splice(at, 1);
    this.trailGroup.remove(gone.line, gone.rest);
    for (const part of [gone.line, gone.rest]) {
      part.geometry.dispose();
      (part.material as LineBasicMaterial).dispose();
    }
    this.paint();
  }

  select(picked: Picked): void {
    this.selected = picked;
    this.paint();
    this.update();
  }

  /// Puts bodies and contacts where they are now.
  update(): void {
    const { time } = this.film;
    const i = this.player.index;
    const next = Math.min(i + 1, time.length - 1);
    const part = next > i ? Math.min(1, (this.player.time - time[i]) / (time[next] - time[i])) : 0;
    const p = [0, 0, 0];
    const r = [0, 0, 0];
    const q = [1, 0, 0, 0];
    const s = [1, 0, 0, 0];
    this.bodies.forEach((group, body) => {
      this.film.position(body, i, p);
      this.film.position(body, next, r);
      this.film.quaternion(body, i, q);
      this.film.quaternion(body, next, s);
      const ok = [...p, ...r, ...q, ...s].every(Number.isFinite);
      group.visible = ok;
      if (!ok) return;
      group.position.set(p[0], p[1], p[2]).lerp(new Vector3(r[0], r[1], r[2]), part);
      group.quaternion.set(q[1], q[2], q[3], q[0]).slerp(new Quaternion(s[1], s[2], s[3], s[0]), part);
    });
    if (this.following) this.goAlong();
    for (const { line } of this.trailLines) line.geometry.setDrawRange(0, i + 1);
    this.contacts = this.recording?.contactsAt(i).filter((c) => c.state !== 0 || c.normalForce > 0) ?? [];
    this.redraw();
  }

  /// Moves the camera with the selected body, or with the first.
  private goAlong(): void {
    const group = this.bodies[this.selected.body ?? 0];
    if (!group?.visible) return;
    const way = group.position.clone().sub(this.controls.target);
    this.camera.position.add(way);
    this.controls.target.add(way);
    this.camera.lookAt(this.controls.target);
  }

  private placeContacts(): void {
    const colours = palette();
    const distance = this.camera.position.distanceTo(this.controls.target);
    const dot = Math.min(0.007 * distance, 0.15 * this.grain);
    const place = new Matrix4();
    const turn = new Quaternion();
    const at = new Vector3();
    const along = new Vector3();
    const marks = this.showContacts ? this.contacts : [];
    this.marks.count = marks.length;
    marks.forEach((contact, i) => {
      const size = dot * (contact.key === this.selected.contact ? 1.8 : 1);
      place.makeScale(size, size, size).setPosition(...contact.point);
      this.marks.setMatrixAt(i, place);
      const state = (["open", "stick", "slip"] as const)[contact.state];
      this.marks.setColorAt(i, new Color(colours[state]));
    });
    this.marks.instanceMatrix.needsUpdate = true;
    if (this.marks.instanceColor) this.marks.instanceColor.needsUpdate = true;

    const large = this.recording?.largeForce ?? 0;
    const usual = Math.min(0.35 * this.radius, 3 * this.grain) * this.forceScale;
    const perNewton = large > 0 ? usual / large : 0;
    const longest = 4 * usual;
    const thick = 0.55 * dot;
    for (const { shaft, head, kind } of this.arrows) {
      let count = 0;
      for (const contact of this.showForces ? this.contacts : []) {
        const sign = this.recording!.forceIsOnA(contact.key) ? -1 : 1;
        if (kind === "normal") along.set(...contact.normal).multiplyScalar(sign * contact.normalForce);
        else along.set(...contact.friction).multiplyScalar(sign);
        const length = Math.min(longest, along.length() * perNewton);
        if (!(length > 0.5 * thick)) continue;
        turn.setFromUnitVectors(unitZ, along.normalize());
        at.set(...contact.point);
        const tip = Math.min(3.2 * thick, length);
        place.compose(at, turn, new Vector3(thick, thick, Math.max(1e-9, length - tip)));
        shaft.setMatrixAt(count, place);
        at.addScaledVector(along, length - tip);
        place.compose(at, turn, new Vector3(thick, thick, tip / 3.2));
        head.setMatrixAt(count++, place);
      }
      shaft.count = count;
      head.count = count;
      shaft.instanceMatrix.needsUpdate = true;
      head.instanceMatrix.needsUpdate = true;
    }
  }

  /// Without a graphics card, what moves is drawn coarsely, and finely once it rests.
  private hurry(): void {
    if (!this.plain) return;
    clearTimeout(this.rest);
    if (this.renderer.getPixelRatio() === 1) this.renderer.setPixelRatio(0.5);
    this.rest = window.setTimeout(() => {
      this.renderer.setPixelRatio(1);
      this.draw();
    }, 250);
  }

  redraw(): void {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => this.waiting && this.draw());
  }

  draw(): void {
    this.waiting = false;
    this.placeContacts();
    this.renderer.render(this.scene, this.camera);
  }

  image(): Promise<Blob | null> {
    this.draw();
    return new Promise((done) => this.canvas.toBlob(done, "image/png"));
  }

  private listenForPicks(): void {
    let down: [number, number] | null = null;
    this.canvas.addEventListener("pointerdown", (e) => (down = [e.clientX, e.clientY]));
    this.canvas.addEventListener("pointerup", (e) => {
      if (!down || Math.hypot(e.clientX - down[0], e.clientY - down[1]) > 5) return;
      down = null;
      this.onPick(this.pick(e.clientX, e.clientY));
    });
  }

  /// Where a contact is on the screen, in pixels of the window.
  onScreen(contact: Contact): [number, number] {
    const box = this.canvas.getBoundingClientRect();
    const at = new Vector3(...contact.point).project(this.camera);
    return [box.left + (0.5 + 0.5 * at.x) * box.width, box.top + (0.5 - 0.5 * at.y) * box.height];
  }

  private pick(x: number, y: number): Picked {
    let nearest: Contact | null = null;
    let least = 16; // pixels
    for (const contact of this.showContacts ? this.contacts : []) {
      const [cx, cy] = this.onScreen(contact);
      const distance = Math.hypot(cx - x, cy - y);
      if (distance < least) {
        least = distance;
        nearest = contact;
      }
    }
    if (nearest) return { contact: nearest.key };
    const box = this.canvas.getBoundingClientRect();
    const ray = new Raycaster();
    ray.setFromCamera(new Vector2((2 * (x - box.left)) / box.width - 1, 1 - (2 * (y - box.top)) / box.height), this.camera);
    for (const hit of ray.intersectObjects(this.meshes, false)) {
      const shape = hit.object.userData.shape as ShapeHead;
      if (shape.body < 0) continue;
      return { body: shape.body, point: this.bodies[shape.body].worldToLocal(hit.point.clone()) };
    }
    return {};
  }
}

const roundKinds = new Set(["sphere", "capsule", "cylinder", "ellipsoid"]);

/// Two of four quarters about the axis are darker, so that one sees a round body turn.
function quarter(geometry: BufferGeometry): void {
  if (geometry.hasAttribute("color")) return;
  const { array, count } = geometry.getAttribute("position");
  const shades = new Float32Array(3 * count);
  for (let i = 0; i < count; ++i) shades.fill(array[3 * i] * array[3 * i + 1] > 0 ? 0.7 : 1, 3 * i, 3 * i + 3);
  geometry.setAttribute("color", new BufferAttribute(shades, 3));
}

/// Whether there is no graphics card, and the processor draws.
function drawsSlowly(): boolean {
  const gl = document.createElement("canvas").getContext("webgl2");
  const name = gl?.getExtension("WEBGL_debug_renderer_info");
  const words = name ? String(gl!.getParameter(name.UNMASKED_RENDERER_WEBGL)) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software|basic render/i.test(words);
}

/// Seen through what is before it, so that a contact below a body shows.
function onTop(opacity: number): MeshBasicMaterial {
  return new MeshBasicMaterial({ depthTest: false, transparent: true, opacity, fog: false });
}
