"""The scenes that are shipped do what they say, and runs end as promised: the same bits on any
number of threads and after a kill, an orderly end on Ctrl-C, and every problem of a bad file named.

usage: scenes_test.py PROGRAM SCENES
"""

import csv
import json
import math
import os
import pathlib
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM, SCENES = "", pathlib.Path()
FINE, BAD_INPUT, CANNOT_GO_ON, INTERRUPTED = 0, 2, 3, 130


def call(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True,
                          timeout=120)


class Case(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def summary(self, *arguments):
        """The JSON that a run prints, and nothing on standard error."""
        result = call("run", *arguments, "--json")
        self.assertEqual(result.returncode, FINE, result.stderr)
        self.assertEqual(result.stderr, "")
        summary = json.loads(result.stdout)
        self.assertEqual(summary["status"], "finished")
        return summary

    def quick(self, name, *arguments):
        return self.summary(SCENES / f"{name}.toml", "--no-recording", *arguments)

    def curves(self, name, *arguments):
        """The probes over time as a run recorded them: {name: [values]}, "time" among them."""
        out = self.folder / f"{name}-{len(list(self.folder.iterdir()))}"
        summary = self.summary(SCENES / f"{name}.toml", "--out", out, *arguments)
        exported = call("export", out, "--csv")
        self.assertEqual(exported.returncode, FINE, exported.stderr)
        with open(out / "export" / "probes.csv", newline="") as file:
            head, *rows = csv.reader(file)
        names = [column.split(" [")[0] for column in head]
        columns = zip(*([float(x) for x in row] for row in rows))
        return summary, dict(zip(names, map(list, columns)))


def crossing(times, values, level):
    """When values first pass a level, between samples; None where they do not."""
    for i in range(1, len(values)):
        before, after = values[i - 1] - level, values[i] - level
        if before * after < 0 or after == 0:
            return times[i - 1] + (times[i] - times[i - 1]) * before / (before - after)
    return None


class Outcomes(Case):
    def assert_ledger_balances(self, summary, within=1e-6):
        """What an adaptive run cannot account for, at the tolerance of the scene."""
        self.assertEqual(summary["clock"], "adaptive")
        self.assertLess(summary["ledger"]["relative_residual"], within)

    def test_steel_ball(self):
        summary = self.quick("steel-ball")
        self.assert_ledger_balances(summary)
        self.assertEqual(summary["touches"], 38)
        force = summary["probes"]["force on the ball"]["last"]
        self.assertAlmostEqual(force, 0.66, delta=1e-6)  # m g, and it is at rest

    def test_ball_on_incline_rolls(self):
        summary, probe = self.curves("ball-on-incline")
        self.assert_ledger_balances(summary)
        t, speed = probe["time"], probe["speed"]
        # Across the slope it keeps a small speed, downhill 5/7 g sin 20° is gained each second.
        rolling = [i for i in range(len(t)) if t[i] >= 2.5]
        first, last = rolling[0], rolling[-1]
        gained = (speed[last] - speed[first]) / (t[last] - t[first])
        self.assertAlmostEqual(gained, 5 / 7 * 9.81 * math.sin(math.radians(20)), delta=0.03)

    def test_ball_in_cylinder(self):
        summary, probe = self.curves("ball-in-cylinder")
        self.assert_ledger_balances(summary)
        t, x = probe["time"], probe["x"]
        zeros = [t[i - 1] + (t[i] - t[i - 1]) * x[i - 1] / (x[i - 1] - x[i])
                 for i in range(1, len(t)) if t[i] > 3 and x[i - 1] * x[i] < 0]
        periods = [b - a for a, b in zip(zeros, zeros[2:])]
        self.assertGreater(len(periods), 3)
        for period in periods:
            self.assertAlmostEqual(period, 2.275, delta=0.01)

    def test_newtons_cradle(self):
        summary = self.quick("newtons-cradle")
        self.assert_ledger_balances(summary)
        # One goes out as far as one came in, to the other side.
        self.assertAlmostEqual(summary["probes"]["first string"]["largest"],
                               math.radians(30), delta=1e-9)
        self.assertLess(summary["probes"]["last string"]["least"], math.radians(-25))

    def test_samples_do_not_change_the_run(self):
        ends = [self.quick("newtons-cradle", "--set", f'record.every="{every}"')["probes"]
                for every in ("5 ms", "1 s")]
        for name in ends[0]:
            self.assertEqual(ends[0][name]["last"], ends[1][name]["last"])

    def test_dominoes_all_fall_at_a_steady_pace(self):
        summary, probe = self.curves("dominoes")
        tops = [f"top of domino {k}" for k in (10, 20, 30, 40)]
        for top in tops:
            self.assertLess(summary["probes"][top]["last"], 0.020)  # 0.048 where it stands
        times = [crossing(probe["time"], probe[top], 0.046) for top in tops]
        paces = [b - a for a, b in zip(times, times[1:])]
        for pace in paces:
            self.assertAlmostEqual(pace, 0.325, delta=0.01)

    def test_arm_wipes_at_a_steady_press_in_real_time(self):
        summary, probe = self.curves("arm")
        self.assertEqual(summary["warnings"], [])
        self.assertGreater(summary["realtime_factor"], 20)
        pressed = [f for t, f in zip(probe["time"], probe["pressed with"]) if t > 1]
        self.assertGreater(min(pressed), 50)
        self.assertLess(max(pressed), 120)
        for name, reach in (("tip x", 0.06), ("tip y", 0.35)):
            wiped = probe[name]
            self.assertGreater(max(wiped) - min(wiped), reach)

    def test_quadruped_steps_and_stands_again(self):
        summary, probe = self.curves("quadruped")
        self.assertEqual(summary["warnings"], [])
        self.assertGreater(summary["touches"], 20)
        for name in ("trunk x", "trunk y"):
            for side in ("least", "largest"):
                self.assertAlmostEqual(summary["probes"][name][side], 0, delta=1e-3)
        self.assertGreater(summary["probes"]["height of the trunk"]["least"], 0.3)
        self.assertLess(summary["probes"]["height of the trunk"]["largest"], 0.36)
        # In the air while it steps, on the ground in the end with a quarter of 15.8 kg.
        for foot in ("front left foot", "front right foot"):
            self.assertIn(0.0, [f for t, f in zip(probe["time"], probe[foot]) if t > 1])
            self.assertAlmostEqual(summary["probes"][foot]["last"], 15.8 * 9.81 / 4, delta=8)

    def test_pinched_capsule_does_not_drift(self):
        short, long = (self.quick("pinched-capsule", "--set", f"clock.duration_s={seconds}")
                       for seconds in (1, 5))
        self.assert_ledger_balances(long)
        heights = [run["probes"]["height"]["last"] for run in (short, long)]
        self.assertLess(abs(heights[0]), 5e-5)
        self.assertAlmostEqual(heights[0], heights[1], delta=1e-12)
        self.assertAlmostEqual(long["probes"]["left friction"]["last"], 0.98, delta=0.02)

    def test_skate_straightens_out(self):
        """Chaplygin's sleigh: v' = a ω², (I + m a²) ω' = −m a v ω; all its energy ends in v."""
        mass, ahead, inertia, v, w = 5, 0.2, 0.15, 0.5, 6
        final = math.sqrt(v**2 + (inertia + mass * ahead**2) * w**2 / mass)
        errors = []
        for step in (2, 1):
            summary = self.quick("skate", "--set", f"clock.step_ms={step}")
            errors.append(final - summary["probes"]["speed of the blade"]["last"])
            self.assertLess(summary["ledger"]["relative_residual"], 1e-9)
        self.assertLess(abs(errors[1]), 1e-3)
        self.assertAlmostEqual(errors[0] / errors[1], 2, delta=0.1)  # order 1

    def test_shaken_block_does_not_creep(self):
        short, long = (self.quick("shaken-block", "--set", f"clock.duration_s={seconds}")
                       for seconds in (4, 10))  # whole numbers of shakes
        self.assert_ledger_balances(long)
        places = [run["probes"]["block x"]["last"] for run in (short, long)]
        self.assertAlmostEqual(places[0], places[1], delta=1e-10)

    def test_bristles_creep_where_springs_hold(self):
        law = 'contacts.0.friction={law="lugre",mu_static=0.6,mu_coulomb=0.6}'
        short, long = (self.quick("shaken-block", "--set", law, "--set",
                                  f"clock.duration_s={seconds}") for seconds in (2, 4))
        places = [run["probes"]["block x"]["last"] for run in (short, long)]
        self.assertGreater(places[1] - places[0], 5e-5)

    def test_double_pendulum(self):
        summary = self.quick("double-pendulum")
        self.assert_ledger_balances(summary)
        self.assertEqual(summary["touches"], 38)
        for name, angle in (("phi1", 1.9174), ("phi2", -65.7402)):
            self.assertAlmostEqual(math.degrees(summary["probes"][name]["last"]), angle,
                                   delta=2e-4)

    def test_four_bar_pushes_the_block_to_its_dead_centre(self):
        summary, probe = self.curves("four-bar")
        self.assert_ledger_balances(summary)
        # Freudenstein 1955, with bars a = 0.1, b = 0.25, c = 0.2 and d = 0.25 between the pivots:
        # d/a cos ψ − d/c cos θ + (a² − b² + c² + d²)/(2 a c) = cos(θ − ψ).
        a, b, c, d = 0.1, 0.25, 0.2, 0.25
        for crank, rocker in zip(probe["crank"], probe["rocker"]):
            between = (d / a * math.cos(rocker) - d / c * math.cos(crank)
                       + (a * a - b * b + c * c + d * d) / (2 * a * c))
            self.assertAlmostEqual(between, math.cos(crank - rocker), delta=1e-7)
        # Crank and coupler in line: cos ψ = ((a + b)² − c² − d²)/(2 c d), and the foot is 0.28 m out.
        turned = ((a + b) ** 2 - c * c - d * d) / (2 * c * d)
        face = d + 0.28 * turned + 0.02
        self.assertAlmostEqual(max(map(math.cos, probe["rocker"])), turned, delta=1e-5)
        # Pushed with μ m g = 2.45 N the foot sinks in by 0.04 mm, and the block, 0.1 mm deep in the
        # table, tilts under it.
        self.assertAlmostEqual(summary["probes"]["face of the block"]["last"], face, delta=1.5e-4)

    def test_a_loop_may_be_a_spring(self):
        """A ball on a spring of the loop swings about its rest at √(k/m)."""
        scene = self.folder / "spring.toml"
        scene.write_text(BALL.replace("duration_s = 0.1", "duration_s = 2") + """
[[loops]]
name = "spring"
type = "point"
a = "floor"
a_position_m = [0, 0, 0.2]
b = "ball"
stiffness_N_m = 1000
[[probes]]
name = "height"
kind = "point"
body = "ball"
component = "z"
""")
        probes = self.summary(scene, "--no-recording", "--set", 'record.every="1 ms"')["probes"]
        self.assertAlmostEqual(probes["height"]["largest"], 0.2, delta=1e-9)
        self.assertAlmostEqual(probes["height"]["least"], 0.2 - 2 * 9.81 / 1000, delta=1e-6)
        w = math.sqrt(1000)
        self.assertAlmostEqual(probes["height"]["last"],
                               0.2 - 9.81 / 1000 * (1 - math.cos(w * 2)), delta=1e-6)

    def test_joints_hang_where_their_fixed_body_stands(self):
        scene = self.folder / "wall.toml"
        scene.write_text("""
[[bodies]]
name = "wall"
fixed = true
position_m = [1, 2, 3]
rotation_deg = [0, 90, 0]
[[bodies]]
name = "bob"
mass_kg = 1
[[joints]]
name = "nail"
type = "spherical"
parent = "wall"
child = "bob"
position_m = [0.5, 0, 0]
""" + "".join(f'[[probes]]\nname = "{axis}"\nkind = "point"\nbody = "bob"\n'
              f'component = "{axis}"\n' for axis in "xyz"))
        probes = self.summary(scene, "--no-recording", "--set", "bodies.bob.inertia_kg_m2=[1,1,1]")
        for axis, place in zip("xyz", (1, 2, 2.5)):
            self.assertAlmostEqual(probes["probes"][axis]["last"], place, delta=1e-12)

    def test_real_time(self):
        for arguments in ((), ("--realtime",), ("--realtime", "--priority")):
            summary = self.quick("arm", "--set", "clock.duration_s=0.3", *arguments)
            histograms = {key: summary[key] for key in summary if key.endswith("_histogram_us")}
            self.assertEqual("wake_up_latency_histogram_us" in histograms, bool(arguments))
            for name, bins in histograms.items():
                times = summary[name.replace("_histogram", "")]
                of = name.removesuffix("_histogram_us") if name.startswith("missed") else "steps"
                self.assertEqual(sum(count for _, count in bins), summary[of], name)
                self.assertLessEqual(times["median"], times["p99"])
                self.assertLessEqual(times["p99"], times["longest"])
                if bins:
                    self.assertLessEqual(bins[-1][0], times["longest"])
            self.assertLessEqual(summary["missed_deadlines"], summary["steps"])
            if arguments:  # every miss is ours or the system's, and an arm is no work at all
                self.assertEqual(summary["missed_own"] + summary["missed_system"],
                                 summary["missed_deadlines"])
                self.assertEqual(summary["missed_own"], 0)
        # The last tick begins 0.299 s after the first.
        self.assertGreaterEqual(summary["elapsed_s"], 0.299)

    def test_tippe_top_turns_over_at_any_tolerance(self):
        times = []
        for rtol in ("1e-6", "1e-9"):
            summary, probe = self.curves("tippe-top", "--set", f"clock.rtol={rtol}",
                                         "--set", "clock.duration_s=2.5")
            self.assert_ledger_balances(summary)
            t, com = probe["time"], probe["centre of mass"]
            lying = crossing(t, [s - c for s, c in zip(probe["end of the stem"], com)], 0)
            times.append((lying, crossing(t, com, 0.023)))
            # Upright on its stem: 19 mm, and 4.5 mm more.
            self.assertAlmostEqual(max(com), 0.0235, delta=2e-4)
        self.assertAlmostEqual(times[0][0], times[1][0], delta=1e-6)
        self.assertAlmostEqual(times[0][1], times[1][1], delta=1e-4)

    def test_rattleback_reverses_one_way_only(self):
        turned = []
        for spin in (-5, 5):
            summary, probe = self.curves(
                "rattleback", "--set", f"bodies.stone.angular_velocity_rad_s=[0,0,{spin}]")
            self.assert_ledger_balances(summary)
            heading = [math.atan2(y - cy, x - cx) for x, y, cx, cy in zip(
                probe["tip x"], probe["tip y"], probe["middle x"], probe["middle y"])]
            angle, angles = 0.0, [0.0]
            for a, b in zip(heading, heading[1:]):
                angle += (b - a + math.pi) % (2 * math.pi) - math.pi
                angles.append(angle)
            turned.append((min(angles), max(angles), angles[-1]))
        least, _, last = turned[0]
        self.assertLess(least, -1)          # it goes the way it was spun,
        self.assertGreater(last, least + 6)  # and comes back by more than a turn
        _, largest, last = turned[1]
        self.assertGreater(last, 20)
        self.assertAlmostEqual(last, largest, delta=0.5)  # the other way it just goes on


class Holding(Case):
    """What stands or is held under the complementarity integrator does not move: a minute, 1 ms a step."""

    def minute(self, name):
        """The summary and, for every whole second, the motion of all bodies: [(places, speeds)]."""
        out = self.folder / name
        summary = self.summary(SCENES / f"{name}.toml", "--out", out, "--set",
                               "clock.duration_s=60", "--set", 'record.every="1 s"')
        self.assertEqual(summary["clock"], "complementarity")
        self.assertEqual(summary["steps"], 60000)
        self.assertEqual(summary["evaluations"], summary["steps"])  # no substeps
        self.assertEqual(summary["solver"]["steps_not_converged"], 0)
        self.assertEqual(summary["warnings"], [])
        exported = call("export", out, "--csv")
        self.assertEqual(exported.returncode, FINE, exported.stderr)
        with open(out / "export" / "bodies.csv", newline="") as file:
            head, *rows = csv.reader(file)
        motions = []
        for row in rows:
            vectors = {}
            for column, value in zip(head, row):
                what, axis = column.split(" [")[0][:-2], column.split(" [")[0][-2:]
                if axis in ("_x", "_y", "_z"):
                    vectors.setdefault(what, []).append(float(value))
            motions.append(([v for key, v in vectors.items() if key.endswith(".position")],
                            [math.hypot(*v) for key, v in vectors.items()
                             if key.endswith(".velocity")]))
        return summary, motions

    def assert_still(self, motions, within=1e-9):
        for _, speeds in motions[10:]:
            self.assertLess(max(speeds), within)
        (early, _), (late, _) = motions[30], motions[-1]
        for a, b in zip(early, late):
            self.assertLess(math.dist(a, b), 30 * within)

    def test_arch_stands(self):
        summary, motions = self.minute("arch")
        self.assertEqual(len(motions[0][0]), 25)
        self.assert_still(motions)
        # It has settled a little, and comes down with half its weight on either side.
        start, end = motions[0][0][12][2], motions[-1][0][12][2]
        self.assertLess(0, start - end)
        self.assertLess(start - end, 2e-3)
        inner = 5 / math.sin(math.radians(70))
        section = ((inner + 0.8) ** 2 - inner**2) / 2 * math.sin(math.radians(5.6))
        weight = 25 * section * 2400 * 9.81
        thrust = summary["probes"]["left thrust"]["last"]
        down = summary["probes"]["weight on the left"]["last"]
        self.assertAlmostEqual(down / (weight / 2), -1, delta=1e-3)
        self.assertGreater(thrust, abs(down))

    def test_card_house_stands_or_falls(self):
        summary, motions = self.minute("card-house")
        self.assert_still(motions)
        self.assertGreater(summary["probes"]["top"]["last"], 0.249)
        weight = 9.81 * 900 * 0.0005 * 0.063 * (12 * 0.088 + 0.152 + 0.089)
        self.assertAlmostEqual(summary["probes"]["weight on the table"]["last"], weight, delta=1e-6)
        fallen = self.quick("card-house", "--set", "contacts.0.friction.mu=0.2")
        self.assertLess(fallen["probes"]["top"]["last"], 0.01)

    def test_gripper_lifts_and_holds_a_cup(self):
        summary, motions = self.minute("gripper-cup")
        self.assert_still(motions)
        probes = summary["probes"]
        self.assertAlmostEqual(probes["height"]["last"], 0.05 + 0.15, delta=3e-3)
        friction = probes["left friction"]["last"] + probes["right friction"]["last"]
        self.assertAlmostEqual(friction, 0.3 * 9.81, delta=1e-6)
        # It went up with the pads, from where the palm lay on its lower stop, and did not slip.
        _, lifting = self.curves("gripper-cup")
        at_rest = next(i for i, t in enumerate(lifting["time"]) if t > 0.18)
        self.assertAlmostEqual(lifting["height"][-1] - lifting["height"][at_rest],
                               lifting["palm"][-1] - lifting["palm"][at_rest], delta=1e-6)
        weak = self.quick("gripper-cup", "--set", "motors.2.torque_N=-1")
        self.assertAlmostEqual(weak["probes"]["height"]["last"], 0.05, delta=1e-3)


class SameBits(Case):
    def test_any_number_of_threads_and_twice_the_same(self):
        for name, seconds, settings in (("arm", 2, ()), ("quadruped", 2, ()),
                                        ("dominoes", 0.8, ("--set", "clock.substeps=2"))):
            runs = [self.quick(name, "--threads", threads, "--set", f"clock.duration_s={seconds}",
                               *settings) for threads in (1, 2, 1)]
            for other in runs[1:]:
                self.assertEqual(runs[0]["probes"], other["probes"], name)
                self.assertEqual(runs[0]["ledger"], other["ledger"], name)

    def test_killed_and_resumed(self):
        chance = random.Random(20040701)
        for name, every, settings in (("dominoes", 0.02, ("--set", "clock.substeps=4")),
                                      ("tippe-top", 0.05, ()),
                                      ("ball-in-cylinder", 0.1, ())):
            arguments = [SCENES / f"{name}.toml", "--checkpoint", every, *settings]
            whole = self.summary(*arguments, "--out", self.folder / f"{name}-whole")
            out = self.folder / f"{name}-killed"
            command, kills = ["run", *map(str, arguments), "--out", str(out)], 0
            while kills < 2:
                process = subprocess.Popen([PROGRAM, *command, "--json"],
                                           stdout=subprocess.DEVNULL)
                while process.poll() is None and not (out / "recording.log").exists():
                    time.sleep(0.002)  # until the run has begun
                time.sleep(0.03 + whole["elapsed_s"] * chance.uniform(0.1, 0.3))
                if process.poll() is not None or (out / "recording.h5").exists():
                    break
                process.kill()
                process.wait()
                kills += 1
                command = ["run", "--resume", str(out)]
            process.wait()
            self.assertGreater(kills, 0, name)
            resumed = self.summary("--resume", out)
            for key in ("steps", "touches", "events", "evaluations", "probes", "ledger"):
                self.assertEqual(whole[key], resumed[key], f"{name}: {key}")


    def test_a_finished_run_says_so_again(self):
        out = self.folder / "done"
        whole = self.summary(SCENES / "steel-ball.toml", "--set", "clock.duration_s=0.5",
                             "--out", out)
        again = self.summary("--resume", out)
        for key in again:  # all but the names of its files
            self.assertEqual(whole[key], again[key], key)
        self.assertIn("had finished", call("run", "--resume", out).stdout)
        # What was interrupted and lost its log cannot go on.
        process = subprocess.Popen(
            [PROGRAM, "run", str(SCENES / "ball-in-cylinder.toml"), "--json", "--out", str(out),
             "--set", "clock.duration_s=300"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=60), INTERRUPTED)
        (out / "recording.log").unlink()
        result = call("run", "--resume", out)
        self.assertEqual(result.returncode, BAD_INPUT)
        self.assertIn("recording.log is not there", result.stderr)


class Interrupts(Case):
    def test_ctrl_c_ends_cleanly(self):
        for name, size in (("ball-in-cylinder", 50000), ("dominoes", 600000)):  # more than ten samples
            out = self.folder / name
            process = subprocess.Popen(
                [PROGRAM, "run", str(SCENES / f"{name}.toml"), "--json", "--out", str(out),
                 "--set", "clock.duration_s=300"],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            log, end = out / "recording.log", time.monotonic() + 60
            while not (log.exists() and log.stat().st_size > size) and time.monotonic() < end:
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            text, complaint = process.communicate(timeout=60)
            self.assertEqual(process.returncode, INTERRUPTED, complaint)
            summary = json.loads(text)
            self.assertEqual(summary["status"], "interrupted")
            self.assertIn("interrupted at", complaint)
            exported = call("export", out, "--csv")
            self.assertEqual(exported.returncode, FINE, exported.stderr)
            rows = (out / "export" / "probes.csv").read_text().splitlines()
            self.assertGreater(len(rows), 10)

    def test_a_full_disk(self):
        most = 300 * 1024
        process = subprocess.run(
            [PROGRAM, "run", str(SCENES / "arm.toml"), "--json", "--out", str(self.folder),
             "--set", "clock.duration_s=60"], capture_output=True, text=True, timeout=60,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))
        self.assertEqual(process.returncode, CANNOT_GO_ON, process.stderr)
        self.assertIn("cannot be written any further", process.stderr)
        exported = call("export", self.folder, "--csv")
        self.assertEqual(exported.returncode, FINE, exported.stderr)
        rows = (self.folder / "export" / "bodies.csv").read_text().splitlines()
        self.assertGreater(len(rows), 100)

    def test_a_run_that_cannot_go_on(self):
        done = call("run", SCENES / "dominoes.toml", "--json", "--out", self.folder,
                    "--set", "clock.step_ms=2", "--set", "clock.substeps=1")
        self.assertEqual(done.returncode, CANNOT_GO_ON, done.stderr)
        self.assertIn("at t = ", done.stderr)
        self.assertIn("substeps", done.stderr)
        self.assertEqual(json.loads(done.stdout)["status"], "cannot go on")
        self.assertEqual(call("export", self.folder, "--csv").returncode, FINE)


BALL = """[clock]
duration_s = 0.1
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


class BadScenes(Case):
    def write(self, text):
        file = self.folder / "bad.toml"
        if isinstance(text, bytes):
            file.write_bytes(text)
        else:
            file.write_text(text)
        return file

    def refused(self, text, *words, line=None, arguments=()):
        file = self.write(text)
        for command in (("run", file, "--out", self.folder / "out"), ("scene", "check", file)):
            result = call(*command, *arguments)
            self.assertEqual(result.returncode, BAD_INPUT, result.stderr)
            self.assertEqual(result.stdout, "")
            for word in words:
                self.assertIn(word, result.stderr)
            if line is not None:
                for one in [line] if isinstance(line, int) else line:
                    self.assertIn(f"bad.toml:{one}: ", result.stderr)
        self.assertFalse((self.folder / "out").exists())
        return result.stderr

    def test_the_good_one(self):
        result = call("run", self.write(BALL), "--json", "--no-recording")
        self.assertEqual(result.returncode, FINE, result.stderr)

    def test_typo(self):
        self.refused(BALL.replace("mass_kg", "mas_kg"), "mas_kg", "mass_kg", line=10)

    def test_wrong_unit(self):
        self.refused(BALL.replace("mass_kg", "mass_m"), "mass_m", "mass_kg", line=10)
        self.refused(BALL.replace("radius_m", "radius"), "radius_m", line=14)

    def test_wrong_kind_of_value(self):
        self.refused(BALL.replace("mass_kg = 1", 'mass_kg = "heavy"'), "mass_kg", line=10)
        self.refused(BALL.replace("[0, 0, 0.2]", "[0, 0]"), "position_m", line=11)

    def test_negative_mass(self):
        self.refused(BALL.replace("mass_kg = 1", "mass_kg = -1"), "mass_kg = -1", line=10)

    def test_not_a_number(self):
        for value in ("nan", "inf"):
            self.refused(BALL.replace("mass_kg = 1", f"mass_kg = {value}"), "mass_kg", line=10)
            self.refused(BALL.replace("0.2]", f"{value}]"), "position_m", line=11)

    def test_the_same_name_twice(self):
        self.refused(BALL.replace('"ball"', '"floor"'), '"floor"', line=9)

    def test_unknown_body(self):
        joint = '[[joints]]\nname = "hinge"\ntype = "revolute"\nchild = "bal"\n'
        self.refused(BALL + joint, '"bal"', 'did you mean "ball"', line=18)
        probe = '[[probes]]\nname = "x"\nkind = "point"\nbody = "bal"\n'
        self.refused(BALL + probe, '"bal"', 'did you mean "ball"', line=18)

    def test_loops(self):
        second = ('[[bodies]]\nname = "other"\nmass_kg = 1\ninertia_kg_m2 = [1, 1, 1]\n'
                  '[[joints]]\nname = "hook"\ntype = "revolute"\nchild = "other"\n')
        loop = '[[loops]]\nname = "tie"\ntype = "hinge"\na = "other"\nb = "ball"\n'
        self.refused(BALL + loop, 'a = "other"', "no such body", line=18)
        good = BALL + second + loop
        self.refused(good.replace('b = "ball"', 'b = "bal"'), 'did you mean "ball"', line=27)
        self.refused(good.replace('b = "ball"', 'b = "other"'), "another body", line=27)
        for extra, *words in (
                ('length_m = 1', "length_m = 1", "a distance", '"hinge"'),
                ('damping_N_s_m = 1', "damping_N_s_m", "stiffness_N_m", "rigid"),
                ('stiffness_N_m = -1', "stiffness_N_m = -1", "above 0"),
                ('stiffness_N_m = 1', "stiffness_N_m", "rotational_stiffness_Nm_rad"),
                ('stiffnes_N_m = 1', "stiffnes_N_m", "did you mean stiffness_N_m"),
                ('stiffness = 1', "unit", "stiffness_N_m"),
                ('axis = [0, 0, 0]', "axis", "zero"),
                ('a_position_m = [0, 0]', "a_position_m", "3 numbers")):
            self.refused(good + extra + "\n", 'loop "tie"', *words, line=28)
        self.refused(good.replace('"hinge"', '"ring"'), "point, hinge, weld, distance", line=25)
        self.refused(good.replace('"hinge"', '"distance"'), "needs length_m", line=25)
        # Both hang on fixed pivots, too far apart.
        pivot = '[[joints]]\nname = "pivot"\ntype = "spherical"\nchild = "ball"\n'
        apart = good + pivot + "position_m = [3, 0, 0]\n"
        self.refused(apart, 'loop "tie"', "open by 3 m", "cannot be closed", line=24)
        twice = BALL + second + '[[joints]]\nname = "ring"\ntype = "free"\nchild = "other"\n'
        self.refused(twice, '"other"', "[[loops]]", line=26)

    def test_open_loops_are_closed_and_said(self):
        loop = '[[loops]]\nname = "tie"\ntype = "point"\nb = "ball"\na_position_m = [0, 0.3, 0.2]\n'
        result = call("scene", "check", self.write(BALL + loop))
        self.assertEqual(result.returncode, FINE, result.stderr)
        self.assertIn('bad.toml:16: loop "tie": it is open by 0.3 m', result.stdout)

    def test_overlap_at_the_start(self):
        self.refused(BALL.replace("0.2]", "0.05]"), "overlap", "allow_initial_overlap", line=8)

    def test_missing_mesh(self):
        mesh = BALL.replace('"sphere"\nradius_m = 0.1', '"mesh"\nfile = "gone.stl"')
        self.refused(mesh, "gone.stl", line=14)

    def test_every_problem_at_once(self):
        text = BALL.replace("mass_kg = 1", "mass_kg = -1").replace("radius_m", "radius_kg")
        text = text.replace("duration_s = 0.1", "duration_s = -3")
        self.refused(text, line=(2, 10, 14))

    def test_no_scene_at_all(self):
        self.refused("", "bad.toml")
        self.refused("# nothing but a comment\n", "bad.toml")
        self.refused(bytes(range(256)) * 40, "bad.toml")
        self.refused(b"\x00" * 100, "bad.toml")
        self.refused("[[bodies]\nname = 3\n", line=1)
        for command in (("run",), ("scene", "check"), ("scene", "show")):
            for path in (self.folder / "gone.toml", self.folder):
                result = call(*command, path)
                self.assertEqual(result.returncode, BAD_INPUT, result.stderr)
                self.assertEqual(result.stdout, "")
                self.assertIn(str(path), result.stderr)

    def test_settings(self):
        for setting, word in (("clock.duraton_s=2", "duraton_s"),
                              ("bodies.bal.mass_kg=3", "bal"),
                              ("bodies.ball.mass_kg=-3", "mass_kg"),
                              ("nonsense", "nonsense"),
                              ("colour=3", "colour")):
            self.refused(BALL, word, arguments=("--set", setting))
        result = call("run", self.write(BALL), "--no-recording", "--json", "--set",
                      "bodies.ball.mass_kg=3", "--set", "clock.duration_s=0.05")
        self.assertEqual(result.returncode, FINE, result.stderr)
        self.assertAlmostEqual(json.loads(result.stdout)["simulated_s"], 0.05, delta=1e-12)


if __name__ == "__main__":
    PROGRAM, SCENES = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
