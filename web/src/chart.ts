import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { download, el, fileName } from "./dom";
import { csvCell, rounded, short, withUnit } from "./format";
import { indexAt, type Player } from "./player";
import { onTheme, palette } from "./theme";

// A chart of curves, each with its own x and y: over time or one against another, lines,
// markers or stacked areas, linear or logarithmic, with zoom, pan, legend and export.

export interface Curve {
  label: string;
  unit?: string;
  scale?: number; // of the quantity: values far below it are round-off, and drawn as 0
  x: ArrayLike<number>;
  y: ArrayLike<number>;
  times?: ArrayLike<number>; // of its points, where they are not the player's
  base?: ArrayLike<number>; // an area from here to y
  height?: ArrayLike<number>; // of the area, what the legend shows
  dashed?: boolean;
  marker?: "none" | "circle" | "square";
  line?: boolean;
  straight?: boolean; // between points it is the line between them
  colour?: number; // in the palette; else its place in the list
}

export interface Reference {
  along: "x" | "y";
  from: number;
  to: number;
  label: string;
}

export interface Range {
  low: number;
  high: number;
}

export interface ChartSpec {
  title: string;
  xLabel: string;
  yLabel: string;
  curves: Curve[];
  logX?: boolean;
  logY?: boolean;
  equal?: boolean; // a circle stays a circle
  references?: Reference[];
  xRange?: Range | null;
  yRange?: Range | null;
  overTime?: boolean; // x is the time of the player
}

/// The part of the time that all charts over time show.
export class TimeWindow {
  range: Range | null = null;
  private readonly listeners = new Set<() => void>();
  /// Returns what ends it.
  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
  set(range: Range | null): void {
    this.range = range;
    for (const listener of this.listeners) listener();
  }
}

const font = "12px system-ui, sans-serif";

export class Chart {
  readonly element: HTMLElement;
  private readonly area: HTMLElement;
  private readonly legend: HTMLElement;
  private readonly hidden = new Set<string>();
  private plot: uPlot | null = null;
  private zoom: { x: Range | null; y: Range | null } = { x: null, y: null };
  private line: HTMLElement | null = null;
  private readonly ends: ((() => void) | undefined)[];
  private values: { curve: Curve; text: HTMLElement }[] = [];

  constructor(
    public spec: ChartSpec,
    private readonly player: Player | null = null,
    private readonly window: TimeWindow | null = null,
    height = 230,
  ) {
    this.area = el("div", { class: "plot", tabindex: 0, role: "img", style: `height:${height}px` });
    this.legend = el("div", { class: "legend", role: "group", "aria-label": "Curves" });
    this.element = el("div", { class: "chart" }, this.area, this.legend);
    this.area.addEventListener("keydown", (e) => this.onKey(e));
    this.area.addEventListener("wheel", (e) => this.onWheel(e), { passive: false });
    const sizes = new ResizeObserver(() => this.rebuild());
    sizes.observe(this.area);
    this.ends = [
      () => sizes.disconnect(),
      onTheme(() => this.rebuild()),
      player?.follow(this.element, () => this.follow()),
      window?.onChange(() => this.rescale()),
    ];
    this.show(spec);
  }

  /// Lets go of everything that it listens to.
  destroy(): void {
    for (const end of this.ends) end?.();
    this.plot?.destroy();
    this.plot = null;
    this.element.remove();
  }

  show(spec: ChartSpec): void {
    this.spec = spec;
    this.zoom = { x: null, y: null };
    this.area.setAttribute(
      "aria-label",
      `${spec.title}: ${spec.curves.map((c) => c.label).join(", ")}; ${spec.yLabel} against ${spec.xLabel}. ` +
        "Plus and minus zoom, arrows pan, 0 shows all.",
    );
    this.makeLegend();
    this.rebuild();
  }

  private get curves(): Curve[] {
    return this.spec.curves.filter((c) => !this.hidden.has(c.label));
  }

