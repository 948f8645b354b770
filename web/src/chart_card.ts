import { Chart, type ChartSpec, type Curve, type TimeWindow } from "./chart";
import { chooseSignal } from "./dialogs";
import { el, icons, tool } from "./dom";
import type { Player } from "./player";
import type { Recording, Signal } from "./recording";

// A chart whose signals the person chooses, over time or against another signal.

export function chartTools(chart: Chart): HTMLElement[] {
  const small = (text: string, title: string, onclick: () => void) =>
    el("button", { type: "button", class: "small", title, onclick }, text);
  return [
    small("Whole range", "Show all again (double-click, 0)", () => chart.resetZoom()),
    small("CSV", "Save the numbers of this chart", () => chart.saveCsv()),
    small("PNG", "Save a picture of this chart", () => chart.savePng()),
  ];
}

export class ChartCard {
  readonly element: HTMLElement;
  private readonly chart: Chart;
  private readonly title = el("h3", {});

  constructor(
    private readonly recording: Recording,
    player: Player,
    window: TimeWindow,
    private signals: Signal[],
    private against: Signal | null,
    remove: (card: ChartCard) => void,
  ) {
    this.chart = new Chart(this.spec(), player, window);
    const axis = el("button", { type: "button", class: "small", onclick: () => this.chooseAxis() }, "Against …");
    axis.title = "Draw against another signal in place of the time";
    this.element = el(
      "section",
      { class: "card chart-card" },
      el(
        "header",
        {},
        this.title,
        el(
          "div",
          { class: "tools" },
          el("button", { type: "button", class: "small", title: "One more curve", onclick: () => this.addSignal() }, "Add signal"),
          axis,
          ...chartTools(this.chart),
          tool(icons.close, "Remove this chart", () => remove(this)),
        ),
      ),
      this.chart.element,
    );
    this.refresh();
  }

  private spec(): ChartSpec {
    const { signals, against } = this;
    const named = (s: Signal) => (s.unit && s.unit !== "1" ? `${s.quantity} [${s.unit}]` : s.quantity);
    const units = [...new Set(signals.map((s) => (s.unit === "1" ? "–" : s.unit)))];
    const quantities = [...new Set(signals.map(named))];
    const x = against ? against.values() : this.recording.time;
    const curves: Curve[] = signals.map((s, colour) => ({ label: s.label, unit: s.unit, x, y: s.values(), scale: s.scale(), colour }));
    curves.push(...this.otherCurves());
    return {
      title: titleOf(signals, against),
      xLabel: against ? named(against) : "time [s]",
      yLabel: quantities.length === 1 ? quantities[0] : `[${units.join(", ")}]`,
      curves,
      overTime: !against,
    };
  }

  /// The same signals of the run that is shown over this one, dashed.
  private otherCurves(): Curve[] {
    const { other } = this.recording;
    if (!other) return [];
    const against = this.against && other.same(this.against);
    if (this.against && !against) return [];
    const x = against ? against.values() : other.time;
    return this.signals.flatMap((signal, colour) => {
      const same = other.same(signal);
      if (!same) return [];
      return [{ label: `${signal.label}, ${other.name}`, unit: same.unit, x, y: same.values(), scale: same.scale(), colour, dashed: true, times: other.time }];
    });
  }

  remove(): void {
    this.chart.destroy();
    this.element.remove();
  }

  private refresh(): void {
    const spec = this.spec();
    this.title.textContent = spec.title;
    this.chart.show(spec);
  }

  private addSignal(): void {
    const free = this.recording.signals.filter((s) => !this.signals.includes(s));
    chooseSignal("Add a signal", free, (signal) => {
      this.signals = [...this.signals, signal];
      this.refresh();
    });
  }

  private chooseAxis(): void {
    const choose = (signal: Signal | null) => {
      this.against = signal;
      this.refresh();
    };
    chooseSignal("Draw against", this.recording.signals, choose, ["time", () => choose(null)]);
  }
}

/// "ball – floor: normal force against depth"; of many signals the first ones.
function titleOf(signals: Signal[], against: Signal | null): string {
  if (signals.length === 0) return "No signal chosen";
  const most = 3;
  const { subject } = signals[0];
  const together = subject !== "" && signals.length > 1 && signals.every((s) => s.subject === subject);
  const names = signals.slice(0, most).map((s) => (together ? s.quantity : s.label));
  const more = signals.length > most ? ` and ${signals.length - most} more` : "";
  const ordinate = against && (against.subject === subject ? against.quantity : against.label);
  return `${together ? `${subject}: ` : ""}${names.join(", ")}${more}${ordinate ? ` against ${ordinate}` : ""}`;
}
