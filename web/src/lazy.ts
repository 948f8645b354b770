// Things that are made once they are nearly in sight, or all at once for print.

export class Lazy {
  private readonly waiting = new Map<Element, () => void>();
  private readonly watcher = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) if (entry.isIntersecting) this.make(entry.target);
    },
    { rootMargin: "400px" },
  );

  whenNear(element: Element, make: () => void): void {
    this.waiting.set(element, make);
    this.watcher.observe(element);
  }

  makeAll(): void {
    for (const element of [...this.waiting.keys()]) this.make(element);
  }

  private make(element: Element): void {
    const make = this.waiting.get(element);
    this.waiting.delete(element);
    this.watcher.unobserve(element);
    make?.();
  }
}