  private colourOf(curve: Curve): string {
    const { series } = palette();
    const labels = [...new Set(this.spec.curves.map((c) => c.label))];
    return series[(curve.colour ?? labels.indexOf(curve.label)) % series.length];
  }

  private makeLegend(): void {
    this.legend.replaceChildren();
    this.values = [];
    const seen = new Set<string>();
    for (const curve of this.spec.curves) {
      if (!curve.label || seen.has(curve.label)) continue;
      seen.add(curve.label);
      const text = el("span", { class: "value" });
      const look = curve.base ? " area" : curve.line === false ? ` ${curve.marker}` : curve.dashed ? " dashed" : "";
      const swatch = el("span", { class: `swatch${look}` });
      const button = el(
        "button",
        {
          type: "button",
          class: "curve",
          "data-label": curve.label,
          title: "Show or hide",
          "aria-pressed": String(!this.hidden.has(curve.label)),
          onclick: () => {
            if (!this.hidden.delete(curve.label)) this.hidden.add(curve.label);
            button.setAttribute("aria-pressed", String(!this.hidden.has(curve.label)));
            this.rebuild();
          },
        },
        swatch,
        curve.label,
        text,
      );
      this.legend.append(button);
      if (this.player) this.values.push({ curve, text });
    }
    this.paintLegend();
  }

  private paintLegend(): void {
    const seen = new Map(this.spec.curves.map((c) => [c.label, c]));
    for (const button of this.legend.children) {
      const curve = seen.get(button.getAttribute("data-label") ?? "");
      if (curve) (button.firstElementChild as HTMLElement).style.color = this.colourOf(curve);
    }
  }

  // Ranges

  private extent(axis: "x" | "y", within: Range | null): Range {
    const log = axis === "x" ? this.spec.logX : this.spec.logY;
    let low = Infinity;
    let high = -Infinity;
    const take = (v: number) => {
      if (!Number.isFinite(v) || (log && v <= 0)) return;
      if (v < low) low = v;
      if (v > high) high = v;
    };
    for (const curve of this.curves) {
      const list = axis === "x" ? curve.x : curve.y;
      for (let i = 0; i < list.length; ++i) {
        // Neighbours of the window count: lines to them cross it.
        const from = Math.min(curve.x[i], curve.x[Math.min(i + 1, list.length - 1)], curve.x[Math.max(i - 1, 0)]);
        const to = Math.max(curve.x[i], curve.x[Math.min(i + 1, list.length - 1)], curve.x[Math.max(i - 1, 0)]);
        if (within && !(to >= within.low && from <= within.high)) continue;
        take(list[i]);
        if (axis === "y" && curve.base) take(curve.base[i]);
      }
    }
    for (const reference of this.spec.references ?? []) {
      if (reference.along === axis && !within) [reference.from, reference.to].forEach(take);
    }
    if (low > high) return log ? { low: 0.1, high: 10 } : { low: 0, high: 1 };
    if (log) return low === high ? { low: low / 10, high: high * 10 } : { low: low / 1.2, high: high * 1.2 };
    if (axis === "x" && this.spec.overTime) return low === high ? { low, high: low + 1 } : { low, high };
    const scale = axis === "y" ? this.scaleOf() : 0;
    if (rounded(low, scale) === 0 && rounded(high, scale) === 0) low = high = 0;
    const room = low === high ? (low === 0 ? scale || 1 : 0.1 * Math.abs(low)) : 0.05 * (high - low);
    return { low: low - room, high: high + room };
  }

  /// The largest scale of the curves with a unit, or of all of them.
  private scaleOf(unit?: string): number {
    const curves = this.curves.filter((c) => unit === undefined || c.unit === unit);
    return Math.max(0, ...curves.map((c) => c.scale ?? 0));
  }

