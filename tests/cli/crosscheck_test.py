"""The command `bristle crosscheck`.

usage: crosscheck_test.py BRISTLE REPOSITORY
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

BRISTLE, SCENES = sys.argv[1], pathlib.Path(sys.argv[2]) / "scenes"
FINE, BAD_INPUT, CANNOT_GO_ON = 0, 2, 3


def call(*arguments):
    return subprocess.run([BRISTLE, "crosscheck", *map(str, arguments)], capture_output=True,
                          text=True, timeout=250)


def answer(scene, *arguments):
    done = call(SCENES / f"{scene}.toml", *arguments, "--json")
    assert done.returncode == FINE, done.stderr
    assert done.stderr == "", done.stderr
    return json.loads(done.stdout)


def rows(result, clock):
    return [row for row in result["runs"] if row["clock"] == clock]


class Orders(unittest.TestCase):
    """Impulses lead to the adaptive motion as the step goes to zero, at first order."""

    def check(self, scene, *arguments):
        result = answer(scene, *arguments)
        self.assertEqual(result["reference"]["clock"], "adaptive")
        self.assertEqual(result["reference"]["rtol"], 1e-10)
        ours = rows(result, "complementarity")
        self.assertEqual(len(ours), 5)
        for before, row in zip(ours, ours[1:]):
            self.assertAlmostEqual(row["step_s"], before["step_s"] / 2)
            self.assertLess(row["difference_m"], before["difference_m"])
        for row in ours[-3:]:
            self.assertAlmostEqual(row["order"], 1, delta=0.15)
        for row in ours:
            self.assertEqual(row["substeps"], 1)
            self.assertEqual(row["steps_not_converged"], 0)
            self.assertLess(row["worst_relative_residual"], 1e-8)
        # The reference is certain enough to say so.
        (coarse,) = rows(result, "adaptive")
        self.assertLess(coarse["difference_m"], 0.1 * ours[-1]["difference_m"])
        return result

    def test_ball_on_incline(self):
        self.check("ball-on-incline")

    def test_pinched_capsule(self):
        result = self.check("pinched-capsule")
        for row in rows(result, "fixed")[1:]:
            self.assertEqual(row["method"], "semi-implicit-euler")
            self.assertAlmostEqual(row["order"], 1, delta=0.15)

    def test_arm(self):
        result = self.check("arm")
        for row in rows(result, "fixed"):  # with the method that the scene names
            self.assertEqual(row["method"], "rk4")
            self.assertLess(row["difference_m"], 1e-6)

    def test_first_steps_of_the_quadruped(self):
        result = self.check("quadruped", "--until", "0.2")
        self.assertEqual(result["until_s"], 0.2)


class Command(unittest.TestCase):
    def test_a_clock_that_cannot_run_the_scene_says_why(self):
        result = answer("skate", "--steps", "3")
        self.assertIn("impulses", result["not_adaptive"])
        self.assertEqual(result["reference"]["clock"], "complementarity")
        for clock in ("adaptive", "fixed"):
            (row,) = rows(result, clock)
            self.assertIn("impulses", row["trouble"])
            self.assertNotIn("difference_m", row)
        for row in rows(result, "complementarity")[1:]:
            self.assertAlmostEqual(row["order"], 1, delta=0.15)
        text = call(SCENES / "skate.toml", "--steps", "1")
        self.assertEqual(text.returncode, FINE)
        self.assertIn("need a stepper that solves for impulses", text.stdout)

    def test_a_clock_that_ends_early_says_when(self):
        # Without substeps, explicit steps do not survive this contact.
        result = answer("pinched-capsule", "--steps", "1e-2,1e-3", "--set", "clock.substeps=1",
                        "--set", 'clock.kind="fixed"', "--set", "contacts.0.normal.stiffness=1e12")
        self.assertIn("trouble", rows(result, "fixed")[0])
        self.assertIn(" s: ", rows(result, "fixed")[0]["trouble"])
        self.assertNotIn("trouble", rows(result, "complementarity")[0])

    def test_steps_as_typed_in_any_order(self):
        result = answer("pinched-capsule", "--steps", "5e-4,2e-3,1e-3", "--until", "0.0105")
        self.assertEqual([row["step_s"] for row in rows(result, "complementarity")],
                         [2e-3, 1e-3, 5e-4])
        self.assertEqual(result["until_s"], 0.01)  # where a step of each length ends

    def test_same_numbers_each_time(self):
        results = [answer("pinched-capsule", "--steps", "2", "--until", "0.1") for _ in range(2)]
        for result in results:
            for row in [result["reference"], *result["runs"]]:
                del row["cpu_s"]
        self.assertEqual(*results)

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "checked"
            done = call(SCENES / "pinched-capsule.toml", "--steps", "2", "--until", "0.1", "--out", out)
            self.assertEqual(done.returncode, FINE, done.stderr)
            self.assertIn(str(out), done.stdout)
            self.assertEqual(sorted(file.name for file in out.iterdir()),
                             ["crosscheck.csv", "crosscheck.json", "crosscheck.png", "crosscheck.svg"])
            table = json.loads((out / "crosscheck.json").read_text())
            self.assertEqual(len(table["runs"]), 7)
            svg = (out / "crosscheck.svg").read_text()
            for word in ("complementarity", "semi-implicit-euler", "largest difference [m]"):
                self.assertIn(word, svg)
            # Every row of the table is printed.
            for row in table["runs"]:
                self.assertIn(f'{row["difference_m"]:.3e} m', done.stdout)
            # A folder that cannot be written to.
            (pathlib.Path(folder) / "file").write_text("")
            done = call(SCENES / "pinched-capsule.toml", "--out", pathlib.Path(folder) / "file")
            self.assertEqual(done.returncode, CANNOT_GO_ON)
            self.assertEqual(done.stdout, "")

    def test_bad_input(self):
        scene = SCENES / "pinched-capsule.toml"
        for arguments, words in (
                (("nothing.toml",), ("nothing.toml", "no such file")),
                ((), ("SCENE",)),
                ((scene, "--steps", "0"), ("--steps 0", "[1, 20]")),
                ((scene, "--steps", "21"), ("--steps 21", "[1, 20]")),
                ((scene, "--steps", "-1e-3"), ("--steps -1e-3", "above 0 s")),
                ((scene, "--steps", "1e-3,x"), ("--steps 1e-3,x", "above 0 s")),
                ((scene, "--steps", "1e-3,"), ("--steps 1e-3,", "above 0 s")),
                ((scene, "--steps", "nan"), ("--steps nan", "above 0 s")),
                ((scene, "--steps", "1e-3,3e-4"), ("multiple", "3.33333 times 0.0003 s")),
                ((scene, "--until", "0"), ("--until 0", "0.001 s")),
                ((scene, "--until", "nan"), ("--until nan",)),
                ((scene, "--until", "1e9"), ("--until 1e+09", "steps")),
                ((scene, "--rtol", "1"), ("--rtol 1", "[1e-13, 0.1]")),
                ((scene, "--set", "clock.step_s=-1"), ("step_s", "-1"))):
            done = call(*arguments)
            self.assertEqual(done.returncode, BAD_INPUT, arguments)
            self.assertEqual(done.stdout, "")
            for word in words:
                self.assertIn(word, done.stderr)

    def test_help_has_examples(self):
        done = call("--help")
        self.assertEqual(done.returncode, FINE)
        self.assertIn("bristle crosscheck scenes/", done.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
