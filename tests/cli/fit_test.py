"""The command `bristle fit`: units of headers, --json, files, what is wrong with data and options.

usage: fit_test.py BRISTLE WITHOUT_CERES PROJECT

WITHOUT_CERES is the same program with the minimiser of a build without Ceres.
"""

import json
import math
import os
import pathlib
import pty
import random
import re
import subprocess
import sys
import tempfile
import unittest

BRISTLE, WITHOUT, PROJECT = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
DATA = PROJECT / "scenes" / "data"
BALL = 9.52e-3  # radius [m]
SPHERE = ("--law", "volumetric", "--shape", "sphere", "--radius", str(BALL))


def run(*words, program=BRISTLE):
    return subprocess.run([program, "fit", *map(str, words)], capture_output=True, text=True, timeout=300)


def answer(*words, status=0):
    done = run(*words, "--json")
    assert done.returncode == status, f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return json.loads(done.stdout)


def volume(depth):
    d = max(depth, 0)
    return math.pi / 3 * d * d * (3 * BALL - d)


def press(stiffness=7.59e13, contact=1e-5, noise=0.1, points=80, seed=1):
    """Rows of position [m] and force [N]."""
    random_ = random.Random(seed)
    positions = [6e-6 + 7e-6 * i / (points - 1) for i in range(points)]
    return [(p, stiffness * volume(p - contact) + random_.gauss(0, noise)) for p in positions]