  private ranges(): { x: Range; y: Range } {
    const { spec } = this;
    const zoomed = spec.overTime && this.window ? this.window.range : this.zoom.x;
    let x = zoomed ?? spec.xRange ?? this.extent("x", null);
    let y = this.zoom.y ?? (zoomed && !this.zoom.y ? this.extent("y", zoomed) : null) ?? spec.yRange ?? this.extent("y", null);
    if (spec.equal && this.plot) {
      const { width, height } = this.plot.bbox;
      const unit = Math.max((x.high - x.low) / width, (y.high - y.low) / height);
      x = about(x, unit * width);
      y = about(y, unit * height);
    }
    return { x, y };
  }

  private rescale(): void {
    if (!this.plot) return;
    const { x, y } = this.ranges();
    this.plot.batch(() => {
      this.plot!.setScale("x", { min: x.low, max: x.high });
      this.plot!.setScale("y", { min: y.low, max: y.high });
    });
    this.follow();
  }

  setZoom(x: Range | null, y: Range | null): void {
    if (this.spec.overTime && this.window) {
      this.zoom.y = y;
      this.window.set(x);
    } else {
      this.zoom = { x, y };
      this.rescale();
    }
  }

  resetZoom(): void {
    this.setZoom(null, null);
  }

  get zoomed(): boolean {
    return (this.spec.overTime && this.window ? this.window.range : this.zoom.x) !== null || this.zoom.y !== null;
  }

  /// By a factor about a place of the plot, 0 to 1; and moved by parts of it.
  private change(factor: number, moveX: number, moveY: number, at: [number, number] = [0.5, 0.5]): void {
    if (!this.plot) return;
    const { x, y } = this.ranges();
    const next = (range: Range, log: boolean | undefined, place: number, move: number): Range => {
      const [low, high] = log ? [Math.log(range.low), Math.log(range.high)] : [range.low, range.high];
      const span = high - low;
      const middle = low + place * span;
      const out = [middle - place * span * factor + move * span, middle + (1 - place) * span * factor + move * span];
      return log ? { low: Math.exp(out[0]), high: Math.exp(out[1]) } : { low: out[0], high: out[1] };
    };
    const keepY = this.spec.overTime && moveY === 0;
    this.setZoom(next(x, this.spec.logX, at[0], moveX), keepY ? this.zoom.y : next(y, this.spec.logY, at[1], moveY));
  }

  private onKey(e: KeyboardEvent): void {
    const done: Record<string, () => void> = {
      "+": () => this.change(0.7, 0, 0),
      "=": () => this.change(0.7, 0, 0),
      "-": () => this.change(1 / 0.7, 0, 0),
      "0": () => this.resetZoom(),
      ArrowLeft: () => this.change(1, -0.2, 0),
      ArrowRight: () => this.change(1, 0.2, 0),
      ArrowUp: () => this.change(1, 0, 0.2),
      ArrowDown: () => this.change(1, 0, -0.2),
    };
    if (e.ctrlKey || e.altKey || e.metaKey || !(e.key in done)) return;
    e.preventDefault();
    e.stopPropagation();
    done[e.key]();
  }

  private onWheel(e: WheelEvent): void {
    if (!this.plot || !(e.ctrlKey || e.shiftKey)) return; // the page scrolls otherwise
    e.preventDefault();
    const box = this.plot.over.getBoundingClientRect();
    const at: [number, number] = [(e.clientX - box.left) / box.width, 1 - (e.clientY - box.top) / box.height];
    this.change(Math.exp(Math.sign(e.deltaY || e.deltaX) * 0.2), 0, 0, at);
  }

  /// Draws it as large as its place is now.
  redraw(): void {
    this.rebuild();
  }

  // Drawing

