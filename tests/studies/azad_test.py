"""The studies of Azad & Featherstone, against solutions that are written out here: closed forms,
and contacts by Runge–Kutta in the clock dt = 2 s dη with δ = s², flights in closed form.

usage: azad_test.py PROGRAM
"""

import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

PROGRAM = ""


# Independent solutions.


def rk4(f, y, h):
    n = range(len(y))
    a = f(y)
    b = f([y[i] + 0.5 * h * a[i] for i in n])
    c = f([y[i] + 0.5 * h * b[i] for i in n])
    d = f([y[i] + h * c[i] for i in n])
    return [y[i] + h / 6 * (a[i] + 2 * b[i] + 2 * c[i] + d[i]) for i in n]


def cut(f, y, h, beyond):
    """The state at which `beyond` begins to hold within a step."""
    low, high = 0.0, h
    for _ in range(60):
        middle = 0.5 * (low + high)
        if beyond(rk4(f, y, middle)):
            high = middle
        else:
            low = middle
    return rk4(f, y, high)


def contact(k, damping, mass, speed, gravity=0.0, clamp=True, steps=2000):
    """One contact under √δ (k δ + λ δ̇): what came of it, or None where it does not end."""
    depth = (1.25 * mass * speed**2 / k) ** 0.4
    if damping > 0:
        depth = min(depth, 1.5 * (mass * speed / damping) ** (2 / 3))
    depth += (mass * gravity / k) ** (2 / 3)
    h = 4 * math.sqrt(depth) / max(speed, math.sqrt(gravity * depth)) / steps
    free = False

    def unclamped(y):
        return y[0] * (k * y[0] ** 2 + damping * y[1])

    def rates(y):
        force = 0.0 if free else unclamped(y)
        s2 = 2 * y[0]
        return [y[1], s2 * (gravity - force / mass), s2, s2 * (force - k * y[0] ** 3) * y[1]]

    y = [0.0, speed, 0.0, 0.0]  # s, δ̇, t, loss
    result = {"peak_force": 0.0, "peak_depth": 0.0}
    forces = []
    turns = 0
    for _ in range(40 * steps):
        new = rk4(rates, y, h)
        if clamp and not free and new[0] > 0 and new[1] < 0 and unclamped(new) <= 0:
            y = cut(rates, y, h, lambda z: unclamped(z) <= 0)
            free = True
            result.update(release=y[2], release_depth=y[0] ** 2)
            continue
        if free and new[0] > 0 and unclamped(new) > 0:
            y = cut(rates, y, h, lambda z: unclamped(z) > 0)
            free = False
            continue
        if new[0] <= 0:
            new = cut(rates, y, h, lambda z: z[0] <= 0)
            result.setdefault("release", new[2])
            result.setdefault("release_depth", 0.0)
            top = max(range(1, len(forces) - 1), key=lambda i: forces[i])
            left, middle, right = forces[top - 1 : top + 2]
            bend = left - 2 * middle + right
            result["peak_force"] = middle - (right - left) ** 2 / (8 * bend)
            result.update(time=new[2], rate=-new[1], loss=new[3])
            return result
        if (y[1] > 0) != (new[1] > 0):
            turns += 1
            if y[1] > 0:
                top = cut(rates, y, h, lambda z: z[1] <= 0)
                result["peak_depth"] = max(result["peak_depth"], top[0] ** 2)
        if turns > 6:
            return None
        if not free:
            forces.append(unclamped(new))
        y = new
    return None


def bounces(height, mass, gravity, k, damping, duration):
    """Times of touches, (time, apex) of lift-offs, and the loss where all of it is known."""
    t, speed = math.sqrt(2 * height / gravity), math.sqrt(2 * gravity * height)
    touches, lift_offs, loss = [], [], 0.0
    while t < duration:
        touches.append(t)
        met = contact(k, damping, mass, speed, gravity)
        if met is None or t + met["time"] > duration:
            return touches, lift_offs, None
        speed = met["rate"]
        loss += met["loss"]
        lift_offs.append((t + met["time"], speed**2 / (2 * gravity)))
        t += met["time"] + 2 * speed / gravity
    return touches, lift_offs, loss


