import { el, icons, tool } from "./dom";
import { toggleTheme } from "./theme";

export function pageHeader(title: string, note: string, help: () => void): HTMLElement {
  return el(
    "header",
    { class: "page" },
    el("div", {}, el("h1", {}, title), note ? el("p", { class: "muted" }, note) : ""),
    el(
      "div",
      { class: "tools" },
      tool(icons.theme, "Light or dark", toggleTheme, "t"),
      tool(icons.help, "Keys and gestures", help, "?"),
    ),
  );
}
