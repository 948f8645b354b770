// Numbers as people read them.

const superscripts = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/// To so many digits: 1234.5, 0.012, 4.9·10⁻⁷, –.
export function short(x: number | null | undefined, digits = 4): string {
  if (x === null || x === undefined || Number.isNaN(x)) return "–";
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size >= 1e-3 && size < 1e6) return minus(String(Number(x.toPrecision(digits))));
  const [mantissa, exponent] = x.toExponential(digits - 1).split("e");
  const power = Number(exponent);
  const raised = [...String(Math.abs(power))].map((c) => superscripts[Number(c)]).join("");
  return `${minus(String(Number(mantissa)))}·10${power < 0 ? "⁻" : ""}${raised}`;
}

const minus = (text: string) => text.replace("-", "−");

/// With its unit; plain numbers have none.
export function withUnit(x: number | null | undefined, unit: string, digits = 4): string {
  return unit && unit !== "1" ? `${short(x, digits)} ${unit}` : short(x, digits);
}

/// A time with as many decimals as a step of the recording asks for.
export function timeText(t: number, step: number): string {
  const decimals = Math.min(9, Math.max(2, Math.ceil(-Math.log10(Math.max(step, 1e-9)))));
  return minus(t.toFixed(decimals));
}

export function csvCell(text: string): string {
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/// A length in the unit that suits it: 2 cm, 0.5 mm.
export function lengthText(metres: number): string {
  const units: [number, string][] = [[1, "m"], [1e-2, "cm"], [1e-3, "mm"], [1e-6, "µm"], [1e-9, "nm"]];
  const [size, unit] = units.find(([s]) => metres >= s * (1 - 1e-9)) ?? units[4];
  return `${short(metres / size)} ${unit}`;
}

/// Below this part of the scale of what it stands beside, a number is what rounding left.
const roundOff = 1e-9;

/// 0 for what rounding left.
export function rounded(x: number, scale: number): number {
  return Math.abs(x) < roundOff * scale ? 0 : x;
}