  private rebuild(): void {
    const width = this.area.clientWidth;
    const height = this.area.clientHeight;
    this.paintLegend();
    if (width < 40 || height < 40) return;
    this.plot?.destroy();
    this.plot = null;
    const colours = palette();
    const { x, y } = this.ranges();
    // The library wants at least one curve.
    const shown = this.curves.length > 0 ? this.curves : [{ label: "", x: [], y: [] }];
    const axis = (label: string, log: boolean | undefined, side: number): uPlot.Axis => ({
      label,
      side,
      font,
      labelFont: font,
      labelSize: 22,
      size: side === 3 ? (_u, texts) => Math.max(62, 34 + 7 * Math.max(0, ...(texts ?? []).map((t) => t.length))) : 34,
      gap: 4,
      stroke: colours.muted,
      grid: { stroke: colours.grid, width: 1 },
      ticks: { stroke: colours.grid, width: 1 },
      values: (_, splits) => axisTexts(splits, log),
      ...(log
        ? {
            splits: (_u: uPlot, _i: number, low: number, high: number) => logSplits(low, high),
            filter: (_u: uPlot, splits: number[]) => splits, // all of them, not the powers of ten alone
          }
        : {}),
    });
    const options: uPlot.Options = {
      mode: 2,
      width,
      height,
      legend: { show: false },
      focus: { alpha: 1 },
      cursor: {
        points: { show: false },
        x: true,
        y: !this.spec.overTime,
        drag: { x: true, y: !this.spec.overTime, setScale: false, uni: 25, dist: 4 },
        bind: {
          mousedown: (_u, _t, handler) => (e: MouseEvent) => (e.shiftKey ? this.pan(e) : handler(e)),
          dblclick: () => () => (this.resetZoom(), null),
        },
        dataIdx: () => 0,
      },
      scales: {
        x: { time: false, distr: this.spec.logX ? 3 : 1, range: () => [x.low, x.high] },
        y: { distr: this.spec.logY ? 3 : 1, range: () => [y.low, y.high] },
      },
      axes: [axis(this.spec.xLabel, this.spec.logX, 2), axis(this.spec.yLabel, this.spec.logY, 3)],
      series: [
        {},
        ...shown.map(
          (curve): uPlot.Series => ({
            label: curve.label,
            facets: [
              { scale: "x", auto: false },
              { scale: "y", auto: false },
            ],
            points: { show: false },
            paths: (u) => (this.drawCurve(u, curve), null),
          }),
        ),
      ],
      hooks: {
        drawAxes: [(u) => this.drawReferences(u)],
        setSelect: [(u) => this.selected(u)],
      },
    };
    const data = [null, ...shown.map((c) => [c.x, c.y])] as unknown as uPlot.AlignedData;
    this.plot = new uPlot(options, data, this.area);
    this.line = null;
    if (this.player) {
      this.line = el("div", { class: this.spec.overTime ? "now" : "now dot" });
      this.plot.over.append(this.line);
      this.listenForSeeking(this.plot.over);
    }
    this.rescale();
  }

  private drawCurve(u: uPlot, curve: Curve): void {
    const pen = u.ctx;
    const { left, top, width, height } = u.bbox;
    const toX = (v: number) => u.valToPos(v, "x", true);
    const toY = (v: number) => u.valToPos(v, "y", true);
    const ratio = devicePixelRatio;
    pen.save();
    pen.beginPath();
    pen.rect(left, top, width, height);
    pen.clip();
    const colour = this.colourOf(curve);
    pen.strokeStyle = colour;
    pen.fillStyle = colour;
    pen.lineWidth = 1.6 * ratio;
    pen.lineJoin = "round";
    if (curve.base) {
      this.drawArea(pen, curve, toX, toY);
    } else if (curve.line !== false) {
      pen.setLineDash(curve.dashed ? [6 * ratio, 4 * ratio] : []);
      pen.stroke(linePath(curve, toX, toY, this.spec.logX, this.spec.logY));
      pen.setLineDash([]);
    }
    if (curve.marker && curve.marker !== "none") {
      const size = 3 * ratio;
      for (let i = 0; i < curve.x.length; ++i) {
        const x = toX(curve.x[i]);
        const y = toY(curve.y[i]);
        if (!Number.isFinite(x) || !Number.isFinite(y)) continue;
        pen.beginPath();
        if (curve.marker === "circle") pen.arc(x, y, size, 0, 2 * Math.PI);
        else pen.rect(x - size, y - size, 2 * size, 2 * size);
        pen.fill();
      }
    }
    pen.restore();
  }