ROLLING = {
    "vx": 0.5, "vy": 0.5, "centre_height": 0.1, "mu": 0.2, "viscous": 0.1,
    "tangential_stiffness": 12.75e6, "tangential_damping": 3.1e3, "passive": 0,
    "duration": 1, "radius": 0.0165, "mass": 0.154, "stiffness": 8.5e6, "damping": 3.1e3,
    "gravity": 9.81,
}  # fmt: skip


def rolling(p, steps):
    """The study's results, as far as it was thrown; contacts end within the run."""
    k, damping, mass, gravity = p["stiffness"], p["damping"], p["mass"], p["gravity"]
    mu, viscous, passive = p["mu"], p["viscous"], p["passive"]
    k_t, d_t = p["tangential_stiffness"], p["tangential_damping"]

    def evaluate(y):
        s, rate = max(y[0], 0.0), y[1]
        spring = k * s**3
        normal = max(spring + damping * s * rate, 0.0)
        pull_x, pull_y = k_t * y[3] + d_t * y[5], k_t * y[4] + d_t * y[6]
        pull = math.hypot(pull_x, pull_y)
        gap = s * pull - mu * normal
        slip = gap / (d_t * s + viscous) if gap > 0 else 0.0
        u_x = y[5] - (slip * pull_x / pull if gap > 0 else 0.0)
        u_y = y[6] - (slip * pull_y / pull if gap > 0 else 0.0)
        f_x, f_y = -s * (k_t * y[3] + d_t * u_x), -s * (k_t * y[4] + d_t * u_y)
        return s, rate, spring, normal, gap, slip, u_x, u_y, f_x, f_y

    def rates(y):
        s, rate, spring, normal, _, slip, u_x, u_y, f_x, f_y = evaluate(y)
        pace, u2 = 2 * s, y[3] ** 2 + y[4] ** 2
        new_x = new_y = 0.0
        parametric = 0.5 * k_t * rate * u2
        if passive and rate > 0 and s > 0:
            new_x, new_y = -rate / s * y[3], -rate / s * y[4]
            parametric -= k_t * rate * u2
        return [
            rate, pace * (gravity - normal / mass), pace,
            pace * u_x + new_x, pace * u_y + new_y,
            pace * 3.5 * f_x / mass, pace * 3.5 * f_y / mass,
            pace * f_x / mass, pace * f_y / mass,
            pace * (normal - spring) * rate, pace * d_t * s * (u_x**2 + u_y**2),
            pace * (mu * normal * slip + viscous * slip**2), parametric,
        ]  # fmt: skip

    def sides(y):
        return evaluate(y)[4] > 0, k * y[0] ** 2 + damping * y[1] > 0

    t = math.sqrt(2 * (p["centre_height"] - p["radius"]) / gravity)
    speed = gravity * t
    slip_x, slip_y, v_x, v_y = p["vx"], p["vy"], p["vx"], p["vy"]
    works = [0.0] * 4
    out = {"first_touch_s": t}
    while t < p["duration"]:
        depth = (1.25 * mass * speed**2 / k) ** 0.4 + (mass * gravity / k) ** (2 / 3)
        h = 3 * math.sqrt(depth) / speed / steps
        y = [0.0, speed, 0.0, 0.0, 0.0, slip_x, slip_y, v_x, v_y, 0.0, 0.0, 0.0, 0.0]
        begins = ends = None
        least = 0.0
        while True:
            new = rk4(rates, y, h)
            if y[0] > 0 and new[0] > 0 and sides(new) != sides(y):
                before = sides(y)
                new = cut(rates, y, h, lambda z: sides(z) != before)
                if before[0] and not sides(new)[0] and begins is None:
                    begins = new[2]
                if not before[0] and sides(new)[0] and begins is not None and ends is None:
                    ends = new[2]
            if y[0] == 0 and not sides(new)[0]:
                begins = 0.0
            if new[0] <= 0:
                y = cut(rates, y, h, lambda z: z[0] <= 0)
                break
            least = min(least, evaluate(new)[8])
            y = new
        works = [a + b for a, b in zip(works, y[9:])]
        if "friction_min_N" not in out:
            out["stick_begins_ms"] = None if begins is None else 1e3 * begins
            out["stick_ends_ms"] = None if ends is None else 1e3 * ends
            out["friction_min_N"] = least
            out["slip_at_lift_off"] = y[5]
        slip_x, slip_y, v_x, v_y = y[5:9]
        speed = -y[1]
        t += y[2] + 2 * speed / gravity
    out.update(final_vx=v_x, final_vy=v_y)
    for name, work in zip(
        ("dissipated_normal_J", "dissipated_tangential_J", "dissipated_clutch_J",
         "parametric_work_J"), works):  # fmt: skip
        out[name] = work
    return out


