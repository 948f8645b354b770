#!/usr/bin/env python3
"""Everyday scenes under the fixed-step integrator at defaults: they end, with their energy in balance
and never above the start; so do stacks that start with an overlap.

    everyday_test.py BRISTLE GENERATOR

All 200 with BRISTLE_SOAK, else each family twice.
"""

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

PROBES = """
[[probes]]
name = "energy"
kind = "energy"
"""


def check(bristle, scene):
    """What is wrong with a run, in words; empty: nothing."""
    scene.write_text(scene.read_text() + PROBES)
    command = [bristle, "run", scene, "--set", 'clock.kind="fixed"', "--json", "--no-recording"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        return f"exit status {run.returncode}: {run.stderr}"
    summary = json.loads(run.stdout)
    ledger = summary["ledger"]
    if not ledger["relative_residual"] < 1e-3:
        return f"balance error {ledger['relative_residual']}"
    first = (ledger["kinetic_J"] + ledger["gravity_J"] + ledger["stored_J"]
             + ledger["dissipated_J"] - ledger["supplied_J"] - ledger["residual_J"])
    rise = summary["probes"]["energy"]["largest"] - first
    if rise > 1e-3 * ledger["scale_J"] + 1e-12 * abs(first):
        return f"energy rises by {rise} J of {ledger['scale_J']} J"
    return ""


def overlapping(seed):
    """A stack of bodies that are inside each other by up to a tenth of their radius."""
    rng = random.Random(seed)
    shape = rng.choice(['type = "sphere", radius_m = 0.1', 'type = "box", size_m = [0.2, 0.2, 0.2]',
                        'type = "cylinder", radius_m = 0.1, length_m = 0.2',
                        'type = "capsule", radius_m = 0.1, length_m = 0.3'])
    turn = [90, 0, 0] if "capsule" in shape else [0, 0, 0]
    overlap = rng.uniform(1e-4, 1e-2)
    text = ('allow_initial_overlap = true\n[clock]\nduration_s = 2\n'
            '[[bodies]]\nname = "floor"\nfixed = true\nshapes = [{ type = "plane" }]\n')
    for k in range(rng.randint(1, 6)):
        z = 0.1 - overlap + k * (0.2 - overlap)
        text += (f'[[bodies]]\nname = "b{k}"\nposition_m = [{rng.uniform(-1e-3, 1e-3)}, 0, {z}]\n'
                 f'rotation_deg = {turn}\nshapes = [{{ {shape} }}]\n')
    return text


def main():
    bristle, generator = sys.argv[1:3]
    seeds = range(1, 201) if "BRISTLE_SOAK" in os.environ else range(1, 81, 5)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds:
            subprocess.run([sys.executable, "-B", generator, "--first", str(seed), "--seeds", "1",
                            "--out", folder], check=True)
            (scene,) = pathlib.Path(folder).glob(f"{seed:04d}-*.toml")
            trouble = check(bristle, scene)
            if trouble:
                print(f"{scene.name}: {trouble}")
                failed += 1
        for seed in seeds:
            scene = pathlib.Path(folder) / f"overlap-{seed}.toml"
            scene.write_text(overlapping(seed))
            trouble = check(bristle, scene)
            if trouble:
                print(f"{scene.name}: {trouble}")
                failed += 1
    print(f"{2 * len(seeds)} scenes, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