  private drawArea(pen: CanvasRenderingContext2D, curve: Curve, toX: (v: number) => number, toY: (v: number) => number): void {
    const base = curve.base!;
    const n = curve.x.length;
    pen.beginPath();
    for (let i = 0; i < n; ++i) pen.lineTo(toX(curve.x[i]), toY(curve.y[i]));
    for (let i = n - 1; i >= 0; --i) pen.lineTo(toX(curve.x[i]), toY(base[i]));
    pen.closePath();
    pen.globalAlpha = 0.75;
    pen.fill();
  }

  private drawReferences(u: uPlot): void {
    const colours = palette();
    const pen = u.ctx;
    const { left, top, width, height } = u.bbox;
    pen.save();
    pen.beginPath();
    pen.rect(left, top, width, height);
    pen.clip();
    pen.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
    for (const { along, from, to, label } of this.spec.references ?? []) {
      const a = u.valToPos(from, along, true);
      const b = u.valToPos(to, along, true);
      pen.strokeStyle = colours.muted;
      pen.fillStyle = colours.muted;
      pen.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
      if (from === to) {
        pen.beginPath();
        pen.moveTo(along === "x" ? a : left, along === "x" ? top : a);
        pen.lineTo(along === "x" ? a : left + width, along === "x" ? top + height : a);
        pen.stroke();
      } else {
        pen.globalAlpha = 0.15;
        if (along === "x") pen.fillRect(Math.min(a, b), top, Math.abs(b - a), height);
        else pen.fillRect(left, Math.min(a, b), width, Math.abs(b - a));
        pen.globalAlpha = 1;
      }
      pen.setLineDash([]);
      if (!label) continue;
      pen.fillStyle = colours.text;
      pen.textAlign = along === "x" ? "left" : "right";
      const gap = 4 * devicePixelRatio;
      if (along === "x") pen.fillText(label, Math.max(a, b) + gap, top + 12 * devicePixelRatio);
      else pen.fillText(label, left + width - gap, Math.min(a, b) - gap);
    }
    pen.restore();
  }

  // Pointers

  private selected(u: uPlot): void {
    const { left, top, width, height } = u.select;
    if (width < 4 && height < 4) return;
    const at = (pixel: number, scale: string) => u.posToVal(pixel, scale);
    const x = width >= 4 ? { low: at(left, "x"), high: at(left + width, "x") } : this.ranges().x;
    const all = height < 4 || height >= u.over.clientHeight - 1;
    const y = all ? null : { low: at(top + height, "y"), high: at(top, "y") };
    u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.setZoom(x, y);
  }

  private pan(start: MouseEvent): null {
    const { x, y } = this.ranges();
    const box = this.plot!.over.getBoundingClientRect();
    const move = (e: MouseEvent) => {
      const dx = ((start.clientX - e.clientX) / box.width) * (x.high - x.low);
      const dy = this.spec.overTime ? 0 : ((e.clientY - start.clientY) / box.height) * (y.high - y.low);
      this.setZoom({ low: x.low + dx, high: x.high + dx }, this.spec.overTime ? this.zoom.y : { low: y.low + dy, high: y.high + dy });
    };
    addEventListener("mousemove", move);
    addEventListener("mouseup", () => removeEventListener("mousemove", move), { once: true });
    return null;
  }

  private listenForSeeking(over: HTMLElement): void {
    if (!this.spec.overTime) return;
    const seek = (clientX: number) => {
      const box = over.getBoundingClientRect();
      this.player!.pause();
      this.player!.seek(this.plot!.posToVal(clientX - box.left, "x"));
    };
    let down = NaN;
    over.addEventListener("mousedown", (e) => (down = e.shiftKey ? NaN : e.clientX));
    over.addEventListener("mouseup", (e) => Math.abs(e.clientX - down) < 4 && seek(e.clientX));
    over.addEventListener("touchmove", (e) => e.touches.length === 1 && seek(e.touches[0].clientX), { passive: true });
  }

