"""A program that registers a law of its own and then runs the commands: they all know the law, and
the plain program says plainly that it does not.

usage: own_law_test.py PROGRAM-WITH-THE-LAW PLAIN-PROGRAM
"""

import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

OWN, PLAIN = "", ""
FINE, BAD_INPUT = 0, 2
LAW = "soft-wall"
SCENE = """
title = "A ball on a soft wall"
[[bodies]]
name = "wall"
fixed = true
[[bodies.shapes]]
type = "plane"
[[bodies]]
name = "ball"
mass_kg = 1
position_m = [0, 0, 0.3]
[[bodies.shapes]]
type = "sphere"
radius_m = 0.1
[[contacts]]
normal = { law = "soft-wall", stiffness = 1e7, damping = 1e4 }
friction = 0
[clock]
duration_s = 0.3
"""


def call(program, *arguments):
    return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True,
                          timeout=120)


class OwnLaw(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.scene = self.folder / "wall.toml"
        self.scene.write_text(SCENE)

    def fine(self, *arguments, program=None):
        result = call(program or OWN, *arguments)
        self.assertEqual(result.returncode, FINE, result.stderr)
        return result.stdout

    def refused(self, program, *arguments):
        result = call(program, *arguments)
        self.assertEqual(result.returncode, BAD_INPUT, result.stdout + result.stderr)
        return result.stderr

    def test_law_commands(self):
        known = json.loads(self.fine("law", "list", "--json"))["laws"]
        plain = json.loads(self.fine("law", "list", "--json", program=PLAIN))["laws"]
        self.assertEqual([law for law in known if law["name"] != LAW], plain)
        self.assertEqual([law["family"] for law in known if law["name"] == LAW], ["normal"])
        self.assertIn(LAW, self.fine("law", "list"))
        shown = json.loads(self.fine("law", "show", LAW, "--json"))
        self.assertEqual([p["name"] for p in shown["parameters"]], ["stiffness", "damping"])
        impact = json.loads(self.fine("law", "impact", LAW, "--set", "mass=1", "--restitution",
                                      0.6, "--json"))
        self.assertAlmostEqual(impact["results"]["restitution"], 0.6, delta=1e-6)
        self.assertIn(LAW, self.fine("law", "compare"))
        self.fine("law", "plot", f"hertz,{LAW}", "-o", self.folder / "laws.svg")
        self.assertIn(LAW, (self.folder / "laws.svg").read_text())
        self.assertIn(f'did you mean "{LAW}"', self.refused(OWN, "law", "show", "soft-wal"))
        self.assertIn(f'there is no law "{LAW}"', self.refused(PLAIN, "law", "show", LAW))

    def test_scenes(self):
        self.fine("scene", "check", self.scene)
        self.assertIn(f"{LAW}: stiffness = 1e+07 damping = 10000",
                      self.fine("scene", "show", self.scene))
        refused = self.refused(OWN, "scene", "check", self.scene, "--set",
                               "contacts.0.normal.damping=-1")
        self.assertIn("damping = -1 must lie in [0, 1e+09] N s/m^2", refused)
        refused = self.refused(PLAIN, "scene", "check", self.scene)
        self.assertRegex(refused, f'wall.toml:\\d+: .*there is no law "{LAW}"')

    def test_schema(self):
        def laws(program, key):
            schema = json.loads(self.fine("scene", "schema", program=program))
            contact = schema["properties"]["contacts"]["items"]["properties"]
            return contact[key]["anyOf"]

        names, *tables = laws(OWN, "normal")
        plain, *plain_tables = laws(PLAIN, "normal")
        self.assertEqual(names["enum"], [*plain["enum"], LAW])
        self.assertEqual(tables[:-1], plain_tables)
        self.assertEqual(tables[-1]["properties"]["law"], {"const": LAW})
        self.assertEqual(tables[-1]["properties"]["damping"]["maximum"], 1e9)
        self.assertEqual(laws(OWN, "friction"), laws(PLAIN, "friction"))

    def test_runs(self):
        for clock in ([], ["--set", "clock.kind=fixed", "--set", "clock.step_s=1e-4"]):
            summary = json.loads(self.fine("run", self.scene, "--json", "--no-recording", *clock))
            self.assertEqual(summary["touches"], 1)
            self.assertLess(summary["ledger"]["relative_residual"], 1e-2 if clock else 1e-6)

    def test_recordings(self):
        out = self.folder / "out"
        run = subprocess.Popen([OWN, "run", self.scene, "--out", out, "--json", "--set",
                                "clock.duration_s=1e6", "--set", "record.checkpoint_s=0.01"],
                               stdout=subprocess.DEVNULL)
        log = out / "recording.log"
        end = time.monotonic() + 60
        while not (log.exists() and log.stat().st_size > 20000) and time.monotonic() < end:
            time.sleep(0.02)
        run.send_signal(signal.SIGKILL)
        run.wait()
        # Whoever reads the recording needs no law; whoever goes on does.
        self.fine("export", out, "--csv", program=PLAIN)
        self.assertIn(LAW, "".join(f.read_text() for f in (out / "export").glob("*.csv")))
        self.assertIn(f'there is no law "{LAW}"', self.refused(PLAIN, "run", "--resume", out))


if __name__ == "__main__":
    OWN, PLAIN = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
