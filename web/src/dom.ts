// Elements in one call: el("button", { class: "tool", onclick: f }, "Play").

type Attributes = Record<string, unknown>;
type Child = Node | string | null | undefined | false;

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on") && typeof value === "function") {
      element.addEventListener(name.slice(2), value as EventListener);
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  append(element, ...children);
  return element;
}

export function append(to: Element, ...children: Child[]): void {
  for (const child of children) {
    if (child !== null && child !== undefined && child !== false) to.append(child);
  }
}

/// A button that shows a drawing and says what it does.
export function tool(icon: string, label: string, onclick: () => void, key = ""): HTMLButtonElement {
  const title = key ? `${label} (${key})` : label;
  const button = el("button", { class: "tool", type: "button", title, "aria-label": label, onclick });
  button.innerHTML = icon;
  return button;
}

const drawn = (path: string) =>
  `<svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true" fill="none" stroke="currentColor" ` +
  `stroke-width="2" stroke-linecap="round" stroke-linejoin="round">${path}</svg>`;

export const icons = {
  play: drawn('<path d="M7 4v16l13-8z" fill="currentColor"/>'),
  pause: drawn('<path d="M8 5v14M16 5v14" stroke-width="4"/>'),
  back: drawn('<path d="M18 5v14L9 12zM6 5v14"/>'),
  forward: drawn('<path d="M6 5v14l9-7zM18 5v14"/>'),
  begin: drawn('<path d="M19 5v14l-7-7zM12 5v14l-7-7zM4 5v14"/>'),
  theme: drawn('<circle cx="12" cy="12" r="8"/><path d="M12 4a8 8 0 0 1 0 16z" fill="currentColor"/>'),
  help: drawn('<circle cx="12" cy="12" r="9"/><path d="M9.5 9.5a2.5 2.5 0 1 1 3.6 2.2c-.8.4-1.1.9-1.1 1.8M12 17h.01"/>'),
  fit: drawn('<path d="M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5"/>'),
  close: drawn('<path d="M6 6l12 12M18 6L6 18"/>'),
  add: drawn('<path d="M12 5v14M5 12h14"/>'),
  image: drawn('<rect x="4" y="5" width="16" height="14" rx="2"/><path d="M4 16l5-5 4 4 3-3 4 4"/>'),
};

/// Hands a file to the person.
export function download(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = el("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

export function fileName(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 60) || "bristle";
}
