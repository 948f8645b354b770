// What a page was given: gzip of the length of a description, the description as JSON, and
// arrays that it refers to, of which each keeps its first bytes together, then its second
// bytes, and so on (report/page.hpp).

export interface ArrayRef {
  type: "f32" | "f64" | "u32" | "u8";
  at: number;
  count: number;
}

export interface Column {
  group: "bodies" | "joints" | "ledger" | "probes" | "contacts";
  owner: string;
  name: string;
  unit: string;
  first: number;
  width: number;
  parts: string[];
}

export interface Law {
  name: string;
  parameters: { name: string; unit: string; value: number | null }[];
  memory: { name: string; unit: string }[];
}

export interface ContactKey {
  a: string;
  b: string;
  body_a: string;
  body_b: string;
  feature: number;
  laws: number;
}

export interface ShapeHead {
  name: string;
  body: number;
  kind: string;
  position: [number, number, number];
  quaternion: [number, number, number, number];
  mesh: number | null;
  drawn?: false; // something else on its body is seen in its place
  visual?: true; // seen, and touches nothing
  rgba?: [number, number, number, number]; // sRGB
}

/// What moves: enough for the three-dimensional view.
export interface FilmHead {
  bodies: string[];
  parents?: number[]; // the body that each is joined to, −1 for the world
  masses?: number[]; // of all that is welded together, at the first of them; else 0
  centres?: [number, number, number][]; // of these masses, in the body's own frame
  anchors?: { body: number; point: [number, number, number] }[]; // where joints and loops hold bodies
  meshes: { vertices: ArrayRef; normals: ArrayRef; triangles: ArrayRef }[];
  shapes: ShapeHead[];
  time: ArrayRef;
  columns: Column[];
  values: ArrayRef;
}

export interface RunSummary {
  simulated_s?: number;
  elapsed_s?: number;
  realtime_factor?: number;
  steps?: number;
  evaluations?: number;
  events?: number;
  touches?: number;
  clock?: string;
  trouble?: string;
  warnings?: string[];
  ledger?: { relative_residual?: number; residual_J?: number; scale_J?: number };
}

export interface RunHead extends FilmHead {
  kind: "run";
  title: string;
  name?: string; // what it is called beside another run
  other?: RunHead; // a run to show over this one
  about: string;
  source: string;
  scene: string;
  created: string;
  version: string;
  complete: boolean;
  status: string;
  note: string;
  summary: RunSummary;
  samples: { recorded: number; shown: number };
  laws: { normal: Law; friction: Law }[];
  contacts: {
    keys: ContactKey[];
    columns: Column[];
    normal_memory: number;
    start: ArrayRef;
    key: ArrayRef;
    episode: ArrayRef;
    state: ArrayRef;
    values: ArrayRef;
  };
  events: {
    count: number;
    kinds: string[];
    time: ArrayRef;
    kind: ArrayRef;
    contact: ArrayRef;
    speed: ArrayRef;
    joints: Record<string, string>;
  };
}

export class Packed<Head = unknown> {
  constructor(
    readonly head: Head,
    private readonly body: Uint8Array,
  ) {}

  /// A part of the description, whose arrays lie among the same bytes.
  part<Part>(head: Part): Packed<Part> {
    return new Packed(head, this.body);
  }

  f32(ref: ArrayRef): Float32Array {
    return new Float32Array(this.bytes(ref, 4));
  }
  f64(ref: ArrayRef): Float64Array {
    return new Float64Array(this.bytes(ref, 8));
  }
  u32(ref: ArrayRef): Uint32Array {
    return new Uint32Array(this.bytes(ref, 4));
  }
  u8(ref: ArrayRef): Uint8Array {
    return new Uint8Array(this.bytes(ref, 1));
  }

  private bytes(ref: ArrayRef, size: number): ArrayBuffer {
    const { at, count } = ref;
    const out = new Uint8Array(count * size);
    for (let k = 0; k < size; ++k) {
      const from = at + k * count;
      for (let i = 0, to = k; i < count; ++i, to += size) out[to] = this.body[from + i];
    }
    return out.buffer;
  }
}

export async function unpack<Head>(base64: string): Promise<Packed<Head>> {
  const letters = atob(base64.trim());
  const zipped = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; ++i) zipped[i] = letters.charCodeAt(i);
  const stream = new Blob([zipped]).stream().pipeThrough(new DecompressionStream("gzip"));
  const all = new Uint8Array(await new Response(stream).arrayBuffer());
  const length = new DataView(all.buffer).getUint32(0, true);
  const text = new TextDecoder().decode(all.subarray(4, 4 + length));
  return new Packed(JSON.parse(text) as Head, all.subarray(4 + length));
}
