"""Random command lines: an end in time, with a status that means something.

usage: command_line_test.py PROGRAM SCENES

A hundred command lines; 20 000 with BRISTLE_SOAK=1.
"""

import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

PROGRAM, SCENES = "", pathlib.Path()
NUMBER = 20000 if os.environ.get("BRISTLE_SOAK") == "1" else 100

SCENE = """[clock]
duration_s = 0.001
[[bodies]]
name = "floor"
fixed = true
[[bodies.shapes]]
type = "plane"
[[bodies]]
name = "ball"
mass_kg = 1
position_m = [0, 0, 0.2]
[[bodies.shapes]]
type = "sphere"
radius_m = 0.1
"""

# What people type, as sentences; words are then dropped, doubled, swapped and bent.
SENTENCES = [sentence.split() for sentence in """
run scene.toml --json --out out
run scene.toml --no-recording --set clock.duration_s=0.002
run scene.toml --realtime --threads 2 --checkpoint 0.001 --out out
run scene.toml --csv --out out --set bodies.ball.mass_kg=2 --set record.every="1 ms"
run scene.toml --no-recording --set clock.kind=complementarity --set clock.solver=newton --set clock.iterations=5
run scene.toml --out out --set clock.kind=complementarity --set contacts=[{normal="rigid",restitution=0.5}]
run --resume out
run --resume out --json
scene check scene.toml --set bodies.ball.mass_kg=3
scene show scene.toml --set contacts.0.friction=0.3
scene schema
crosscheck scene.toml --steps 2 --until 0.001 --json
crosscheck scene.toml --steps 1e-3,5e-4 --set clock.duration_s=0.002 --out out --rtol 1e-8
export out --csv --one-table --out tables
export out --vtk --gltf --html --every 0.001
law list --json
law show hertz
law impact hertz --set stiffness=1e6 --json
law plot hertz -o plot.svg
law plot coulomb lugre -o plot.png
law compare hertz hunt-crossley --restitution 0.5
material list
material show steel
material pair steel brass --radius 0.01
study list --json
study show gonthier2004.impact
study run nothing --set a=1 --out studies
--version
--help
run --help
""".strip().splitlines()]

NUMBERS = ("0", "-1", "1e300", "nan", "inf", "-0.0", "1e-300", "99999999999999999999", "0x10", "1,5", "")
ODD = ("", " ", "-", "--", "---", "=", "\\x00".encode().decode(), "\u00b5", "\x1b[31m", "%s%n", "../..",
       "/dev/null", "/dev/full", ".", "/", "~", "*", "'", '"', "--set=", "--out=", "--json=3",
       "a" * 5000, "[[" * 100, "{a=" * 100, "\udcff")


def bend(word, chance):
    how = chance.randrange(5)
    if how == 0 and "=" in word:
        return word.split("=", 1)[0] + "=" + chance.choice(NUMBERS + ODD)
    if how == 1 and word:
        at = chance.randrange(len(word))
        return word[:at] + chance.choice("=.-\x7f0'[{é") + word[at + 1:]
    if how == 2:
        return word * chance.choice((0, 2, 50))
    return chance.choice(NUMBERS + ODD)


def command_line(chance):
    words = list(chance.choice(SENTENCES))
    for _ in range(chance.choice((0, 1, 1, 2, 3))):
        at = chance.randrange(len(words) + 1)
        how = chance.randrange(5)
        if how == 0 and words:
            del words[at % len(words)]
        elif how == 1 and words:
            words.insert(at, chance.choice(words))
        elif how == 2:
            words.insert(at, chance.choice(chance.choice(SENTENCES)))
        elif how == 3 and words:
            words[at % len(words)] = bend(words[at % len(words)], chance)
        else:
            words.insert(at, chance.choice(NUMBERS + ODD))
    return [word.replace("\0", "") for word in words]


class CommandLines(unittest.TestCase):
    def test_any(self):
        chance = random.Random(os.environ.get("BRISTLE_SEED", "1"))
        statuses = {}
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "scene.toml").write_text(SCENE)
            for _ in range(NUMBER):
                words = command_line(chance)
                try:
                    done = subprocess.run([PROGRAM, *words], capture_output=True, cwd=folder,
                                          timeout=30, stdin=subprocess.DEVNULL,
                                          env=dict(os.environ, HOME=folder))
                except OSError:  # not a word that a process can be given
                    continue
                self.assertIn(done.returncode, (0, 1, 2, 3), f"{words}: {done.stderr[-300:]}")
                if done.returncode in (2, 3):
                    self.assertNotEqual(done.stderr, b"", words)
                statuses[done.returncode] = statuses.get(done.returncode, 0) + 1
        print(f"{sum(statuses.values())} command lines: {sorted(statuses.items())}", file=sys.stderr)


if __name__ == "__main__":
    PROGRAM, SCENES = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
