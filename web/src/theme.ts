// Light or dark, as the system has it until the person chooses. Colours are told apart by
// people who see few of them (after Okabe & Ito 2008), and have a contrast of at least 3
// to 1 with the background.

export interface Palette {
  background: string;
  ground: string;
  text: string;
  muted: string;
  grid: string;
  cursor: string;
  series: string[];
  bodies: string[];
  world: string;
  stick: string;
  slip: string;
  open: string;
  normal: string;
  friction: string;
}

const light: Palette = {
  background: "#ffffff",
  ground: "#eef1f4",
  text: "#1c2328",
  muted: "#56616b",
  grid: "#dfe4e8",
  cursor: "#1c2328",
  series: ["#0072b2", "#c75000", "#00805c", "#a8558a", "#94720a", "#8a4b2f", "#6a4c93", "#5c5c5c"],
  bodies: ["#e08a3c", "#4f9fd0", "#3fae8a", "#d9b93a", "#5b7fc4", "#d0694c", "#c48bb0"],
  world: "#b6bec6",
  stick: "#0072b2",
  slip: "#d55e00",
  open: "#8a949d",
  normal: "#00805c",
  friction: "#b0388a",
};

const dark: Palette = {
  background: "#14181c",
  ground: "#20262c",
  text: "#e8ecef",
  muted: "#a3adb6",
  grid: "#2e363e",
  cursor: "#f2f4f6",
  series: ["#58b4f0", "#ff9248", "#33cc9c", "#e79cc9", "#e8c14a", "#d09a74", "#b79ce6", "#b8b8b8"],
  bodies: ["#e08a3c", "#5aa9da", "#46b894", "#d9b93a", "#7195da", "#dc775a", "#cf98bc"],
  world: "#5d6872",
  stick: "#58b4f0",
  slip: "#ff9248",
  open: "#8a949d",
  normal: "#33cc9c",
  friction: "#f07cc6",
};

type Name = "light" | "dark";

const system = matchMedia("(prefers-color-scheme: dark)");
let chosen: Name | null = null;
const listeners = new Set<() => void>();

export const themeName = (): Name => chosen ?? (system.matches ? "dark" : "light");
export const palette = (): Palette => (themeName() === "dark" ? dark : light);

/// Returns what ends it.
export function onTheme(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function apply(): void {
  document.documentElement.dataset.theme = themeName();
  for (const listener of listeners) listener();
}

export function toggleTheme(): void {
  chosen = themeName() === "dark" ? "light" : "dark";
  apply();
}

export function startTheme(): void {
  system.addEventListener("change", apply);
  // What is printed is on white paper.
  let before: Name | null = null;
  addEventListener("beforeprint", () => {
    before = chosen;
    chosen = "light";
    apply();
  });
  addEventListener("afterprint", () => {
    chosen = before;
    apply();
  });
  apply();
}