def hunt_crossley_restitution(x):
    """x − ln(1+x) = −e x − ln(1 − e x)."""
    low, high = 1e-6, min(1.0, 1 / x)
    for _ in range(200):
        e = 0.5 * (low + high)
        if e * x < 1 and -e * x - math.log1p(-e * x) < x - math.log1p(x):
            low = e
        else:
            high = e
    return 0.5 * (low + high)


class Studies(unittest.TestCase):
    def run_study(self, name, status=0, **settings):
        arguments = [PROGRAM, "study", "run", name, "--json"]
        for key, value in settings.items():
            text = str(value).lower() if isinstance(value, bool) else value
            arguments += ["--set", f"{key}={text}"]
        result = subprocess.run(arguments, capture_output=True, text=True, timeout=100)
        self.assertEqual(result.returncode, status, f"{settings} {result.stdout}{result.stderr}")
        return json.loads(result.stdout) if status == 0 else result.stderr

    def results(self, name, **settings):
        return self.run_study(name, **settings)["results"]

    def near(self, value, reference, relative, message=""):
        self.assertIsNotNone(value, message)
        self.assertLessEqual(abs(value - reference), relative * abs(reference), message)


class Impacts(Studies):
    def test_results_are_those_announced(self):
        for study in (
            "azad2010.impact", "azad2010.recovery", "azad2010.bounce", "azad2010.rolling",
            "azad2014.restitution", "azad2014.bounce", "azad2014.materials",
        ):  # fmt: skip
            shown = json.loads(
                subprocess.run(
                    [PROGRAM, "study", "show", study, "--json"],
                    capture_output=True, text=True, check=True,
                ).stdout
            )  # fmt: skip
            run = self.run_study(study)
            self.assertEqual(list(run["results"]), [r["name"] for r in shown["results"]])
            self.assertTrue(all(check["pass"] for check in run["checks"]))

    def test_viscoelastic_sphere(self):
        for k, mass, speed, group, clamp in (
            (8.5e6, 0.154, 1, 0.455, True),
            (8.5e6, 0.154, 1, 0.455, False),
            (1e10, 0.066, 4.5, 0.05, True),
            (3e5, 2.0, 0.01, 1.5, True),
            (1e8, 0.5, 9.0, 2.0, False),
        ):
            damping = group * mass**0.4 * k**0.6 / speed**0.2
            r = self.results(
                "azad2010.impact", stiffness=k, mass=mass, speed=speed, damping=damping, clamp=clamp
            )
            met = contact(k, damping, mass, speed, clamp=clamp, steps=4000)
            self.near(r["restitution"], met["rate"] / speed, 1e-8)
            self.near(r["peak_force_N"], met["peak_force"], 1e-8)
            self.near(r["peak_depth_m"], met["peak_depth"], 1e-8)
            self.near(r["contact_time_s"], met["release"], 1e-8)
            if clamp:
                self.near(r["depth_at_release_m"], met["release_depth"], 1e-8)
            else:
                self.assertEqual(r["depth_at_release_m"], 0)

    def test_hunt_crossley(self):
        for a, speed, k in ((3.1e6 / 8.5e6, 1, 8.5e6), (0.05, 3, 1e9), (20.0, 0.5, 1e5)):
            r = self.results(
                "azad2010.impact", law="hunt-crossley", stiffness=k, damping=a * k, speed=speed
            )
            self.near(r["restitution"], hunt_crossley_restitution(a * speed), 1e-8)
            half = (a * speed - math.log1p(a * speed)) / a**2
            self.near(r["peak_depth_m"], (2.5 * 0.154 / k * half) ** 0.4, 1e-8)

    def test_linear(self):
        for zeta, clamp in ((0.0874, True), (0.5, True), (0.3, False), (2.0, True)):
            k, mass, speed = 8.5e6, 0.154, 1.7
            omega, damping = math.sqrt(k / mass), 2 * zeta * math.sqrt(k * mass)
            r = self.results(
                "azad2010.impact", law="linear", damping=damping, speed=speed, clamp=clamp
            )
            if zeta < 1:
                root = math.sqrt(1 - zeta**2)
                angle = 2 * math.acos(zeta) if clamp else math.pi
                time, top = angle / root / omega, math.acos(zeta) / root
                deepest = speed / omega * math.exp(-zeta * top)
            else:
                root = math.sqrt(zeta**2 - 1)
                top = math.acosh(zeta) / root
                time, deepest = 2 * top / omega, speed / omega * math.exp(-zeta * top)
            self.near(r["restitution"], math.exp(-zeta * omega * time), 1e-8)
            self.near(r["contact_time_s"], time, 1e-8)
            self.near(r["peak_depth_m"], deepest, 1e-8)
            if zeta >= 0.5:  # the force is largest at touch-down
                self.near(r["peak_force_N"], damping * speed, 1e-8)

    def test_second_landing_on_a_recovering_ground(self):
        for k, damping, mass, speed, second, delay in (
            (8.5e6, 3.1e3, 0.154, 1, 0.5, 1e-4),
            (8.5e6, 3.1e3, 0.154, 1, 0.01, 1e-4),
            (8.5e6, 3.1e3, 0.154, 1, 2, 0),
            (1e9, 3e5, 2, 3, 1, 2e-4),
        ):
            r = self.results(
                "azad2010.recovery", stiffness=k, damping=damping, mass=mass, speed=speed,
                second_speed=second, delay_s=delay,
            )  # fmt: skip
            first = contact(k, damping, mass, speed, steps=4000)
            flat = contact(k, damping, mass, second, steps=4000)
            self.near(r["restitution_first"], first["rate"] / speed, 1e-8)
            self.near(r["ground_left_at_m"], first["release_depth"], 1e-8)
            self.near(r["restitution_second_clamped"], flat["rate"] / second, 1e-8)
            # Where the body meets the ground, by fixed-point iteration; less energy is lost from there.
            t = delay
            for _ in range(200):
                t = 0.5 * (t + delay + first["release_depth"] * math.exp(-k / damping * t) / second)
            self.near(r["ground_met_at_m"], second * (t - delay), 1e-6)
            difference = r["restitution_second_recovering"] - r["restitution_second_clamped"]
            self.near(r["restitution_difference"], difference, 1e-12)
            self.assertGreater(difference, 0)
        late = self.results("azad2010.recovery", delay_s=0.02)
        self.assertLess(abs(late["restitution_difference"]), 1e-9)

    def test_dampings_left_open_are_the_papers(self):
        for law, damping in (("azad-featherstone", 3.1e3), ("hunt-crossley", 3.1e6), ("linear", 200)):
            self.assertEqual(
                self.run_study("azad2010.impact", law=law)["parameters"]["damping"], damping
            )

    def test_restitution_curve(self):
        for group, clamp, e in (
            (0.1, True, 0.892858875507),
            (0.5, True, 0.595251501135),
            (1, True, 0.393930603230),
            (5, True, 0.068899657679),
            (0.1, False, 0.892147587290),
            (0.5, False, 0.573824628665),
        ):
            k, mass, speed = 3e8, 0.4, 2.5
            damping = group * mass**0.4 * k**0.6 / speed**0.2
            r = self.results(
                "azad2014.restitution",
                stiffness=k, mass=mass, speed=speed, damping=damping, clamp=clamp,
            )  # fmt: skip
            self.assertAlmostEqual(r["restitution"], e, delta=1e-11 + 1e-9 * e)
            self.near(r["lambda_group"], group, 1e-12)

    def test_slope_and_contact_time(self):
        for settings in ({}, {"speed": 0.05, "clamp": False}, {"damping": 3e5, "mass": 0.5}):
            p = {"stiffness": 1e10, "damping": 1e5, "mass": 0.066, "speed": 1, "clamp": True}
            p.update(settings)

            def met(by):
                return contact(
                    p["stiffness"], p["damping"], p["mass"], p["speed"] * 10**by, clamp=p["clamp"]
                )

            def e(by):
                return met(by)["rate"] / (p["speed"] * 10**by)

            h = 0.05
            slope = (8 * (e(h) - e(-h)) - (e(2 * h) - e(-2 * h))) / (12 * h)
            r = self.results("azad2014.restitution", **settings)
            self.assertAlmostEqual(r["log_slope_per_decade"], slope, delta=1e-7)
            self.near(r["contact_time_s"], met(0)["release"], 1e-8)


