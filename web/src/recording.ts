import type { Column, ContactKey, Law, Packed, RunHead } from "./data";
import { Film } from "./film";

// A recording as the page uses it: what moves, signals by name, contacts, events.

export interface Signal {
  id: string;
  group: string; // as the list of signals has it
  subject: string; // whose it is: a body, a contact; empty where the quantity says all
  quantity: string;
  label: string; // both
  unit: string;
  values(): Float32Array; // one per sample; not a number where there is none
  scale(): number; // of this quantity in all its directions: what is far below is round-off
}

export interface Contact {
  row: number; // in the table of contacts
  key: number;
  state: number; // 0 open, 1 stick, 2 slip
  depth: number;
  rate: number;
  normalForce: number;
  couple?: number; // size, where some contacts are patches
  friction: [number, number, number];
  slipSpeed: number;
  point: [number, number, number];
  normal: [number, number, number];
}

export interface RunEvent {
  time: number;
  kind: string;
  where: string;
  contact: number; // its key; −1 for one of a joint
  speed: number;
  unit: string;
}

export const stateNames = ["open", "stick", "slip"];

const groupNames: Record<string, string> = {
  probes: "Probes",
  joints: "Joints",
  bodies: "Bodies",
  ledger: "Energy",
  contacts: "Contacts",
};

// In words; the names are those of the recording.
const ledgerWords: Record<string, string> = {
  kinetic: "kinetic",
  gravity: "gravitational",
  springs: "in joint springs",
  normal: "stored, contact normals",
  friction: "stored, contact friction",
  limits: "stored, joint limits",
  joint_friction: "stored, joint friction",
  loops: "stored, loops",
  energy: "all energy held",
  dissipated: "dissipated so far",
  supplied: "supplied so far",
  residual: "balance error",
};

const worksOf: Record<string, string> = {
  normal: "contact normals",
  friction: "contact friction",
  limits: "joint limits",
  joint_friction: "joint friction",
};
const kindsOfWork: Record<string, string> = {
  damping: "dissipated by damping",
  slip: "dissipated by slip",
  viscous: "dissipated by viscosity",
  parametric: "work of changing parameters",
  unsupplied: "energy that no law may supply",
};
const otherWorks: Record<string, string> = {
  dampers: "dissipated in joint dampers",
  motors: "work of motors",
  loads: "work of loads",
  regenerated: "energy of re-made contact points",
  loops: "dissipated in loops and dampers between bodies",
  projection: "work of closing loops",
  numerical: "dissipated by the integrator",
  rolling: "dissipated by rolling",
  spin: "dissipated by spin",
};

/// The name of a ledger line: "contact friction, dissipated by slip" for work_friction_slip.
function ledgerName(line: string): string {
  if (line in ledgerWords) return ledgerWords[line];
  const work = line.replace(/^work_/, "");
  if (work in otherWorks) return otherWorks[work];
  const [, group, kind] = /^(.*)_([a-z]+)$/.exec(work) ?? [];
  if (group in worksOf && kind in kindsOfWork) return `${worksOf[group]}, ${kindsOfWork[kind]}`;
  return spaced(line);
}

const spaced = (name: string) => name.replaceAll("_", " ");

export class Recording {
  readonly film: Film;
  readonly time: Float64Array;
  readonly signals: Signal[] = [];
  readonly keys: ContactKey[];
  readonly keyNames: string[];
  readonly events: RunEvent[];
  readonly mostContacts: number;
  readonly other: Recording | null; // a run to show over this one
  /// Below which nine of ten normal forces stay [N]; 0 without contacts.
  readonly largeForce: number;

  private readonly start: Uint32Array;
  private readonly key: Uint32Array;
  private readonly state: Uint8Array;
  private readonly contactValues: Float32Array;
  private readonly rows: number;
  private readonly offset: Record<string, number> = {};
  private readonly cache = new Map<string, Float32Array>();

  constructor(readonly packed: Packed<RunHead>) {
    const head = packed.head;
    this.other = head.other ? new Recording(packed.part(head.other)) : null;
    this.film = new Film(packed);
    this.time = this.film.time;
    const contacts = head.contacts;
    this.keys = contacts.keys;
    this.keyNames = namesOf(contacts.keys, head.bodies);
    this.start = packed.u32(contacts.start);
    this.key = packed.u32(contacts.key);
    this.state = packed.u8(contacts.state);
    this.contactValues = packed.f32(contacts.values);
    this.rows = this.key.length;
    for (const column of contacts.columns) this.offset[column.name] = column.first;
    let most = 0;
    for (let i = 0; i + 1 < this.start.length; ++i) {
      most = Math.max(most, this.start[i + 1] - this.start[i]);
    }
    this.mostContacts = most;
    this.largeForce = this.typicalForce();
    this.events = this.readEvents();
    this.collectSignals();
  }

  get head(): RunHead {
    return this.packed.head;
  }

