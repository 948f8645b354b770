// The one time cursor that everything on the page follows.

export class Player {
  time: number;
  playing = false;
  speed = 1;
  loop = false;
  private readonly listeners = new Set<() => void>();
  private pending = false;
  private last = 0;
  updates = 0; // how often the page was brought up to date

  constructor(readonly times: ArrayLike<number>) {
    this.time = this.begin;
  }

  get begin(): number {
    return this.times[0];
  }
  get end(): number {
    return this.times[this.times.length - 1];
  }
  get duration(): number {
    return this.end - this.begin;
  }

  /// Returns what ends it.
  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /// Calls the listener while the element can be seen, and when it comes into view.
  /// Returns what ends it.
  follow(element: Element, listener: () => void): () => void {
    let seen = true;
    const observer = new IntersectionObserver((entries) => {
      seen = entries[entries.length - 1].isIntersecting;
      if (seen) listener();
    });
    observer.observe(element);
    const end = this.onChange(() => seen && listener());
    return () => {
      observer.disconnect();
      end();
    };
  }

  /// The last sample at or before the time.
  get index(): number {
    return indexAt(this.times, this.time);
  }

  seek(time: number): void {
    const to = Math.min(this.end, Math.max(this.begin, time));
    if (to === this.time) return;
    this.time = to;
    this.changed();
  }

  /// To a sample further on, or back.
  step(by: number): void {
    this.pause();
    const at = this.index;
    const between = this.time > this.times[at] && by < 0 ? 1 : 0;
    const to = Math.min(this.times.length - 1, Math.max(0, at + by + between));
    this.seek(this.times[to]);
  }

  toggle(): void {
    if (this.playing) this.pause();
    else this.play();
  }
  play(): void {
    if (this.playing || this.duration <= 0) return;
    if (this.time >= this.end) this.time = this.begin;
    this.playing = true;
    this.last = performance.now();
    requestAnimationFrame((now) => this.tick(now));
    this.changed();
  }
  pause(): void {
    if (!this.playing) return;
    this.playing = false;
    this.changed();
  }
  setSpeed(speed: number): void {
    this.speed = speed;
    this.changed();
  }

  private tick(now: number): void {
    if (!this.playing) return;
    // A page that was asleep goes on from where it was.
    const passed = Math.min(0.25, Math.max(0, (now - this.last) / 1000));
    this.last = now;
    let to = this.time + passed * this.speed;
    if (to >= this.end) {
      if (this.loop) to = this.begin;
      else this.playing = false;
    }
    this.time = Math.min(this.end, to);
    this.changed();
    if (this.playing) requestAnimationFrame((next) => this.tick(next));
  }

  /// Brings the page up to date once per frame, however often the time changed.
  changed(): void {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      ++this.updates;
      for (const listener of this.listeners) listener();
    });
  }
}

/// The last entry of a rising list that is not above x; 0 where none is.
export function indexAt(list: ArrayLike<number>, x: number): number {
  let low = 0;
  let high = list.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (list[middle] <= x) low = middle;
    else high = middle - 1;
  }
  return low;
}