class Bounces(Studies):
    def test_bounces(self):
        for settings in (
            {},
            {"height": 0.5, "gravity": 1.62, "duration": 3},
            {"stiffness": 1e9, "damping": 4e4, "duration": 0.6},
            {"damping": 2e4},
            {"duration": 0.1},
            {"duration": 0.2},
        ):
            p = {"height": 0.1, "mass": 0.154, "stiffness": 8.5e6, "damping": 3.1e3}
            p.update({"gravity": 9.81, "duration": 1})
            p.update(settings)
            r = self.results("azad2010.bounce", **settings)
            touches, lift_offs, loss = bounces(
                p["height"], p["mass"], p["gravity"], p["stiffness"], p["damping"], p["duration"]
            )
            self.assertEqual(r["bounces"], len(lift_offs), settings)
            for i, name in enumerate(("first_apex_m", "second_apex_m", "third_apex_m")):
                if i < len(lift_offs) and lift_offs[i][0] + math.sqrt(
                    2 * lift_offs[i][1] / p["gravity"]
                ) <= p["duration"]:
                    self.near(r[name], lift_offs[i][1], 1e-7)
                else:
                    self.assertIsNone(r[name])
            if touches:
                self.assertAlmostEqual(r["last_touch_s"], touches[-1], delta=1e-8)
            else:
                self.assertIsNone(r["last_touch_s"])
            if loss is not None:
                self.near(r["dissipated_normal_J"], loss, 1e-7)
            if lift_offs:
                first = contact(
                    p["stiffness"], p["damping"], p["mass"],
                    math.sqrt(2 * p["gravity"] * p["height"]), p["gravity"],
                )  # fmt: skip
                self.near(r["first_peak_N"], first["peak_force"], 1e-8)
            energy = p["mass"] * p["gravity"] * p["height"]
            self.assertLess(abs(r["energy_residual_J"]), 1e-10 * energy)

    def test_steps_of_a_stiff_contact(self):
        r = self.results("azad2014.bounce")
        self.assertEqual((r["bounces_above_1mm"], r["micro_bounces"]), (11, 26))
        self.assertAlmostEqual(r["decay_time_s"], 2.391673406, delta=1e-3)
        self.assertAlmostEqual(r["ring_frequency_Hz"], 1524.5, delta=1)
        self.assertLessEqual(r["steps_total"], 700)
        self.assertEqual(
            r["steps_total"], r["steps_decay"] + r["steps_settle"] + r["steps_rest"]
        )
        r = self.results("azad2014.bounce", rtol=1e-10)
        self.assertEqual((r["bounces_above_1mm"], r["micro_bounces"]), (11, 26))
        self.assertAlmostEqual(r["decay_time_s"], 2.391673406, delta=2e-9)
        self.assertAlmostEqual(r["last_touch_s"], 2.529867593, delta=2e-9)

    def test_other_stiff_contacts(self):
        for height, mass, gravity, k, damping in (
            (0.3, 1.0, 9.81, 1e8, 1.2e4),
            (2.0, 0.02, 9.81, 5e10, 3e5),
            (0.0005, 0.066, 10, 1e10, 2e5),
            (0.1, 0.066, 10, 1e10, 3e6),
        ):
            p = {"height": height, "mass": mass, "gravity": gravity}
            p.update({"stiffness": k, "damping": damping, "duration": 4})
            touches, lift_offs, _ = bounces(height, mass, gravity, k, damping, 4)
            high = [i for i, l in enumerate(lift_offs) if l[1] > 1e-3]
            decayed = touches[high[-1] + 1 if high else 0]
            rest = (mass * gravity / k) ** (2 / 3)
            decay = damping * math.sqrt(rest) / (2 * mass)
            square = 1.5 * k * math.sqrt(rest) / mass - decay**2
            for rtol, exact in ((1e-5, 1e-3), (1e-10, 1e-7)):
                r = self.results("azad2014.bounce", rtol=rtol, **p)
                self.assertEqual(r["bounces_above_1mm"], len(high), p)
                self.assertEqual(r["micro_bounces"], len(lift_offs) - len(high), p)
                self.assertAlmostEqual(r["decay_time_s"], decayed, delta=exact)
                if square > 0:
                    self.near(r["ring_frequency_Hz"], math.sqrt(square) / 2 / math.pi, 1e-9)
                else:
                    self.assertIsNone(r["ring_frequency_Hz"])