  contactsAt(sample: number): Contact[] {
    const list: Contact[] = [];
    for (let row = this.start[sample]; row < this.start[sample + 1]; ++row) {
      const at = (name: string, part = 0) => this.contactNumber(name, part, row);
      list.push({
        row,
        key: this.key[row],
        state: this.state[row],
        depth: at("depth"),
        rate: at("rate"),
        normalForce: at("normal_force"),
        couple: "couple" in this.offset ? Math.hypot(at("couple", 0), at("couple", 1), at("couple", 2)) : undefined,
        friction: [at("friction", 0), at("friction", 1), at("friction", 2)],
        slipSpeed: Math.hypot(at("slip_world", 0), at("slip_world", 1), at("slip_world", 2)),
        point: [at("point", 0), at("point", 1), at("point", 2)],
        normal: [at("normal", 0), at("normal", 1), at("normal", 2)],
      });
    }
    return list;
  }

  /// Whether shape b of a contact is fixed in the world, so that forces are drawn on a.
  forceIsOnA(key: number): boolean {
    return !this.head.bodies.includes(this.keys[key].body_b);
  }

  /// What a signal of another run is in this one, by its name.
  same(signal: Signal): Signal | undefined {
    return this.signals.find((s) => s.group === signal.group && s.label === signal.label);
  }

  /// What the run is called beside another one.
  get name(): string {
    return this.head.name || this.head.title;
  }

  signal(id: string): Signal | undefined {
    return this.signals.find((s) => s.id === id);
  }
  ledger(line: string): Float32Array {
    return this.signal(`ledger//${line}`)?.values() ?? new Float32Array(this.time.length);
  }
  laws(key: number): { normal: Law; friction: Law } | undefined {
    return this.head.laws[this.keys[key].laws];
  }

  private contactNumber(name: string, part: number, row: number): number {
    return this.contactValues[(this.offset[name] + part) * this.rows + row];
  }

  private typicalForce(): number {
    const forces: number[] = [];
    const stride = Math.max(1, Math.floor(this.rows / 20_000));
    for (let row = 0; row < this.rows; row += stride) {
      const force = this.contactNumber("normal_force", 0, row);
      if (force > 0) forces.push(force);
    }
    forces.sort((x, y) => x - y);
    return forces.length ? forces[Math.floor(0.9 * (forces.length - 1))] : 0;
  }

  private readEvents(): RunEvent[] {
    const { events } = this.head;
    const time = this.packed.f64(events.time);
    const kind = this.packed.u8(events.kind);
    const contact = this.packed.u32(events.contact);
    const speed = this.packed.f32(events.speed);
    const rates = new Map(this.head.columns.filter((c) => c.group === "joints" && c.name === "v").map((c) => [c.owner, c.unit.split(", ")[0]]));
    return Array.from(time, (t, i) => {
      const joint = events.joints[String(i)];
      return {
        time: t,
        kind: events.kinds[kind[i]],
        where: joint !== undefined ? `joint ${joint}` : (this.keyNames[contact[i]] ?? ""),
        contact: contact[i] < this.keys.length ? contact[i] : -1,
        speed: speed[i],
        unit: joint === undefined ? "m/s" : (rates.get(joint) ?? ""),
      };
    });
  }

  private cached(id: string, make: () => Float32Array): Float32Array {
    let values = this.cache.get(id);
    if (!values) this.cache.set(id, (values = make()));
    return values;
  }

  private add(id: string, group: string, subject: string, quantity: string, unit: string, make: () => Float32Array, scale?: () => number): void {
    const label = subject ? `${subject}${group === groupNames.contacts ? ":" : ""} ${quantity}` : quantity;
    const values = () => this.cached(id, make);
    this.signals.push({ id, group, subject, quantity, label, unit, values, scale: scale ?? (() => this.largest(id, values)) });
  }

  private readonly scales = new Map<string, number>();
  private largest(id: string, of: () => Float32Array): number {
    let scale = this.scales.get(id);
    if (scale === undefined) {
      scale = 0;
      for (const x of of()) if (Math.abs(x) > scale) scale = Math.abs(x);
      this.scales.set(id, scale);
    }
    return scale;
  }

  private collectSignals(): void {
    const order = ["probes", "joints", "bodies", "ledger"];
    const columns = [...this.head.columns].sort((a, b) => order.indexOf(a.group) - order.indexOf(b.group));
    for (const column of columns) if (column.group === "probes") this.addColumn(column);
    this.keys.forEach((_, key) => this.addContact(key));
    for (const column of columns) if (column.group !== "probes") this.addColumn(column);
  }

