import { el, icons, tool } from "./dom";
import type { Signal } from "./recording";

// Windows over the page: shortcuts, and the choice of a signal.

function open(title: string, ...content: Node[]): HTMLDialogElement {
  const dialog = el("dialog", { "aria-label": title });
  dialog.append(
    el("header", {}, el("h2", {}, title), tool(icons.close, "Close", () => dialog.close(), "Esc")),
    ...content,
  );
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", (e) => e.target === dialog && dialog.close());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

export function showShortcuts(keys: [string, string][]): void {
  const rows = keys.map(([key, what]) =>
    el("tr", {}, el("td", {}, ...key.split(" ").map((k) => el("kbd", {}, k))), el("td", {}, what)),
  );
  open("Keys and gestures", el("table", { class: "keys" }, el("tbody", {}, ...rows)));
}

/// Lets the person choose one of the signals; what they type is looked for in all words.
export function chooseSignal(title: string, signals: Signal[], choose: (signal: Signal) => void, none?: [string, () => void]): void {
  const most = 200;
  const list = el("div", { class: "choices", role: "listbox", "aria-label": "Signals" });
  const count = el("p", { class: "muted", role: "status" });
  const search = el("input", {
    type: "search",
    placeholder: "Type a part of the name: floor force",
    "aria-label": "Find a signal",
    oninput: () => fill(),
    onkeydown: (e: KeyboardEvent) => {
      if (e.key !== "ArrowDown" && e.key !== "Enter") return;
      e.preventDefault(); // else the key would also press what is focused next
      const first = list.querySelector("button");
      if (e.key === "ArrowDown") first?.focus();
      else first?.click();
    },
  });
  list.addEventListener("keydown", (e) => {
    const buttons = [...list.querySelectorAll("button")];
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    const to = e.key === "ArrowDown" ? at + 1 : e.key === "ArrowUp" ? at - 1 : NaN;
    if (Number.isNaN(to)) return;
    e.preventDefault();
    (to < 0 ? search : buttons[Math.min(to, buttons.length - 1)]).focus();
  });
  const option = (text: string, unit: string, onclick: () => void) =>
    el(
      "button",
      { type: "button", role: "option", "aria-selected": "false", onclick: () => (dialog.close(), onclick()) },
      text,
      el("span", { class: "muted" }, unit && unit !== "1" ? ` [${unit}]` : ""),
    );
  const fill = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = signals.filter((s) => {
      const text = `${s.group} ${s.label}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
    // Names that begin as what was typed come first.
    const typed = words.join(" ");
    const rank = (s: Signal) => {
      const text = s.label.toLowerCase();
      return text === typed ? 0 : text.startsWith(typed) ? 1 : text.includes(typed) ? 2 : 3;
    };
    if (typed) fits.sort((a, b) => rank(a) - rank(b));
    list.replaceChildren();
    if (none && words.length === 0) list.append(option(none[0], "", none[1]));
    let group = "";
    for (const signal of fits.slice(0, most)) {
      if (signal.group !== group) {
        group = signal.group;
        list.append(el("div", { class: "group", role: "presentation" }, group));
      }
      list.append(option(signal.label, signal.unit, () => choose(signal)));
    }
    count.textContent = fits.length > most ? `The first ${most} of ${fits.length}; type more to find the others.` : `${fits.length} signals`;
  };
  fill();
  const dialog = open(title, search, count, list);
  dialog.classList.add("chooser");
  search.focus();
}
