import {
  BufferAttribute,
  BufferGeometry,
  Color,
  DirectionalLight,
  DoubleSide,
  Fog,
  FrontSide,
  Group,
  HemisphereLight,
  Line,
  LineBasicMaterial,
  Mesh,
  MeshLambertMaterial,
  Object3D,
  PCFShadowMap,
  PerspectiveCamera,
  Quaternion,
  Raycaster,
  Scene,
  Sphere,
  SRGBColorSpace,
  Vector2,
  Vector3,
  WebGLRenderer,
} from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { BodyFrames } from "./body_frames";
import { ContactMarks } from "./contact_marks";
import type { ShapeHead } from "./data";
import type { Film } from "./film";
import { frame, middleOf, Motion } from "./framing";
import { Grid, planePatch } from "./ground";
import { Labels } from "./labels";
import { OtherRun } from "./other_run";
import type { Player } from "./player";
import { addRods, centreOf } from "./rods";
import type { Contact, Recording } from "./recording";
import { surfaceOf } from "./surfaces";
import { onTheme, palette } from "./theme";

// The scene in three dimensions: bodies, contacts with their forces, trails.

/// A point of a body whose trail is drawn.
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

const nearlyAll = 1.04; // room around what is in view
const partWhenFollowed = 0.55; // of the picture, that what moves takes then

export class View {
  readonly canvas: HTMLCanvasElement;
  /// What a click hit, and where in the picture it was [pixels].
  onPick: (picked: Picked, at: [number, number]) => void = () => {};
  readonly marks: ContactMarks;
  readonly labels: Labels;
  following = false; // the camera goes with the selected body, or with all that moves
  selected: Picked = {};
  readonly trails: Trail[] = [];
  readonly hidden = new Set<number>(); // bodies

