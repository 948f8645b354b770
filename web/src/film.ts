import type { FilmHead, Packed } from "./data";

// Bodies in motion: where each one is in every sample.

export class Film {
  readonly head: FilmHead;
  readonly time: Float64Array;
  readonly values: Float32Array; // each number of all samples in one piece
  private readonly first: number[]; // where the position of each body begins
  private readonly turn: number[]; // and its quaternion

  constructor(readonly packed: Packed<FilmHead>, head: FilmHead = packed.head) {
    this.head = head;
    this.time = packed.f64(head.time);
    this.values = packed.f32(head.values);
    const place = (name: string) => {
      const columns = head.columns.filter((c) => c.group === "bodies" && c.name === name);
      return head.bodies.map((body) => columns.find((c) => c.owner === body)?.first ?? -1);
    };
    this.first = place("position");
    this.turn = place("quaternion");
  }

  /// The position of a body's origin at a sample, into `to`.
  position(body: number, sample: number, to: number[]): void {
    const n = this.time.length;
    for (let k = 0; k < 3; ++k) to[k] = this.values[(this.first[body] + k) * n + sample];
  }

  /// Its quaternion w, x, y, z at a sample, into `to`.
  quaternion(body: number, sample: number, to: number[]): void {
    const n = this.time.length;
    for (let k = 0; k < 4; ++k) to[k] = this.values[(this.turn[body] + k) * n + sample];
  }
}
