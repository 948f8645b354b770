import { el, icons, tool } from "./dom";
import { timeText } from "./format";
import type { Player } from "./player";
import type { RunEvent } from "./recording";
import { onTheme, palette } from "./theme";

// Play, pause, speed, scrub, frame by frame; marks where something happened.

export const speeds = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50];

/// The next speed of the list, or the one before.
export function changeSpeed(player: Player, by: number): void {
  const at = speeds.reduce((best, s, i) => (Math.abs(s - player.speed) < Math.abs(speeds[best] - player.speed) ? i : best), 0);
  player.setSpeed(speeds[Math.min(speeds.length - 1, Math.max(0, at + by))]);
}

export function makeTransport(player: Player, events: RunEvent[], onJump: (by: number) => void): HTMLElement {
  const step = player.duration / Math.max(1, player.times.length - 1);
  const playButton = tool(icons.play, "Play", () => player.toggle(), "space");
  const slider = el("input", {
    type: "range",
    class: "scrub",
    min: 0,
    max: 1,
    step: "any",
    "aria-label": "Time",
    oninput: () => {
      player.pause();
      player.seek(player.begin + Number(slider.value) * player.duration);
    },
  });
  const marks = el("canvas", { class: "marks", "aria-hidden": "true" });
  const clock = el("output", { class: "clock", "aria-label": "Time now" });
  const speed = el(
    "select",
    { "aria-label": "Speed", title: "Speed (, and .)", onchange: () => player.setSpeed(Number(speed.value)) },
    ...speeds.map((s) => el("option", { value: s, selected: s === player.speed }, `${s}×`)),
  );

  const drawMarks = () => {
    const ratio = devicePixelRatio;
    const width = marks.clientWidth;
    const height = marks.clientHeight;
    if (width === 0) return;
    marks.width = width * ratio;
    marks.height = height * ratio;
    const pen = marks.getContext("2d")!;
    pen.scale(ratio, ratio);
    const colours = palette();
    for (const event of events) {
      const x = ((event.time - player.begin) / player.duration) * width;
      pen.fillStyle = event.kind === "slip" ? colours.slip : event.kind === "stick" ? colours.stick : colours.muted;
      const tall = event.kind === "touch" ? 1 : 0.5;
      pen.fillRect(x, height * (1 - tall), 1, height * tall);
    }
  };
  new ResizeObserver(drawMarks).observe(marks);
  onTheme(drawMarks);

  let playing: boolean | null = null;
  const refresh = () => {
    slider.value = String((player.time - player.begin) / (player.duration || 1));
    slider.setAttribute("aria-valuetext", `${timeText(player.time, step)} seconds`);
    clock.textContent = `${timeText(player.time, step)} / ${timeText(player.end, step)} s`;
    if (playing !== player.playing) {
      playing = player.playing;
      playButton.innerHTML = playing ? icons.pause : icons.play;
      playButton.setAttribute("aria-label", playing ? "Pause" : "Play");
    }
    if (Number(speed.value) !== player.speed) speed.value = String(player.speed);
  };
  player.onChange(refresh);
  refresh();

  const loop = el("input", { type: "checkbox", onchange: () => (player.loop = loop.checked) });
  return el(
    "div",
    { class: "transport", role: "group", "aria-label": "Playback" },
    el("div", { class: "track" }, slider, marks),
    el(
      "div",
      { class: "buttons" },
      tool(icons.begin, "To the beginning", () => player.seek(player.begin), "Home"),
      tool(icons.back, "One sample back", () => player.step(-1), "←"),
      playButton,
      tool(icons.forward, "One sample on", () => player.step(1), "→"),
      clock,
      el("label", { class: "field" }, el("span", {}, "Speed"), speed),
      el("label", { class: "check" }, loop, "Repeat"),
      events.length > 0 &&
        el(
          "span",
          { class: "jumps" },
          el("button", { type: "button", class: "small", title: "Previous event (p)", onclick: () => onJump(-1) }, "‹ event"),
          el("button", { type: "button", class: "small", title: "Next event (n)", onclick: () => onJump(1) }, "event ›"),
        ),
    ),
  );
}
