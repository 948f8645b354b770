import { Chart, type Curve, type TimeWindow } from "./chart";
import { chartTools } from "./chart_card";
import { el } from "./dom";
import { short } from "./format";
import type { Player } from "./player";
import type { Recording } from "./recording";

// Where every joule is and went: what is held and what was lost so far, as areas one on
// the other. Together they are what there was at the start and what was supplied since.

export function makeEnergyCard(recording: Recording, player: Player, window: TimeWindow): HTMLElement {
  const { time } = recording;
  const n = time.length;
  const sum = (...lines: string[]) => {
    const out = new Float32Array(n);
    for (const line of lines) {
      const values = recording.ledger(line);
      for (let i = 0; i < n; ++i) out[i] += values[i];
    }
    return out;
  };
  const gravity = recording.ledger("gravity");
  let lowest = Infinity;
  for (const g of gravity) if (g < lowest) lowest = g;

  const contactDamping = sum("work_normal_damping", "work_normal_viscous", "work_normal_slip", "work_rolling");
  const slip = sum("work_friction_slip", "work_spin");
  const frictionDamping = sum("work_friction_damping", "work_friction_viscous");
  const kinds = ["damping", "slip", "viscous"];
  const elsewhere = sum(
    ...kinds.map((kind) => `work_limits_${kind}`),
    ...kinds.map((kind) => `work_joint_friction_${kind}`),
    "work_dampers",
    "work_loops",
  );
  const parts: [string, Float32Array][] = [
    ["kinetic", recording.ledger("kinetic")],
    ["gravitational", gravity.map((g) => g - lowest)],
    ["stored in springs and contacts", sum("springs", "normal", "friction", "limits", "joint_friction", "loops")],
    ["lost in impact, pressing and rolling (normal damping)", contactDamping],
    ["lost in slip", slip],
    ["lost in friction damping", frictionDamping],
    ["lost in joints and dampers", elsewhere],
  ];
  let scale = 0;
  for (const [, values] of parts) for (const v of values) if (Math.abs(v) > scale) scale = Math.abs(v);

  let base = new Float32Array(n);
  const curves: Curve[] = [];
  parts.forEach(([label, values], colour) => {
    if (!values.some((v) => Math.abs(v) > 1e-9 * scale)) return; // it plays no part
    const top = base.map((b, i) => b + values[i]);
    curves.push({ label, unit: "J", x: time, y: top, base, height: values, colour });
    base = top;
  });
  const supplied = recording.ledger("supplied");
  const begin = base.length > 0 ? base[0] - supplied[0] : 0;
  const available = supplied.map((s) => begin + s);
  curves.push({ label: "at the start and supplied since", unit: "J", x: time, y: available, dashed: true, colour: 7 });

  const stack = new Chart(
    { title: "Where the energy is, and where it went", xLabel: "time [s]", yLabel: "energy [J]", curves, overTime: true },
    player,
    window,
    280,
  );
  const residual = new Chart(
    {
      title: "Balance error",
      xLabel: "time [s]",
      yLabel: "balance error [J]",
      curves: [{ label: "balance error", unit: "J", x: time, y: recording.ledger("residual"), colour: 1 }],
      overTime: true,
    },
    player,
    window,
    130,
  );
  const { relative_residual: relative, residual_J: left } = recording.head.summary.ledger ?? {};
  const verdict =
    relative === undefined
      ? ""
      : `${short(left, 2)} J at the end; at worst ${short(Math.abs(relative), 2)} of the energy scale. ` +
        "It says how accurate the run was.";
  return el(
    "section",
    { class: "card", id: "energy" },
    el("header", {}, el("h3", {}, "Where the energy is, and where it went"), el("div", { class: "tools" }, ...chartTools(stack))),
    el("p", { class: "muted" }, "Areas add up to the dashed line, but for the balance error. Gravitational energy counts from its lowest value."),
    stack.element,
    el("header", {}, el("h4", {}, "Balance error"), el("div", { class: "tools" }, ...chartTools(residual))),
    el("p", { class: "muted" }, verdict),
    residual.element,
  );
}
