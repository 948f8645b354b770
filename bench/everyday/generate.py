#!/usr/bin/env python3
"""Seeded everyday scenes: what people put together in their first hour.

    generate.py --seeds 200 --out DIR [--first 1] [--duration 2]

Stacks, turned stacks, walls, heaps in a bin, card houses, logs, cans and dominoes of 3 to
30 bodies; boxes, cylinders, capsules and spheres; neat, loose, turned, dropped. Contacts
are as by default, apart from the coefficient of friction. Every scene is written twice:
as NAME.toml for bristle and as NAME.xml (MJCF) for MuJoCo. The same seed gives the same
scene. `about` says "stands" where nothing but settling is expected.
"""

import argparse
import math
import pathlib
import random

from mjcf import to_mjcf


class Scene:
    """Bodies in plain dictionaries, as the TOML file has them."""

    def __init__(self, title, friction):
        self.title = title
        self.friction = friction
        self.stands = True
        self.bodies = [{"name": "floor", "fixed": True, "shapes": [{"type": "plane"}]}]

    def add(self, shape, position, rotation=(0, 0, 0), density=1000, **more):
        name = f"{shape['type']} {len(self.bodies)}"
        self.bodies.append({"name": name, "density_kg_m3": density,
                            "position_m": list(position), "rotation_deg": list(rotation),
                            **more, "shapes": [shape]})

    def add_fixed(self, name, boxes):
        shapes = [{"type": "box", "size_m": list(size), "position_m": list(position)}
                  for size, position in boxes]
        self.bodies.append({"name": name, "fixed": True, "shapes": shapes})


def box(x, y, z):
    return {"type": "box", "size_m": [x, y, z]}


def cylinder(radius, length):
    return {"type": "cylinder", "radius_m": radius, "length_m": length}


def capsule(radius, length):
    return {"type": "capsule", "radius_m": radius, "length_m": length}


def sphere(radius):
    return {"type": "sphere", "radius_m": radius}


def logarithmic(rng, least, largest):
    return math.exp(rng.uniform(math.log(least), math.log(largest)))


def some_gap(rng, scene, size):
    """Between layers: none, a hair, or a drop."""
    kind = rng.choice(["neat", "neat", "loose", "dropped"])
    scene.title += f", {kind}"
    if kind == "neat":
        return 0
    if kind == "loose":
        return logarithmic(rng, 1e-5, 1e-3) * size
    return rng.uniform(0.02, 0.2) * size


def stack(rng, scene, turned=False):
    count = rng.randint(3, 12)
    edge = logarithmic(rng, 0.03, 0.4)
    flat = rng.uniform(0.3, 1)
    shrink = rng.choice([1, 1, rng.uniform(0.85, 1)])
    off = rng.choice([0, rng.uniform(0, 0.1)]) * edge
    gap = some_gap(rng, scene, edge)
    z = 0
    for k in range(count):
        side = edge * shrink ** k
        height = side * flat
        angle = rng.uniform(-180, 180) if turned else 0
        x, y = (rng.uniform(-off, off) for _ in range(2))
        scene.add(box(side, side * rng.choice([1, 0.8]), height), (x, y, z + gap + height / 2),
                  (0, 0, angle))
        z += gap + height


def turned_stack(rng, scene):
    stack(rng, scene, turned=True)


def wall(rng, scene):
    rows = rng.randint(2, 6)
    columns = rng.randint(2, 5)
    length = logarithmic(rng, 0.06, 0.4)
    width, height = length * rng.uniform(0.4, 0.6), length * rng.uniform(0.25, 0.4)
    joint = rng.choice([0, 0, rng.uniform(0.001, 0.02)]) * length
    gap = some_gap(rng, scene, height)
    for row in range(rows):
        z = row * (height + gap) + gap + height / 2
        shift = (length + joint) / 2 * (row % 2)
        for column in range(columns - row % 2):
            scene.add(box(length, width, height),
                      (column * (length + joint) + shift, 0, z))


def some_body(rng, size):
    """Of about this half-extent, any shape."""
    kind = rng.choice(["box", "cylinder", "capsule", "sphere"])
    if kind == "box":
        return box(*(2 * size * rng.uniform(0.4, 1) for _ in range(3)))
    if kind == "cylinder":
        return cylinder(size * rng.uniform(0.4, 0.9), 2 * size * rng.uniform(0.4, 1))
    if kind == "capsule":
        return capsule(size * rng.uniform(0.3, 0.6), 2 * size * rng.uniform(0.3, 0.7))
    return sphere(size * rng.uniform(0.5, 1))