  /// Puts the cursor, and the values beside the names, to the time.
  private follow(): void {
    const { player, plot } = this;
    if (!player || !plot) return;
    for (const { curve, text } of this.values) {
      const list = curve.height ?? curve.y;
      const i = this.spec.overTime ? indexAt(curve.x, player.time) : curve.times ? indexAt(curve.times, player.time) : player.index;
      const value = curve.straight && this.spec.overTime ? between(curve.x, list, i, player.time) : list[i];
      text.textContent = withUnit(rounded(value, this.scaleOf(curve.unit)), curve.unit ?? "");
    }
    if (!this.line) return;
    const curve = this.spec.curves[0];
    const i = player.index;
    const x = plot.valToPos(this.spec.overTime ? player.time : curve?.x[i], "x");
    const y = this.spec.overTime || !curve ? 0 : plot.valToPos(curve.y[i], "y");
    const { width, height } = plot.bbox; // asking the page would make it lay itself out
    const inside = x >= -1 && x * devicePixelRatio <= width + 1 && y >= -1 && y * devicePixelRatio <= height + 1;
    this.line.hidden = !inside;
    if (inside) this.line.style.transform = `translate(${x}px, ${y}px)`;
  }

  // Export

  csv(): string {
    const { curves } = this;
    const together = curves.every((c) => c.x === curves[0].x);
    const named = (c: Curve) => csvCell(c.unit && c.unit !== "1" ? `${c.label} [${c.unit}]` : c.label);
    const rows: string[] = [];
    if (together && curves.length > 0) {
      rows.push([csvCell(this.spec.xLabel), ...curves.map(named)].join(","));
      for (let i = 0; i < curves[0].x.length; ++i) {
        rows.push([curves[0].x[i], ...curves.map((c) => (c.height ?? c.y)[i])].map(digits).join(","));
      }
    } else {
      rows.push(`curve,${csvCell(this.spec.xLabel)},${csvCell(this.spec.yLabel)}`);
      for (const c of curves) for (let i = 0; i < c.x.length; ++i) rows.push([named(c), digits(c.x[i]), digits(c.y[i])].join(","));
    }
    return `${rows.join("\n")}\n`;
  }

  saveCsv(): void {
    download(`${fileName(this.spec.title)}.csv`, new Blob([this.csv()], { type: "text/csv" }));
  }

  /// The chart with its title and legend.
  savePng(): void {
    if (!this.plot) return;
    const drawn = this.plot.ctx.canvas;
    const ratio = devicePixelRatio;
    const colours = palette();
    const names = [...new Map(this.curves.map((c) => [c.label, c])).values()].filter((c) => c.label);
    const canvas = el("canvas", {});
    canvas.width = drawn.width;
    const pen = canvas.getContext("2d")!;
    const line = 20 * ratio;
    pen.font = `${13 * ratio}px system-ui, sans-serif`;
    const places: [Curve, number, number][] = [];
    let x = 12 * ratio;
    let rows = names.length > 0 ? 1 : 0;
    for (const curve of names) {
      const wide = pen.measureText(curve.label).width + 44 * ratio;
      if (x > 12 * ratio && x + wide > canvas.width) {
        x = 12 * ratio;
        ++rows;
      }
      places.push([curve, x, rows]);
      x += wide;
    }
    canvas.height = drawn.height + (rows + 1.6) * line;
    pen.fillStyle = colours.background;
    pen.fillRect(0, 0, canvas.width, canvas.height);
    pen.drawImage(drawn, 0, 1.4 * line);
    pen.fillStyle = colours.text;
    pen.font = `bold ${14 * ratio}px system-ui, sans-serif`;
    pen.fillText(this.spec.title, 12 * ratio, line, canvas.width - 24 * ratio);
    pen.font = `${13 * ratio}px system-ui, sans-serif`;
    for (const [curve, left, row] of places) {
      const y = drawn.height + (1.4 + row - 0.4) * line;
      pen.fillStyle = this.colourOf(curve);
      pen.fillRect(left, y - 6 * ratio, 22 * ratio, 4 * ratio);
      pen.fillStyle = colours.text;
      pen.fillText(curve.label, left + 28 * ratio, y);
    }
    canvas.toBlob((blob) => blob && download(`${fileName(this.spec.title)}.png`, blob));
  }
}