  private addColumn(column: Column): void {
    const n = this.time.length;
    const group = groupNames[column.group];
    const units = column.unit.split(", ");
    const id = (part: string) => `${column.group}/${column.owner}/${column.name}${part ? `.${part}` : ""}`;
    const all = () => this.film.values.subarray(column.first * n, (column.first + column.width) * n);
    // The directions of a vector have the same unit, and one scale.
    const scale = () => (column.group === "ledger" ? (column.name === "residual" ? 0 : this.energyScale()) : units.length > 1 ? 0 : this.largest(id(""), all));
    for (let k = 0; k < column.width; ++k) {
      const part = column.parts[k] ?? "";
      const words =
        column.group === "ledger"
          ? ledgerName(column.name)
          : column.group === "joints"
            ? jointWord(column)
            : spaced(column.name);
      const quantity = part ? `${words} ${part}` : words;
      const at = (column.first + k) * n;
      this.add(id(part), group, column.owner, quantity, units[k] ?? units[0], () => this.film.values.subarray(at, at + n), scale);
    }
    if (column.group === "bodies" && column.name.includes("velocity")) {
      const quantity = column.name === "velocity" ? "speed" : "angular speed";
      this.add(id("size"), group, column.owner, quantity, column.unit, () => {
        const [x, y, z] = [0, 1, 2].map((k) => {
          const at = (column.first + k) * n;
          return this.film.values.subarray(at, at + n);
        });
        return Float32Array.from(x, (_, i) => Math.hypot(x[i], y[i], z[i]));
      }, scale);
    }
  }

  /// The largest of all lines of the ledger.
  private energyScale(): number {
    const lines = this.head.columns.filter((c) => c.group === "ledger");
    const n = this.time.length;
    return this.largest("ledger", () => {
      const from = Math.min(...lines.map((c) => c.first));
      return this.film.values.subarray(from * n, (from + lines.length) * n);
    });
  }

  private addContact(key: number): void {
    const name = this.keyNames[key];
    const prefix = `contacts/${key}`;
    const add = (what: string, unit: string, absent: number, of: (row: number) => number) =>
      this.add(`${prefix}/${what}`, groupNames.contacts, name, what, unit, () => this.gather(key, absent, of));
    add("normal force", "N", 0, (row) => this.contactNumber("normal_force", 0, row));
    add("friction force", "N", 0, (row) => this.length("friction", row));
    add("depth", "m", NaN, (row) => this.contactNumber("depth", 0, row));
    add("depth rate", "m/s", NaN, (row) => this.contactNumber("rate", 0, row));
    add("slip speed", "m/s", NaN, (row) => this.length("slip_world", row));
    add("state (0 open, 1 stick, 2 slip)", "1", 0, (row) => this.state[row]);
    if ("couple" in this.offset) {
      // of patches under volumetric laws
      add("couple", "N m", 0, (row) => this.length("couple", row));
      add("overlap volume", "m^3", NaN, (row) => this.contactNumber("volume", 0, row));
      add("section area", "m^2", NaN, (row) => this.contactNumber("area", 0, row));
    }
    const laws = this.laws(key);
    for (const side of ["normal", "friction"] as const) {
      laws?.[side].memory.forEach((m, k) => {
        add(spaced(m.name), m.unit, NaN, (row) => this.contactNumber(`${side}_memory`, k, row));
      });
    }
  }

  private length(name: string, row: number): number {
    return Math.hypot(
      this.contactNumber(name, 0, row),
      this.contactNumber(name, 1, row),
      this.contactNumber(name, 2, row),
    );
  }

  /// A number of one contact over all samples.
  private gather(key: number, absent: number, of: (row: number) => number): Float32Array {
    const out = new Float32Array(this.time.length).fill(absent);
    for (let i = 0; i < out.length; ++i) {
      for (let row = this.start[i]; row < this.start[i + 1]; ++row) {
        if (this.key[row] === key) out[i] = of(row);
      }
    }
    return out;
  }
}

function jointWord(column: Column): string {
  const rotary = column.unit.startsWith("rad");
  if (column.name === "q") return rotary ? "angle" : "position";
  return rotary ? "angular velocity" : "velocity";
}

/// "ball – floor": what moves first; numbered where a pair touches in several places; with
/// the body before a shape that is called otherwise.
function namesOf(keys: ContactKey[], bodies: string[]): string[] {
  const moving = new Set(bodies);
  const side = (body: string, shape: string) =>
    !moving.has(body) || shape.startsWith(body) ? shape : `${body} ${shape}`;
  const names = keys.map((k) => {
    const sides = [side(k.body_a, k.a), side(k.body_b, k.b)];
    if (!moving.has(k.body_a) && moving.has(k.body_b)) sides.reverse();
    return sides.join(" – ");
  });
  const count = new Map<string, number>();
  for (const name of names) count.set(name, (count.get(name) ?? 0) + 1);
  const seen = new Map<string, number>();
  return names.map((name) => {
    if (count.get(name) === 1) return name;
    const number = (seen.get(name) ?? 0) + 1;
    seen.set(name, number);
    return `${name} #${number}`;
  });
}