  private readonly renderer: WebGLRenderer;
  private readonly plain: boolean; // without shadows and fine pixels while things move
  private readonly scene = new Scene();
  private readonly camera = new PerspectiveCamera(40, 1, 0.01, 100);
  private readonly controls: OrbitControls;
  private readonly bodies: Group[] = [];
  private readonly meshes: Mesh[] = [];
  private readonly rods: Mesh[] = [];
  private readonly grids: Grid[] = [];
  private readonly frames: BodyFrames;
  private readonly other: OtherRun | null;
  private readonly trailGroup = new Group();
  private readonly trailLines: { line: Line; rest: Line; trail: Trail }[] = [];
  private readonly sun = new DirectionalLight(0xffffff, 1.6);
  private readonly motion: Motion;
  private moved = false; // the camera, by hand
  private followed: Vector3 | null = null; // where that was which the camera goes with
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
    this.labels = new Labels(host);
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.addEventListener("start", () => (this.moved = true));
    this.controls.addEventListener("change", () => {
      this.hurry();
      this.redraw();
    });
    this.marks = new ContactMarks(recording, this.scene);
    const sizes = this.balls().flatMap((list) => (list.length > 0 ? [list.reduce((all, ball) => all.union(ball), list[0].clone()).radius] : []));
    this.motion = new Motion(film, this.bounds(), sizes);
    this.other = recording?.other ? new OtherRun(recording.other.film, this.scene) : null;
    this.following = this.motion.goesFar;
    this.build();
    const { head } = film;
    const centres = head.bodies.map((_, body) => centreOf(head, body));
    this.frames = new BodyFrames(this.bodies, this.motion.bounds, centres, this.scene);
    this.scene.add(this.trailGroup, new HemisphereLight(0xffffff, 0xa0a8b0, 1.6), this.sun, this.sun.target);
    this.light();
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
    this.fit();
    this.hurry();
  }

  /// Balls around what is seen of each body, in its own frame.
  private balls(): Sphere[][] {
    const balls: Sphere[][] = this.film.head.bodies.map(() => []);
    for (const shape of this.film.head.shapes) {
      if (shape.body < 0 || shape.mesh === null || shape.kind === "plane" || shape.drawn === false) continue;
      const geometry = this.geometry(shape.mesh);
      geometry.computeBoundingSphere();
      const { center, radius } = geometry.boundingSphere!;
      const [w, x, y, z] = shape.quaternion;
      const inBody = center.clone().applyQuaternion(new Quaternion(x, y, z, w)).add(new Vector3(...shape.position));
      balls[shape.body].push(new Sphere(inBody, radius));
    }
    return balls;
  }

  /// A ball around each body; null where there is nothing to see of it.
  private bounds(): (Sphere | null)[] {
    const { anchors } = this.film.head;
    return this.balls().map((balls, body) => {
      const points = (anchors ?? []).filter((a) => a.body === body).map((a) => new Vector3(...a.point));
      const parts = [...balls, ...points.map((p) => new Sphere(p, 0))];
      if (balls.length === 0 && points.length < 2) return null;
      return parts.reduce((all, part) => all.union(part), parts[0].clone());
    });
  }

  private readonly geometries = new Map<number, BufferGeometry>();
  private geometry(mesh: number): BufferGeometry {
    let geometry = this.geometries.get(mesh);
    if (!geometry) this.geometries.set(mesh, (geometry = surfaceOf(this.film, mesh)));
    return geometry;
  }

  private build(): void {
    for (const _ of this.film.head.bodies) {
      const group = new Group();
      this.bodies.push(group);
      this.scene.add(group);
    }
    this.rods.push(...addRods(this.film.head, this.bodies, this.balls(), this.motion.grain));
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
      const geometry = shape.kind === "plane" ? planePatch(holder, this.motion) : this.geometry(shape.mesh);
      const turns = shape.body >= 0 && roundKinds.has(shape.kind);
      if (turns) quarter(geometry);
      // One looks into a cavity through its near wall.
      const side = shape.body < 0 && shape.kind !== "cavity" ? DoubleSide : FrontSide;
      const material = new MeshLambertMaterial({ side, vertexColors: turns && !shape.rgba });
      const opacity = shape.rgba?.[3] ?? 1;
      if (opacity < 1) Object.assign(material, { transparent: true, opacity, depthWrite: false });
      if (shape.kind === "plane") {
        Object.assign(material, { polygonOffset: true, polygonOffsetFactor: 2, polygonOffsetUnits: 2 });
        this.grids.push(new Grid(holder, this.motion));
      }
      if (shape.kind === "cavity") Object.assign(material, { transparent: true, opacity: 0.6, depthWrite: false });
      const mesh = new Mesh(geometry, material);
      mesh.castShadow = shape.kind !== "plane" && shape.kind !== "cavity";
      mesh.receiveShadow = true;
      mesh.userData = { shape };
      mesh.visible = shape.drawn !== false;
      this.meshes.push(mesh);
      holder.add(mesh);
    }
    if (fixed === 0) {
      const floor = new Group();
      const { centre, radius } = this.motion;
      floor.position.z = Math.min(0, centre.z - radius);
      this.scene.add(floor);
      this.grids.push(new Grid(floor, this.motion));
    }
  }

  /// Shadows with soft edges. A camera that goes along takes the sun with it.
  private light(): void {
    const { motion } = this;
    const reach = motion.goesFar ? 4 * motion.reach : 1.5 * motion.radius;
    const far = 3 * (reach + motion.radius);
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFShadowMap;
    this.sun.castShadow = !this.plain; // then once things rest
    const { shadow } = this.sun;
    const texels = this.plain ? 1024 : 2048;
    shadow.mapSize.set(texels, texels);
    shadow.radius = 4;
    shadow.intensity = 0.75;
    shadow.normalBias = (4 * reach) / texels;
    Object.assign(shadow.camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: 0.02 * far, far: 2 * far });
    this.sun.userData.distance = far;
  }

  private placeSun(): void {
    const at = this.motion.goesFar ? this.controls.target : this.motion.centre;
    const direction = new Vector3(-0.5, -0.8, 2).normalize();
    this.sun.target.position.copy(at);
    this.sun.position.copy(at).addScaledVector(direction, this.sun.userData.distance as number);
  }

  set showGrid(on: boolean) {
    for (const grid of this.grids) for (const part of grid.parts) part.visible = on;
    this.redraw();
  }

  /// Colours of the theme.
  private paint(): void {
    const colours = palette();
    const ground = new Color(colours.ground);
    this.scene.background = ground;
    this.scene.fog = new Fog(ground, 5 * this.motion.radius, 12 * this.motion.radius);
    for (const mesh of this.meshes) {
      const shape = mesh.userData.shape as ShapeHead;
      const chosen = shape.body >= 0 && shape.body === this.selected.body;
      const material = mesh.material as MeshLambertMaterial;
      const own = shape.body < 0 ? (shape.kind === "plane" ? colours.ground : colours.world) : colours.bodies[shape.body % colours.bodies.length];
      material.color.set(own);
      if (shape.rgba) material.color.setRGB(shape.rgba[0], shape.rgba[1], shape.rgba[2], SRGBColorSpace);
      material.emissive.set(chosen ? own : "#000").multiplyScalar(0.5);
    }
    this.other?.paint();
    for (const rod of this.rods) (rod.material as MeshLambertMaterial).color.set(colours.open);
    for (const grid of this.grids) for (const part of grid.parts) (part.material as LineBasicMaterial).color.set(colours.open);
    this.marks.paint();
    this.trailLines.forEach(({ line, rest }, i) => {
      (line.material as LineBasicMaterial).color.set(colours.series[i % colours.series.length]);
      (rest.material as LineBasicMaterial).color.set(colours.series[i % colours.series.length]);
    });
    this.redraw();
  }

  /// Looks at all that moves: at all its ways, or at where it is now if the camera goes along.
  fit(): void {
    const { motion } = this;
    const { away } = motion;
    const tall = Math.tan((0.5 * this.camera.fov * Math.PI) / 180);
    const along = this.following && motion.about.length > 0;
    const part = along ? partWhenFollowed : 1;
    const { target, distance } = frame(along ? motion.about : motion.balls, away, part * tall, part * tall * this.camera.aspect);
    if (along) target.add(this.middle());
    const far = nearlyAll * distance;
    this.camera.position.copy(target).addScaledVector(away, far);
    this.camera.near = far / 500;
    this.camera.far = 40 * Math.max(far, motion.radius);
    this.camera.updateProjectionMatrix();
    this.controls.target.copy(target);
    this.controls.update();
    this.moved = false;
    this.followed = null;
    if (this.following) this.goAlong();
    this.redraw();
  }

  /// Turns and zooms by keys: radians about the vertical, up or down, and a factor.
  move(turn: number, lift: number, zoom: number): void {
    this.moved = true;
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
    this.labels.resize(width, height);
    if (this.moved) this.redraw();
    else this.fit();
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
    this.followed = null;
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
      group.visible = ok && !this.hidden.has(body);
      if (!ok) return;
      group.position.set(p[0], p[1], p[2]).lerp(new Vector3(r[0], r[1], r[2]), part);
      group.quaternion.set(q[1], q[2], q[3], q[0]).slerp(new Quaternion(s[1], s[2], s[3], s[0]), part);
    });
    this.other?.update(this.player.time);
    if (this.following) this.goAlong();
    for (const { line } of this.trailLines) line.geometry.setDrawRange(0, i + 1);
    this.contacts = this.recording?.contactsAt(i).filter((c) => c.state !== 0 || c.normalForce > 0) ?? [];
    this.redraw();
  }

  /// Hides a body, or shows it again.
  hide(body: number, hidden: boolean): void {
    if (hidden) this.hidden.add(body);
    else this.hidden.delete(body);
    this.update();
  }

  /// Takes the camera along from now on, or leaves it where it is.
  follow(on: boolean): void {
    this.following = on;
    this.followed = null;
    if (on) this.goAlong();
  }

  /// Has the camera go along with a body, which comes into the middle of the picture.
  followBody(body: number): void {
    this.select({ body });
    this.followed = this.controls.target.clone();
    this.following = true;
    this.goAlong();
    this.redraw();
  }

  set showOther(on: boolean) {
    if (this.other) this.other.group.visible = on;
    this.redraw();
  }

  /// Shapes that touch, in place of what is seen instead of them.
  set showShapes(on: boolean) {
    for (const mesh of this.meshes) {
      const shape = mesh.userData.shape as ShapeHead;
      mesh.visible = on ? !shape.visual : shape.drawn !== false;
    }
    this.redraw();
  }

  /// Whether something is seen in place of shapes that touch.
  get hasVisuals(): boolean {
    return this.film.head.shapes.some((s) => s.visual || s.drawn === false);
  }

  set showCentres(on: boolean) {
    this.frames.showCentres = on;
    this.redraw();
  }

  set showFrames(on: boolean) {
    this.frames.show = on;
    this.redraw();
  }

  /// The selected body, or the middle of all that is there now.
  private middle(): Vector3 {
    const { bounds } = this.motion;
    const at = (body: number) => this.bodies[body].localToWorld((bounds[body]?.center ?? new Vector3()).clone());
    const chosen = this.selected.body;
    for (const group of this.bodies) group.updateWorldMatrix(false, false);
    if (chosen !== undefined) return at(chosen);
    const all = bounds.map((b, body) => (b && this.hasPose(body) ? at(body) : null)).filter((p) => p !== null);
    return middleOf(all);
  }

  private hasPose(body: number): boolean {
    const p = [0, 0, 0];
    this.film.position(body, this.player.index, p);
    return p.every(Number.isFinite);
  }

  /// Moves the camera as far as that has moved which it goes with.
  private goAlong(): void {
    const now = this.middle();
    if (this.followed && this.followed.distanceTo(now) > 0) {
      const way = now.clone().sub(this.followed);
      this.camera.position.add(way);
      this.controls.target.add(way);
      this.camera.lookAt(this.controls.target);
    }
    this.followed = now;
  }

  /// Of the picture, at the distance of what it looks at [m].
  private get height(): number {
    return 2 * Math.tan((0.5 * this.camera.fov * Math.PI) / 180) * this.camera.position.distanceTo(this.controls.target);
  }

  /// Without a graphics card, what moves is drawn coarsely, and finely once it rests.
  private hurry(): void {
    if (!this.plain) return;
    clearTimeout(this.rest);
    if (this.renderer.getPixelRatio() === 1) this.renderer.setPixelRatio(0.5);
    this.sun.castShadow = false;
    this.rest = window.setTimeout(() => {
      if (this.player.playing) return;
      this.renderer.setPixelRatio(1);
      this.sun.castShadow = true;
      this.draw();
    }, 600);
  }

  redraw(): void {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => this.waiting && this.draw());
  }

  draw(): void {
    this.waiting = false;
    const { height } = this;
    const drawn = this.marks.place(this.contacts, height, this.motion.grain, this.selected.contact);
    this.frames.place(height);
    for (const grid of this.grids) grid.goTo(this.controls.target);
    this.placeSun();
    this.camera.updateMatrixWorld();
    this.labels.place(drawn, this.camera, height, this.marks.perNewton, this.recording?.largeForce ?? 0);
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
      const box = this.canvas.getBoundingClientRect();
      this.onPick(this.pick(e.clientX, e.clientY), [e.clientX - box.left, e.clientY - box.top]);
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
    for (const contact of this.marks.showPoints ? this.contacts : []) {
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
    const seen = [...this.meshes, ...this.rods].filter((mesh) => mesh.visible);
    for (const hit of ray.intersectObjects(seen, false)) {
      const shape = hit.object.userData.shape as ShapeHead;
      if (shape.body < 0 || this.hidden.has(shape.body)) continue;
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