/// On the line from point i to the next.
function between(x: ArrayLike<number>, y: ArrayLike<number>, i: number, at: number): number {
  if (i + 1 >= x.length || !(x[i + 1] > x[i]) || at < x[i]) return y[i];
  return y[i] + ((at - x[i]) / (x[i + 1] - x[i])) * (y[i + 1] - y[i]);
}

/// As many digits as single precision has.
const digits = (x: number) => String(Number(x.toPrecision(9)));

function about(range: Range, span: number): Range {
  const middle = 0.5 * (range.low + range.high);
  return { low: middle - 0.5 * span, high: middle + 0.5 * span };
}

/// A curve as a path. Where many samples fall on one pixel, the first, the least, the
/// largest and the last of them stand for all.
function linePath(curve: Curve, toX: (v: number) => number, toY: (v: number) => number, logX?: boolean, logY?: boolean): Path2D {
  const path = new Path2D();
  let open = false;
  let column = NaN;
  let least = 0;
  let largest = 0;
  let last = 0;
  const close = () => {
    if (!open || Number.isNaN(column)) return;
    if (largest !== least) {
      path.lineTo(column, least);
      path.lineTo(column, largest);
    }
    path.lineTo(column, last);
  };
  for (let i = 0; i < curve.x.length; ++i) {
    const vx = curve.x[i];
    const vy = curve.y[i];
    if (!Number.isFinite(vx) || !Number.isFinite(vy) || (logX && vx <= 0) || (logY && vy <= 0)) {
      close();
      open = false;
      column = NaN;
      continue;
    }
    const x = toX(vx);
    const y = toY(vy);
    const at = Math.round(2 * x) / 2;
    if (open && at === column) {
      least = Math.min(least, y);
      largest = Math.max(largest, y);
      last = y;
      continue;
    }
    close();
    if (open) path.lineTo(x, y);
    else path.moveTo(x, y);
    open = true;
    column = at;
    least = largest = last = y;
  }
  close();
  return path;
}

/// Powers of ten, and 2 and 5 times them where there is room.
function logSplits(low: number, high: number): number[] {
  const first = Math.floor(Math.log10(low));
  const last = Math.ceil(Math.log10(high));
  const decades = last - first;
  const step = Math.max(1, Math.ceil(decades / 8));
  const parts = decades <= 2 ? [1, 2, 5] : [1];
  const out: number[] = [];
  for (let k = first; k <= last; k += step) {
    for (const part of parts) {
      const v = part * 10 ** k;
      if (v >= low && v <= high) out.push(v);
    }
  }
  return out;
}

/// All with as many decimals as the distance between them asks for.
function axisTexts(splits: number[], log?: boolean): string[] {
  if (log || splits.length < 2) return splits.map((v) => short(v, 3));
  const size = Math.max(...splits.map(Math.abs));
  const gap = Math.abs(splits[1] - splits[0]);
  if (size >= 1e5 || size < 1e-3) {
    const digits = Math.min(8, Math.max(2, Math.ceil(Math.log10(size / gap)) + 1));
    return splits.map((v) => short(Math.abs(v) < gap * 1e-6 ? 0 : v, digits));
  }
  let decimals = 0;
  while (decimals < 10 && Math.abs(gap * 10 ** decimals - Math.round(gap * 10 ** decimals)) > 1e-6 * gap * 10 ** decimals) ++decimals;
  return splits.map((v) => v.toFixed(decimals).replace("-", "−"));
}