def heap(rng, scene):
    """Dropped into a bin, in layers of two by two or three by three."""
    scene.stands = False
    count = rng.randint(4, 30)
    size = logarithmic(rng, 0.02, 0.15)
    across = 2 if count < 10 else 3
    pitch = 2 * size * 1.8  # no two of them overlap, however they are turned
    inside = across * pitch
    thick, high = 0.4 * size, 2 * size * 3
    wide = inside + 2 * thick
    offset = (inside + thick) / 2
    scene.add_fixed("bin", [((thick, wide, high), (offset, 0, high / 2)),
                            ((thick, wide, high), (-offset, 0, high / 2)),
                            ((inside, thick, high), (0, offset, high / 2)),
                            ((inside, thick, high), (0, -offset, high / 2))])
    only = rng.choice([None, None, "box", "sphere", "capsule"])
    placed = 0
    layer = 0
    while placed < count:
        for k in range(across * across):
            if placed == count:
                break
            i, j = k % across, k // across
            shape = some_body(rng, size)
            while only is not None and shape["type"] != only:
                shape = some_body(rng, size)
            scene.add(shape, ((i - (across - 1) / 2) * pitch, (j - (across - 1) / 2) * pitch,
                              (0.6 + layer) * pitch),
                      [rng.uniform(-180, 180) for _ in range(3)],
                      velocity_m_s=[rng.uniform(-0.3, 0.3) for _ in range(3)])
            placed += 1
        layer += 1


def card_house(rng, scene):
    """Tents of two cards on strips of card; a corner of each touches the other's."""
    storeys = rng.randint(1, 3)
    thick = logarithmic(rng, 0.4e-3, 3e-3)
    high, wide = 0.088, 0.063
    lean = math.radians(rng.uniform(12, 22))
    scene.friction = rng.uniform(0.5, 0.9)
    a, b = thick / 2, high / 2
    reach = a * math.cos(lean) + b * math.sin(lean)  # of a card's corner from its centre
    rise = a * math.sin(lean) + b * math.cos(lean)
    pitch = 4 * reach + 2 * thick
    z = 0
    for storey in range(storeys):
        tents = storeys - storey
        for tent in range(tents):
            x = (tent - (tents - 1) / 2) * pitch
            for side in (-1, 1):
                scene.add(box(thick, wide, high), (x + side * reach, 0, z + rise),
                          (0, -side * math.degrees(lean), 0), density=900)
        z += 2 * rise
        if tents > 1:
            scene.add(box((tents - 1) * pitch + 4 * a, wide, thick), (0, 0, z + a), density=900)
            z += thick
    if storeys == 1:
        scene.add(box(4 * reach, wide, thick), (0, 0, z + a), density=900)


def logs(rng, scene):
    """A triangle of logs between posts, or crossed layers."""
    make = rng.choice([cylinder, cylinder, capsule])
    radius = logarithmic(rng, 0.02, 0.15)
    length = radius * rng.uniform(5, 12)
    if rng.random() < 0.5:
        scene.title += ", triangle"
        rows = rng.randint(2, 5)
        gap = rng.choice([0, 1e-4, 1e-2]) * radius
        pitch = 2 * radius + gap
        x = rows * pitch / 2 - gap / 2
        thick = radius / 2
        scene.add_fixed("posts", [((thick, thick, 4 * radius),
                                   (sx * (x + thick / 2 + gap / 2), sy * length / 3, 2 * radius))
                                  for sx in (-1, 1) for sy in (-1, 1)])
        for row in range(rows):
            for k in range(rows - row):
                scene.add(make(radius, length),
                          ((k - (rows - row - 1) / 2) * pitch, 0,
                           radius + row * math.sqrt(3) / 2 * pitch * (1 + 1e-9)),
                          (90, 0, 0))
        scene.stands = gap == 0
        return
    scene.title += ", crossed"
    gap = some_gap(rng, scene, radius)
    for layer in range(rng.randint(2, 8)):
        z = radius + layer * (2 * radius + gap) + gap
        for side in (-1, 1):
            at = side * (length / 2 - 1.5 * radius)
            place = (at, 0, z) if layer % 2 == 0 else (0, at, z)
            scene.add(make(radius, length), place, (90, 0, 0) if layer % 2 == 0 else (0, 90, 0))