class Rolling(Studies):
    def test_as_published(self):
        r = self.results("azad2010.rolling")
        self.assertAlmostEqual(r["first_touch_s"], 0.130473926, delta=1e-9)
        self.assertAlmostEqual(r["stick_begins_ms"], 0.933732, delta=1e-6)
        self.assertAlmostEqual(r["stick_ends_ms"], 1.794072, delta=1e-6)
        self.assertAlmostEqual(r["final_vx"], 5 / 14, delta=1e-9)
        self.assertAlmostEqual(r["final_vy"], 5 / 14, delta=1e-9)
        self.near(r["dissipated_normal_J"], 0.126175444, 1e-8)
        self.near(r["dissipated_tangential_J"], 0.003636988, 2e-7)
        self.near(r["dissipated_clutch_J"], 0.008033108, 1e-7)
        self.near(r["parametric_work_J"], 0.000670096, 1e-6)
        self.near(r["total_energy_J"], 0.189574, 1e-10)
        self.assertLess(abs(r["energy_residual_J"]), 1e-11)

    def test_contacts(self):
        for settings in (
            {"duration": 0.2},
            {"duration": 0.2, "vx": -0.8, "vy": 0.3, "mu": 0.5, "viscous": 0},
            {"duration": 0.3, "passive": 1, "vx": 1.5, "vy": -0.4, "stiffness": 2e7},
            # next to all of the clutch's loss comes as the contact ends
            {"duration": 0.25, "passive": 1, "vx": -1.3, "vy": 0.65, "centre_height": 0.2,
             "mu": 0.43, "viscous": 1, "tangential_stiffness": 1.8e6,
             "tangential_damping": 515, "mass": 0.2, "stiffness": 2.2e7, "damping": 2.7e3},
            {"duration": 0.2, "mu": 2, "tangential_damping": 1e4},
            {"duration": 0.2, "mu": 0.04, "tangential_stiffness": 4e7,
             "tangential_damping": 200, "vx": 0.8, "vy": -0.4, "viscous": 0},
        ):  # fmt: skip
            p = dict(ROLLING, **settings)
            expected = rolling(p, 6000)
            r = self.results("azad2010.rolling", **settings)
            energy = p["mass"] * (
                p["gravity"] * p["centre_height"] + 0.5 * (p["vx"] ** 2 + p["vy"] ** 2)
            )
            self.near(r["total_energy_J"], energy, 1e-10)
            self.assertLess(abs(r["energy_residual_J"]), 1e-10 * energy)
            for name, reference in expected.items():
                value, what = r[name], f"{name} {settings}"
                if reference is None:
                    self.assertIsNone(value, what)
                elif name in ("stick_begins_ms", "stick_ends_ms"):
                    self.assertAlmostEqual(value, reference, delta=1e-6, msg=what)
                elif name == "friction_min_N":
                    self.near(value, reference, 1e-4, what)
                elif name.endswith("_J"):
                    self.assertAlmostEqual(
                        value, reference, delta=1e-6 * abs(reference) + 1e-10 * energy, msg=what
                    )
                else:
                    self.assertAlmostEqual(value, reference, delta=1e-8, msg=what)

    def test_it_ends_rolling(self):
        for settings in (
            {"vx": 1, "vy": -0.25, "duration": 2},
            {"passive": True, "mu": 0.6},
            {"radius": 0.03, "mass": 0.5, "centre_height": 0.2, "mu": 0.4, "duration": 3},
        ):
            p = dict(ROLLING, **settings)
            r = self.results("azad2010.rolling", **settings)
            self.assertAlmostEqual(r["final_vx"], 5 / 7 * p["vx"], delta=1e-9)
            self.assertAlmostEqual(r["final_vy"], 5 / 7 * p["vy"], delta=1e-9)
            if p["passive"]:
                self.assertLessEqual(r["parametric_work_J"], 0)

    def test_what_does_not_happen_has_no_value(self):
        r = self.results("azad2010.rolling", duration=0.1)
        for name in ("first_touch_s", "stick_begins_ms", "friction_min_N", "slip_at_lift_off"):
            self.assertIsNone(r[name])
        self.assertEqual(r["final_vx"], 0.5)


