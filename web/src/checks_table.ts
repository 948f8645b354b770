import { el } from "./dom";
import { short } from "./format";
import type { CheckHead, StudyHead } from "./studies_data";

// Statements with what was found here and what it is compared with.

/// So many digits that the last one is about a tenth of the tolerance.
function digitsOf(x: number, tolerance: number): number {
  if (!(tolerance > 0) || x === 0) return 12;
  const size = Math.floor(Math.log10(Math.abs(x)));
  const whole = size < 6 ? size + 1 : 0;
  return Math.min(12, Math.max(3, whole, size - Math.floor(Math.log10(tolerance)) + 2));
}

/// 10⁻⁹ for 1·10⁻⁹
const power = (text: string) => text.replace(/^1·/, "");

function referenceText({ reference, tolerance }: CheckHead): string {
  if (reference === null || tolerance === null) return short(reference);
  const round = Number(reference.toPrecision(9)) === reference;
  return short(reference, round ? 9 : digitsOf(reference, tolerance));
}

function valueText({ value, reference, tolerance, pass }: CheckHead): string {
  if (value === null || tolerance === null) return short(value, 12);
  // What ought to be nothing is noise: a power of ten that it is below.
  if (pass && reference === 0 && tolerance > 0) {
    const least = 10 ** (Math.floor(Math.log10(tolerance)) - 1);
    const exponent = Math.ceil(Math.log10(Math.max(Math.abs(value), least) * (1 - 1e-9)));
    return `< ${power(short(10 ** exponent, 1))}`;
  }
  return short(value, digitsOf(value, tolerance));
}

export const verdict = (pass: boolean) => el("span", { class: pass ? "verdict holds" : "verdict fails" }, pass ? "✓ holds" : "✗ fails");

export const held = (checks: CheckHead[]) => checks.filter((c) => c.pass).length;

/// "6 of 6 checks hold"
export function tally(checks: CheckHead[]): string {
  const n = checks.length;
  if (n === 0) return "no check applies";
  return n === 1 ? `its check ${checks[0].pass ? "holds" : "fails"}` : `${held(checks)} of ${n} checks hold`;
}

export function checksTable(studies: StudyHead[], name: string): HTMLElement {
  const heads = ["statement", "here", "reference", "tolerance", "verdict", "who says so"];
  const groups = studies.map((study) =>
    el(
      "tbody",
      {},
      el("tr", { class: "group" }, el("th", { colspan: heads.length, scope: "rowgroup" }, el("a", { href: `#${study.name}` }, study.name), ` ${study.title}`)),
      ...study.checks.map((check) => {
        const cells: (Node | string)[] = [
          check.name,
          valueText(check),
          referenceText(check),
          power(short(check.tolerance, 2)),
          verdict(check.pass),
          check.source,
        ];
        return el(
          "tr",
          { class: "statement" },
          ...cells.map((cell, i) => el("td", { "data-label": heads[i], class: i > 0 && i < 4 ? "number" : "" }, cell)),
        );
      }),
      study.checks.length === 0 && el("tr", {}, el("td", { colspan: heads.length, class: "muted" }, "No check applies to these parameters.")),
    ),
  );
  return el(
    "table",
    { class: "checks", "aria-label": `Checks of ${name}` },
    el("thead", {}, el("tr", {}, ...heads.map((text, i) => el("th", { scope: "col", class: i > 0 && i < 4 ? "number" : "" }, text)))),
    ...groups,
  );
}