def cans(rng, scene):
    """A pyramid, or towers side by side."""
    radius = logarithmic(rng, 0.02, 0.1)
    high = radius * rng.uniform(1.5, 3.5)
    gap = some_gap(rng, scene, high)
    density = rng.choice([1000, 300])
    if rng.random() < 0.5:
        scene.title += ", pyramid"
        rows = rng.randint(2, 6)
        pitch = 2 * radius * rng.choice([1.02, 1.2])
        for row in range(rows):
            for k in range(rows - row):
                scene.add(cylinder(radius, high),
                          ((k - (rows - row - 1) / 2) * pitch, 0,
                           gap + high / 2 + row * (high + gap)), density=density)
        return
    scene.title += ", towers"
    off = rng.choice([0, 0.1, 0.3]) * radius
    for tower in range(rng.randint(1, 4)):
        for k in range(rng.randint(3, 7)):
            x, y = (rng.uniform(-off, off) for _ in range(2))
            scene.add(cylinder(radius, high),
                      (tower * 3 * radius + x, y, gap + high / 2 + k * (high + gap)),
                      density=density)


def dominoes(rng, scene):
    scene.stands = False
    count = rng.randint(5, 30)
    high = logarithmic(rng, 0.03, 0.3)
    thick, wide = high * rng.uniform(0.12, 0.22), high * 0.5
    pitch = thick + high * rng.uniform(0.3, 0.6)
    curve = rng.choice([0, rng.uniform(-6, 6)])  # from one to the next [deg]
    x = y = heading = 0
    for k in range(count):
        push = {}
        if k == 0:
            spin = rng.uniform(2, 4) * math.sqrt(9.81 / high)
            push = {"angular_velocity_rad_s": [0, spin, 0],
                    "velocity_m_s": [spin * high / 2, 0, 0]}
        scene.add(box(thick, wide, high), (x, y, high / 2), (0, 0, heading), **push)
        x += pitch * math.cos(math.radians(heading))
        y += pitch * math.sin(math.radians(heading))
        heading += curve


FAMILIES = [stack, turned_stack, wall, heap, card_house, logs, cans, dominoes]


def make_scene(seed):
    rng = random.Random(seed)
    family = FAMILIES[seed % len(FAMILIES)]
    scene = Scene(family.__name__.replace("_", " "), round(rng.uniform(0.2, 0.8), 2))
    family(rng, scene)
    return scene


def value(x):
    if isinstance(x, bool):
        return "true" if x else "false"
    if isinstance(x, str):
        return f'"{x}"'
    if isinstance(x, (list, tuple)):
        return "[" + ", ".join(value(e) for e in x) + "]"
    if isinstance(x, dict):
        return "{ " + ", ".join(f"{k} = {value(v)}" for k, v in x.items()) + " }"
    return f"{x:.15g}"


def to_toml(scene, duration):
    lines = [f'title = "{scene.title}"', f'about = "{"stands" if scene.stands else "moves"}"',
             "", "[clock]", f"duration_s = {duration:g}", "",
             "[[contacts]]", f"friction = {value(scene.friction)}"]
    for body in scene.bodies:
        lines += ["", "[[bodies]]"] + [f"{k} = {value(v)}" for k, v in body.items()]
    return "\n".join(lines) + "\n"


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--seeds", type=int, default=200, help="how many scenes")
    arguments.add_argument("--first", type=int, default=1, help="the first seed")
    arguments.add_argument("--duration", type=float, default=2, help="of each scene [s]")
    arguments.add_argument("--out", type=pathlib.Path, required=True)
    wish = arguments.parse_args()
    wish.out.mkdir(parents=True, exist_ok=True)
    for seed in range(wish.first, wish.first + wish.seeds):
        scene = make_scene(seed)
        count = sum(not body.get("fixed", False) for body in scene.bodies)
        assert 3 <= count <= 30, (seed, scene.title, count)
        family = scene.title.split(",")[0].replace(" ", "-")
        name = wish.out / f"{seed:04d}-{family}-{count}"
        name.with_suffix(".toml").write_text(to_toml(scene, wish.duration))
        name.with_suffix(".xml").write_text(to_mjcf(scene))


if __name__ == "__main__":
    main()
