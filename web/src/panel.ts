import { Chart, type ChartSpec } from "./chart";
import { chartTools } from "./chart_card";
import type { Packed } from "./data";
import { append, el } from "./dom";
import type { Lazy } from "./lazy";
import type { Player } from "./player";
import type { PanelHead } from "./studies_data";
import { palette } from "./theme";

// A panel of a figure as a card with a chart.

/// The same label has the same colour in all panels of a figure, as far as colours go:
/// `labels` are those of the figure.
function specOf(packed: Packed<unknown>, panel: PanelHead, labels: string[]): ChartSpec {
  const units = [...panel.y_label.matchAll(/\[([^\]]+)\]/g)];
  return {
    title: panel.title,
    xLabel: panel.x_label,
    yLabel: panel.y_label,
    curves: panel.curves.map((c) => ({
      label: c.label,
      unit: units.length === 1 ? units[0][1] : "",
      x: packed.f64(c.x),
      y: packed.f64(c.y),
      dashed: c.dashed,
      marker: c.marker,
      line: c.line,
      straight: true,
      colour: labels.length <= palette().series.length ? labels.indexOf(c.label) : undefined,
    })),
    logX: panel.log_x,
    logY: panel.log_y,
    equal: panel.equal,
    references: panel.references,
    xRange: panel.x_range,
    yRange: panel.y_range,
  };
}

/// Drawn once it is nearly in sight; `made` is told of its chart. Charts over time go with a player.
export function panelCard(
  packed: Packed<unknown>,
  panel: PanelHead,
  labels: string[],
  lazy: Lazy,
  made: (chart: Chart) => void,
  player: Player | null = null,
): HTMLElement {
  const tools = el("div", { class: "tools" });
  const place = el("div", { class: "chart-place" });
  const card = el("section", { class: "card chart-card", "aria-label": panel.title }, el("header", {}, el("h5", {}, panel.title), tools), place);
  lazy.whenNear(card, () => {
    const spec = specOf(packed, panel, labels);
    spec.overTime = player !== null && panel.x_label === "time [s]";
    const chart = new Chart(spec, spec.overTime ? player : null, null, 250);
    made(chart);
    append(tools, ...chartTools(chart));
    place.append(chart.element);
    chart.redraw();
  });
  return card;
}

/// The labels of a figure's curves, each once.
export const labelsOf = (panels: PanelHead[]): string[] => [...new Set(panels.flatMap((panel) => panel.curves.map((c) => c.label)))];