class InFolder(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def write(self, header, rows, name="data.csv"):
        lines = [header, *(",".join(x if isinstance(x, str) else repr(x) for x in row) for row in rows)]
        (self.folder / name).write_text("\n".join(lines) + "\n")
        return self.folder / name


class Answers(InFolder):
    def test_units_stand_in_the_header(self):
        rows = press()
        plain = answer("force", self.write("position_m,force_N", rows), *SPHERE)
        for length, to_length in (("cm", 1e2), ("mm", 1e3), ("um", 1e6), ("nm", 1e9)):
            for force, to_force in (("kN", 1e-3), ("mN", 1e3), ("uN", 1e6)):
                scaled = [(p * to_length, f * to_force) for p, f in rows]
                found = answer("force", self.write(f"position_{length},force_{force}", scaled), *SPHERE)
                for name, parameter in found["parameters"].items():
                    reference = plain["parameters"][name]
                    self.assertEqual(parameter["unit"], reference["unit"])
                    self.assertAlmostEqual(parameter["value"] / reference["value"], 1, 8)

    def test_units_of_time_and_speed(self):
        text = (DATA / "pull.csv").read_text().splitlines()[1:]
        rows = [[float(x) for x in line.split(",")] for line in text]
        options = ("--law", "lugre", "--set", "stribeck_speed=1e-3", "--starts", 2)
        plain = answer("friction", self.write("time_s,velocity_mm_s,force_N,normal_force_N", rows), *options)
        other = [(1e3 * t, 1e-1 * v, f, 1e-3 * n) for t, v, f, n in rows]
        found = answer("friction", self.write("time_ms,velocity_cm_s,force_N,normal_force_kN", other), *options)
        for name, parameter in found["parameters"].items():
            self.assertAlmostEqual(parameter["value"] / plain["parameters"][name]["value"], 1, 7, name)

    def test_keys(self):
        found = answer("force", self.write("position_m,force_N", press()), *SPHERE)
        asked = ["fit", "law", "points", "parameters", "correlations", "rms", "aicc", "bic", "starts_at_best",
                 "warnings"]
        more = ["fixed", "determined", "noise", "starts", "converged"]
        self.assertEqual(sorted(found), sorted(asked + more))
        self.assertEqual((found["fit"], found["law"], found["points"]), ("force", "volumetric", 80))
        self.assertEqual(list(found["parameters"]), ["stiffness", "contact_point_m"])
        for parameter in found["parameters"].values():
            self.assertEqual(list(parameter), ["value", "sd", "low", "high", "unit", "identified"])
            self.assertIs(parameter["identified"], True)
            self.assertLess(parameter["low"], parameter["value"])
            self.assertLess(parameter["value"], parameter["high"])
        self.assertEqual(list(found["correlations"]), ["stiffness,contact_point_m"])
        self.assertGreater(found["correlations"]["stiffness,contact_point_m"], 0.5)
        self.assertEqual(found["warnings"], [])
        self.assertEqual(found["starts_at_best"], 16)

    def test_estimates_of_the_data_in_the_repository(self):
        truths = (
            (("force", DATA / "press.csv", *SPHERE), {"stiffness": 7.59e13, "contact_point_m": 1e-5}),
            (("restitution", DATA / "drops.csv", "--law", "azad-featherstone", "--set", "stiffness=1e10"),
             {"damping": 1e5}),
            (("friction", DATA / "pull.csv", "--law", "lugre", "--free", "stribeck_speed"),
             {"mu_static": 0.5, "mu_coulomb": 0.35, "stiffness": 1e5, "stribeck_speed": 1e-3}),
            (("scene", DATA / "bounces.csv", "--scene", DATA / "bounce.toml", "--free", "contacts.0.restitution"),
             {"contacts.0.restitution": 0.78}))
        for words, parameters in truths:
            found = answer(*words)
            self.assertEqual(sorted(found["parameters"]), sorted(parameters))
            for name, truth in parameters.items():
                estimate = found["parameters"][name]
                self.assertTrue(estimate["identified"], words)
                self.assertLess(abs(estimate["value"] - truth), 4 * estimate["sd"], f"{words} {name}")
            others = [w for w in found["warnings"] if "starts end in other minima" not in w]
            self.assertEqual(others, [], words)

    def test_text_tells_the_same(self):
        file = self.write("position_m,force_N", press())
        found = answer("force", file, *SPHERE)
        text = run("force", file, *SPHERE)
        self.assertEqual(text.returncode, 0, text.stderr)
        for name, parameter in found["parameters"].items():
            line = next(x for x in text.stdout.splitlines() if name in x)
            self.assertIn(f"{parameter['value']:.6g}"[:6], line)
        self.assertIn("16 of 16 starts", text.stdout)

    def test_same_bits_for_any_number_of_threads(self):
        file = self.write("position_m,force_N", press())
        words = ("force", file, *SPHERE, "--bootstrap", 20, "--compare", "hertz,hunt-crossley", "--seed", 7)
        one = run(*words, "--json").stdout
        for threads in (2, 5):
            self.assertEqual(run(*words, "--threads", threads, "--json").stdout, one)
        self.assertNotEqual(json.loads(run(*words[:-1], 8, "--json").stdout)["parameters"],
                            json.loads(one)["parameters"])
        scene = ("scene", DATA / "bounces.csv", "--scene", DATA / "bounce.toml", "--free", "contacts.0.restitution",
                 "--starts", 4, "--json")
        self.assertEqual(run(*scene).stdout, run(*scene, "--threads", 3).stdout)

    def test_the_best_law_comes_first(self):
        file = self.write("position_m,force_N", press())
        found = answer("force", file, "--shape", "sphere", "--radius", BALL, "--compare", "hertz,volumetric")
        self.assertEqual(found["law"], "volumetric")
        self.assertEqual([law["law"] for law in found["comparison"]], ["volumetric", "hertz"])
        best, other = found["comparison"]
        self.assertLess(best["aicc"], other["aicc"])
        self.assertLess(best["bic"], other["bic"])
        self.assertLess(best["held_out_rms"], other["held_out_rms"])

    def test_the_contact_point_may_be_the_first_force(self):
        rows = press(noise=0.02)
        file = self.write("position_m,force_N", rows)
        joint = answer("force", file, *SPHERE)
        first = answer("force", file, *SPHERE, "--contact-point", "first-force")
        self.assertEqual(list(first["parameters"]), ["stiffness"])
        self.assertIn(first["fixed"]["contact_point_m"], [p for p, _ in rows])
        # A force is seen only once it is above the noise: too late, and the stiffness too high.
        self.assertGreater(first["fixed"]["contact_point_m"], joint["parameters"]["contact_point_m"]["value"])
        self.assertGreater(first["parameters"]["stiffness"]["value"], joint["parameters"]["stiffness"]["high"])

    def test_a_window_chooses_the_data(self):
        speed = 1e-3
        rows = [(p, max(f, 0), p / speed) for p, f in press(noise=0.02)]
        file = self.write("position_m,force_N,time_s", rows)
        options = (*SPHERE, "--set", "restitution=1")
        everything = answer("force", file, *options)
        self.assertEqual(everything["points"], 80)
        part = answer("force", file, *options, "--lead_m", 1e-6, "--window_s", 3e-3)
        self.assertLess(part["points"], 60)
        self.assertGreater(part["points"], 20)

    def test_noise_that_is_known_and_outliers(self):
        rows = press()
        file = self.write("position_m,force_N", rows)
        free, known = answer("force", file, *SPHERE), answer("force", file, *SPHERE, "--sigma", 0.2)
        ratio = known["parameters"]["stiffness"]["sd"] / free["parameters"]["stiffness"]["sd"]
        self.assertAlmostEqual(ratio, 0.2 / free["noise"], 6)
        spoilt = [(p, f + (15 if i in (20, 51, 70) else 0)) for i, (p, f) in enumerate(rows)]
        file = self.write("position_m,force_N", spoilt)
        plain, huber = answer("force", file, *SPHERE), answer("force", file, *SPHERE, "--loss", "huber")
        off = [abs(x["parameters"]["stiffness"]["value"] / 7.59e13 - 1) for x in (plain, huber)]
        self.assertLess(off[1], 0.02)
        self.assertLess(huber["parameters"]["stiffness"]["sd"], plain["parameters"]["stiffness"]["sd"])

    def test_what_the_data_do_not_determine(self):
        found = answer("force", DATA / "cylinder.csv", "--law", "volumetric", "--shape", "cylinder", "--radius", 5e-3,
                       "--free", "tilt_deg")
        for name in ("stiffness", "tilt_deg"):
            parameter = found["parameters"][name]
            self.assertIs(parameter["identified"], False)
            self.assertIsNone(parameter["low"])
            self.assertIsNone(parameter["high"])
            self.assertIsNone(parameter["sd"])
        self.assertIs(found["parameters"]["contact_point_m"]["identified"], True)
        (product,) = found["determined"]
        head, exponent = product.split("^")
        self.assertEqual(head, "stiffness · tan(tilt_deg)")
        self.assertAlmostEqual(float(exponent), -1.5, delta=0.1)
        self.assertTrue(any(product in warning for warning in found["warnings"]), found["warnings"])

    def test_a_scene_is_found_from_any_start(self):
        for start in (0.2, 0.35, 0.5, 0.65, 0.8, 0.95):
            found = answer("scene", DATA / "bounces.csv", "--scene", DATA / "bounce.toml", "--free",
                           "contacts.0.restitution", "--start", f"contacts.0.restitution={start}")
            value = found["parameters"]["contacts.0.restitution"]["value"]
            self.assertLess(abs(value - 0.78), 0.002, start)

    def test_a_scene_tells_how_far_it_is(self):
        terminal, end = pty.openpty()
        done = subprocess.Popen([BRISTLE, "fit", "scene", DATA / "bounces.csv", "--scene", DATA / "bounce.toml",
                                 "--free", "contacts.0.restitution", "--starts", "2"], stdout=subprocess.PIPE,
                                stderr=end)
        os.close(end)
        told = b""
        while True:
            try:
                told += os.read(terminal, 4096)
            except OSError:  # nobody writes any more
                break
        os.close(terminal)
        self.assertIn(b"contacts.0.restitution", done.stdout.read())
        done.stdout.close()
        self.assertEqual(done.wait(), 0)
        shares = [int(x) for x in re.findall(rb"searching: +(\d+) %", told)]
        self.assertEqual(shares, sorted(shares))
        self.assertGreater(len(set(shares)), 5)
        self.assertEqual(shares[-1], 100)

    def test_a_parameter_without_effect(self):
        found = answer("force", self.write("position_m,force_N", press()), *SPHERE, "--free", "restitution")
        self.assertIs(found["parameters"]["restitution"]["identified"], False)
        self.assertTrue(any("restitution has no effect" in w for w in found["warnings"]), found["warnings"])
        # The others are as sure as without it.
        alone = answer("force", self.write("position_m,force_N", press()), *SPHERE)
        for name in ("stiffness", "contact_point_m"):
            ratio = found["parameters"][name]["sd"] / alone["parameters"][name]["sd"]
            self.assertAlmostEqual(ratio, 1, delta=0.02)  # one degree of freedom less

    def test_a_search_that_is_cut_short(self):
        done = run("force", self.write("position_m,force_N", press()), *SPHERE, "--iterations", 1, "--starts", 1,
                   "--start", "stiffness=1e9", "--start", "contact_point_m=7e-6", "--json", "--out",
                   self.folder / "out")
        self.assertEqual(done.returncode, 3, done.stderr)
        found = json.loads(done.stdout)
        self.assertIs(found["converged"], False)
        self.assertTrue(math.isfinite(found["parameters"]["stiffness"]["value"]))
        self.assertIn("did not converge", done.stderr)
        self.assertTrue((self.folder / "out" / "fit.json").exists())


class Files(InFolder):
    def test_the_folder_has_a_report_figures_and_a_contact(self):
        out = self.folder / "out"
        done = run("force", self.write("position_m,force_N", press()), *SPHERE, "--out", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        names = {"contact.toml", "fit.json", *(f"{n}.{e}" for n in ("fit", "profiles") for e in ("svg", "png", "csv"))}
        self.assertLessEqual(names, {f.name for f in out.iterdir()})
        lines = (out / "fit.csv").read_text().splitlines()
        self.assertEqual(lines[0], "panel,curve,x,y")
        self.assertEqual(sum(line.split(",")[1] == "measured" for line in lines), 80)
        self.assertEqual(json.loads((out / "fit.json").read_text())["points"], 80)

    def test_the_contact_is_that_of_a_scene(self):
        for words in (("force", DATA / "press.csv", *SPHERE),
                      ("restitution", DATA / "drops.csv", "--law", "azad-featherstone"),
                      ("restitution", DATA / "drops.csv", "--law", "constant"),
                      ("friction", DATA / "pull.csv", "--law", "lugre")):
            out = self.folder / "out"
            self.assertEqual(run(*words, "--starts", 2, "--out", out).returncode, 0)
            scene = self.folder / "scene.toml"
            scene.write_text('include = ["out/contact.toml"]\n[clock]\nduration_s = 1e-3\n'
                             '[[bodies]]\nname = "floor"\nfixed = true\nshapes = [{ type = "plane" }]\n'
                             '[[bodies]]\nname = "ball"\nmass_kg = 0.1\nposition_m = [0, 0, 0.05]\n'
                             'shapes = [{ type = "sphere", radius_m = 0.05 }]\n')
            done = subprocess.run([BRISTLE, "run", scene, "--no-recording", "--json"], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, f"{words} {(out / 'contact.toml').read_text()} {done.stderr}")

    def test_a_recording_is_data(self):
        """The scene fits its own recording, whatever begins elsewhere."""
        run_ = subprocess.run([BRISTLE, "run", DATA / "bounce.toml", "--out", self.folder / "run", "--set",
                               "contacts.0.restitution=0.7", "--set", "clock.duration_s=1"], capture_output=True, text=True)
        self.assertEqual(run_.returncode, 0, run_.stderr)
        recording = self.folder / "run" / "recording.h5"
        out = self.folder / "out"
        found = answer("scene", recording, "--scene", DATA / "bounce.toml", "--free", "contacts.0.restitution",
                       "--out", out)
        self.assertAlmostEqual(found["parameters"]["contacts.0.restitution"]["value"], 0.7, 6)
        fitted = subprocess.run([BRISTLE, "run", out / "scene.toml", "--no-recording", "--json"], capture_output=True)
        self.assertEqual(fitted.returncode, 0, fitted.stderr)

    def test_columns_of_a_recording_have_paths(self):
        """A ball falls upwards, so that its height grows as it nears the ceiling."""
        (self.folder / "up.toml").write_text("""
[gravity]
vector_m_s2 = [0, 0, 9.81]
[clock]
duration_s = 0.33
[record]
every = "1 ms"
steps = true
[[bodies]]
name = "ceiling"
fixed = true
rotation_deg = [180, 0, 0]
position_m = [0, 0, 0.52]
shapes = [{ type = "plane" }]
[[bodies]]
name = "ball"
mass_kg = 0.05
shapes = [{ type = "sphere", radius_m = 0.02 }]
[[contacts]]
normal = { law = "hunt-crossley", stiffness = 1e6, exponent = 1.5, dissipation = 0.2 }
[[probes]]
name = "height"
kind = "point"
body = "ball"
component = "z"
[[probes]]
name = "speed"
kind = "velocity"
body = "ball"
component = "z"
[[probes]]
name = "force"
kind = "contact_force"
b = "ball"
component = "normal"
""")
        run_ = subprocess.run([BRISTLE, "run", self.folder / "up.toml", "--out", self.folder / "run"],
                              capture_output=True, text=True)
        self.assertEqual(run_.returncode, 0, run_.stderr)
        columns = ("--column", "force_N=/probes/force", "--column", "position_m=/probes/height", "--column",
                   "velocity_m_s=/probes/speed")
        recording = self.folder / "run" / "recording.h5"
        found = answer("force", recording, "--law", "hunt-crossley", "--free", "exponent", *columns)["parameters"]
        truth = {"stiffness": 1e6, "exponent": 1.5, "dissipation": 0.2, "contact_point_m": 0.5}
        self.assertEqual(sorted(found), sorted(truth))
        for name, value in truth.items():
            self.assertAlmostEqual(found[name]["value"] / value, 1, 5, name)
        done = run("force", recording, "--law", "hunt-crossley", *columns[:2], "--column", "position_m=/probes/nothing")
        self.assertEqual(done.returncode, 2)
        self.assertIn("there is no dataset /probes/nothing", done.stderr)
        done = run("force", recording, "--law", "hunt-crossley")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--column", done.stderr)


def changed(rows, index, row):
    return [*rows[:index], row, *rows[index + 1:]]


class BadInput(InFolder):
    """Exit status 2, what is wrong and what would do, and nothing is written."""

    def refused(self, words, *fragments):
        out = self.folder / "out"
        done = run(*words, "--out", out)
        self.assertEqual(done.returncode, 2, f"{words}\n{done.stdout}{done.stderr}")
        self.assertEqual(done.stdout, "")
        for fragment in fragments:
            self.assertIn(fragment, done.stderr, words)
        self.assertFalse(out.exists(), words)

    def test_columns(self):
        rows = press()
        for header, fragments in (
                ("position_m", ("no column force_N",)),
                ("position_m,forse_N", ("data.csv:1", 'unknown column "forse_N"', 'did you mean "force_N"')),
                ("position_m,force_lb", ("data.csv:1", "unknown unit", "force_N, force_kN")),
                ("position_inch,force_N", ("data.csv:1", "unknown unit", "position_m, position_cm")),
                ("position_m,position_um", ("data.csv:1", "two columns are position"))):
            count = header.count(",") + 1
            file = self.write(header, [row[:count] for row in rows])
            self.refused(("force", file, *SPHERE), *fragments)
        self.refused(("friction", self.write("time_s,force_N,normal_force_N", [(0, 0, 1), (1, 1, 1)]), "--law", "lugre"),
                     "displacement_m or velocity_m_s")
        self.refused(("restitution", self.write("speed_m_s,restitution", [(1, 1.2)] * 5), "--law", "gonthier"),
                     "data.csv:2", "restitution", "(0, 1]")
        self.refused(("restitution", self.write("speed_m_s,restitution", [(0, 0.5)] * 5), "--law", "gonthier"),
                     "data.csv:2", "speed_m_s", "(0, 1e5]")

    def test_rows(self):
        rows = press()
        for bad, fragments in (
                (("nan", "1"), ("data.csv:7", "position_m", "finite number")),
                (("1e-5", "inf"), ("data.csv:7", "force_N", "finite number")),
                (("1e-5", "lots"), ("data.csv:7", 'force_N = "lots"', "be a number")),
                (("1e-5",), ("data.csv:7", "must hold two numbers")),
                (("1e-5", "1", "2"), ("data.csv:7", "must hold two numbers"))):
            self.refused(("force", self.write("position_m,force_N", changed(rows, 5, bad)), *SPHERE), *fragments)
        timed = [(p, f, 1e-3 * i) for i, (p, f) in enumerate(rows)]
        bad = changed(timed, 9, (rows[9][0], rows[9][1], 8e-3))
        self.refused(("force", self.write("position_m,force_N,time_s", bad), *SPHERE), "data.csv:11", "time",
                     "of the row before")
        whole = [(p, f, 1e-3 * i, "0.5") for i, (p, f) in enumerate(rows)]
        self.refused(("force", self.write("position_m,force_N,time_s,impact", whole), *SPHERE), "data.csv:2", "impact",
                     "whole number")
        self.refused(("force", self.write("position_m,force_N", []), *SPHERE), "there are no rows")
        (self.folder / "empty.csv").write_text("")
        self.refused(("force", self.folder / "empty.csv", *SPHERE), "empty")
        self.refused(("force", self.folder / "nowhere.csv", *SPHERE), "nowhere.csv", "cannot be read")
        (self.folder / "none.h5").write_bytes(b"no HDF5 file")
        self.refused(("force", self.folder / "none.h5", *SPHERE), "none.h5", "no HDF5 file")

    def test_data_that_say_nothing(self):
        rows = press()
        self.refused(("force", self.write("position_m,force_N", [(p, 0) for p, _ in rows]), *SPHERE),
                     "no contact in the data")
        self.refused(("force", self.write("position_m,force_N", [(p, -f) for p, f in rows]), *SPHERE),
                     "no contact in the data")
        self.refused(("force", self.write("position_m,force_N", rows[-3:]), *SPHERE), "3 points are too few",
                     "at least 4")
        timed = [(p, f, 1e-3 * i) for i, (p, f) in enumerate(rows)]
        self.refused(("force", self.write("position_m,force_N,time_s", timed), *SPHERE, "--lead_m", 1e-9, "--window_s",
                      1e-9), "the window holds", "longer --window_s")
        self.refused(("force", self.write("position_m,force_N", rows), *SPHERE, "--window_s", 1), "time_s")
        still = [(0.01 * i, 0.01, 1, 0) for i in range(20)]
        self.refused(("friction", self.write("time_s,velocity_m_s,force_N,normal_force_N", still), "--law", "lugre"),
                     "no contact in the data")

    def test_options(self):
        file = self.write("position_m,force_N", press())
        drops, pull = DATA / "drops.csv", DATA / "pull.csv"
        cases = (
            (("force", file, "--law", "volumetrik"), "volumetrik", "volumetric"),
            (("force", file, "--law", "lugre"), '"lugre" is a friction law', "hertz"),
            (("friction", pull, "--law", "hertz"), '"hertz" is a normal law', "lugre"),
            (("restitution", drops, "--law", "coulomb"), '"coulomb" is a friction law'),
            (("force", file), "needs --law"),
            (("sums", file, "--law", "hertz"), "no such kind", "restitution"),
            (("force", file, "--law", "volumetric"), "sphere, cylinder or flat"),
            (("force", file, "--law", "volumetric", "--shape", "sphere"), "--radius"),
            (("force", file, "--law", "hertz", "--shape", "sphere"), "volumetric laws"),
            (("force", file, *SPHERE, "--free", "stifness"), 'unknown parameter "stifness"', 'did you mean "stiffness"'),
            (("force", file, *SPHERE, "--set", "stifness=1"), 'unknown parameter "stifness"'),
            (("force", file, *SPHERE, "--free", "restitution", "--set", "restitution=0.5"), "both free", "--start"),
            (("force", file, *SPHERE, "--set", "stiffness=-1"), "stiffness", "must lie in"),
            (("force", file, *SPHERE, "--set", "stiffness=lots"), "stiffness", "lots"),
            (("force", file, *SPHERE, "--set", "stiffness=1", "--set", "contact_point_m=1e-5"), "no parameter is free"),
            (("force", file, *SPHERE, "--start", "restitution=0.5"), "not free"),
            (("force", file, *SPHERE, "--starts", 0), "--starts", "[1, 10000]"),
            (("force", file, *SPHERE, "--sigma", -1), "--sigma"),
            (("force", file, *SPHERE, "--bootstrap", 1), "--bootstrap"),
            (("force", file, *SPHERE, "--scene", "x.toml"), "--scene is of fit scene"),
            (("restitution", drops, "--law", "gonthier", "--window_s", 1), "--window_s is of fit force"),
            (("scene", file), "--scene FILE"),
            (("scene", DATA / "bounces.csv", "--scene", DATA / "bounce.toml"), "no parameter is free"),
            (("scene", DATA / "bounces.csv", "--scene", DATA / "bounce.toml", "--free", "contacts.0.restitutio"),
             "contacts.0.restitutio"),
            (("scene", DATA / "press.csv", "--scene", DATA / "bounce.toml", "--free", "contacts.0.restitution"),
             "press.csv:1", "height"),
            (("scene", DATA / "bounces.csv", "--scene", DATA / "nowhere.toml", "--free", "a"), "nowhere.toml"))
        for words, *fragments in cases:
            self.refused(words, *fragments)


class WithoutCeres(InFolder):
    def test_the_program_says_how_to_get_it(self):
        done = run("force", self.write("position_m,force_N", press()), *SPHERE, "--out", self.folder / "out",
                   program=WITHOUT)
        self.assertEqual(done.returncode, 3)
        self.assertEqual(done.stdout, "")
        self.assertIn("without Ceres", done.stderr)
        self.assertIn("install libceres-dev", done.stderr)
        self.assertFalse((self.folder / "out").exists())

    def test_studies_say_so(self):
        for study in ("azad2014.materials", "boos2013.sphere-test", "boos2013.cylinder-test", "boos2013.damping"):
            done = subprocess.run([WITHOUT, "study", "run", study], capture_output=True, text=True, timeout=120)
            self.assertEqual(done.returncode, 3, f"{study}\n{done.stdout}{done.stderr}")
            self.assertIn("libceres-dev", done.stdout + done.stderr)

    def test_the_rest_works(self):
        done = subprocess.run([WITHOUT, "study", "run", "boos2013.stiffness"], capture_output=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
