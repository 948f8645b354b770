import type { Player } from "./player";
import { changeSpeed } from "./transport";
import type { View } from "./view";

// What keys do wherever something is played.

export type Keys = Record<string, (e: KeyboardEvent) => void>;

export function playKeys(player: Player, view: View | null): Keys {
  return {
    " ": () => player.toggle(),
    ArrowLeft: (e) => player.step(e.shiftKey ? -10 : -1),
    ArrowRight: (e) => player.step(e.shiftKey ? 10 : 1),
    ".": () => changeSpeed(player, 1),
    ",": () => changeSpeed(player, -1),
    Home: () => player.seek(player.begin),
    End: () => player.seek(player.end),
    f: () => view?.fit(),
    a: () => view?.move(-0.15, 0, 1),
    d: () => view?.move(0.15, 0, 1),
    w: () => view?.move(0, 0.15, 1),
    s: () => view?.move(0, -0.15, 1),
    "+": () => view?.move(0, 0, 0.85),
    "-": () => view?.move(0, 0, 1 / 0.85),
  };
}