class Materials(Studies):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "points.csv"

    def write(self, rows, header="speed_m_s,restitution"):
        self.path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")

    def test_stiffness_of_pairs(self):
        e_star = 1 / (2 * (1 - 0.33**2) / 110e9)
        r = self.run_study("azad2014.materials", pair="A")
        self.near(r["results"]["stiffness"], 4 / 3 * e_star * math.sqrt(0.0075), 1e-12)
        ball = 4 / 3 * math.pi * 0.015**3 * 8530
        self.near(r["parameters"]["mass"], ball / 2, 1e-12)
        e_star = 1 / ((1 - 0.29**2) / 200e9 + (1 - 0.26**2) / 120e9)
        r = self.results("azad2014.materials", pair="B")
        self.near(r["stiffness"], 4 / 3 * e_star * math.sqrt(0.0127), 1e-12)
        for pair in "CDEF":
            r = self.results("azad2014.materials", pair=pair)
            self.assertLess(r["rms"], r["rms_hunt_crossley"])

    def test_a_fit_is_the_best_one(self):
        chance = random.Random(5)
        k, mass = 1.2e10, 0.07
        per_group = mass**0.4 * k**0.6

        def curve(group):
            return contact(1, group, 1, 1, steps=300)["rate"]

        speeds = [10 ** chance.uniform(-1.5, 1) for _ in range(8)]
        data = [curve(0.4 * v**0.2) + chance.gauss(0, 0.01) for v in speeds]
        self.write([f"{v!r},{e!r}" for v, e in zip(speeds, data)])
        r = self.results("azad2014.materials", data=self.path, stiffness=k, mass=mass)

        def squares(group):
            return sum((e - curve(group * v**0.2)) ** 2 for v, e in zip(speeds, data))

        # A parabola through three points near the minimum, twice.
        best = 0.4
        for h in (0.02, 0.002):
            for _ in range(2):
                low, middle, high = squares(best - h), squares(best), squares(best + h)
                best -= h * (high - low) / 2 / (high - 2 * middle + low)
        self.near(r["damping"], best * per_group, 1e-5)
        ssr = squares(best)
        self.near(r["rms"], math.sqrt(ssr / 8), 1e-7)
        h = 1e-3
        slopes = [(curve((best + h) * v**0.2) - curve((best - h) * v**0.2)) / (2 * h) for v in speeds]
        sd = math.sqrt(ssr / 7 / sum(j * j for j in slopes))
        self.near(r["damping_sd"], sd * per_group, 1e-4)
        mean = sum(data) / 8
        self.near(r["rms_constant"], math.sqrt(sum((e - mean) ** 2 for e in data) / 8), 1e-10)

        def miss(a):
            return sum((e - hunt_crossley_restitution(a * v)) ** 2 for v, e in zip(speeds, data))

        least = min(miss(10 ** (i / 400 - 2)) for i in range(1600))
        self.near(r["rms_hunt_crossley"], math.sqrt(least / 8), 1e-4)

    def test_bad_files_are_refused(self):
        good = ["1,0.5", "2,0.45", "3,0.4"]
        for rows, line, words in (
            (["1,1.4", *good], 2, "restitution = \"1.4\" must lie in (0, 1]"),
            ([*good, "2,0"], 5, "restitution = \"0\" must lie in (0, 1]"),
            (["1,0.5", "-2,0.5", "3,0.4"], 3, "speed_m_s = \"-2\" must lie in (0, "),
            (["1,0.5", "fast,0.5", "3,0.4"], 3, "speed_m_s = \"fast\" must be a number"),
            (["1,0.5", "2", "3,0.4"], 3, "two numbers"),
            (["1,0.5", "2,0.5,7", "3,0.4"], 3, "two numbers"),
            (["1,0.5", "2,0.5"], 3, "at least 3"),
        ):
            self.write(rows)
            message = self.run_study("azad2014.materials", status=2, data=self.path)
            self.assertIn(f"{self.path}:{line}: ", message)
            self.assertIn(words, message)
        self.write(good, header="v,e")
        message = self.run_study("azad2014.materials", status=2, data=self.path)
        self.assertIn(f"{self.path}:1: the header = \"v,e\"", message)
        self.path.unlink()
        message = self.run_study("azad2014.materials", status=2, data=self.path)
        self.assertIn(f"{self.path}:1: cannot be read", message)


class Refusals(Studies):
    def test_bad_parameters(self):
        for study, settings, words in (
            ("azad2010.impact", {"dampin": 3}, 'did you mean "damping"?'),
            ("azad2010.impact", {"speed": 0}, "speed = 0 must lie in"),
            ("azad2010.impact", {"damping": "nan"}, "damping"),
            ("azad2010.impact", {"law": "hertz"}, "azad-featherstone, hunt-crossley or linear"),
            ("azad2010.impact", {"law": "linear", "clamp": False, "damping": 1e4}, "clamp=true"),
            ("azad2010.rolling", {"centre_height": 0.01}, "must be above radius"),
            ("azad2014.materials", {"pair": "G"}, "A, B, C, D, E or F"),
        ):
            self.assertIn(words, self.run_study(study, status=2, **settings))

    def test_fixed_clock(self):
        for study in ("azad2010.impact", "azad2010.recovery", "azad2010.bounce", "azad2010.rolling"):
            self.run_study(study, clock="fixed")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PROGRAM = sys.argv.pop(1)
    unittest.main()
