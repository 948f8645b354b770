"""`bristle study` and the studies of Gonthier et al. 2004, against closed forms and against the
equations written out once more, here.

usage: gonthier_test.py PROGRAM
"""

import base64
import csv
import gzip
import json
import math
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import unittest

PROGRAM = ""
FINE, CHECK_FAILED, BAD_INPUT, CANNOT_WRITE = 0, 1, 2, 3


def run(*arguments):
    return subprocess.run([PROGRAM, "study", *arguments], capture_output=True, text=True,
                          timeout=300)


def study(name, **settings):
    """The JSON of one study that went through."""
    words = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    done = run("run", name, "--json", *words)
    if done.returncode not in (FINE, CHECK_FAILED):
        raise AssertionError(f"{name} {settings}: {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


def results(name, **settings):
    return study(name, **settings)["results"]


def solve(function, low, high):
    """Where a rising function is zero."""
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if function(middle) < 0 else (low, middle)
    return 0.5 * (low + high)


def distance(point, a, b):
    """Of a point from a segment, as complex numbers."""
    along = b - a
    part = ((point - a) * along.conjugate()).real / abs(along) ** 2 if along else 0
    return abs(point - a - min(max(part, 0), 1) * along)


def defect(x):
    """(x − ln(1+x))/x²"""
    if abs(x) < 1e-2:
        return sum((-x) ** (n - 2) / n for n in range(2, 12))
    return (x - math.log1p(x)) / x**2


def damping_factor(e):
    top = math.nextafter(1, 0)
    return solve(lambda d: e * e * defect(-d) - defect(d / e), 0, top) if e < 1 else 0


class Contract(unittest.TestCase):
    def refused(self, *arguments, status=BAD_INPUT):
        done = run(*arguments)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertEqual(done.stdout, "")
        return done.stderr

    def test_list_and_show(self):
        names = [s["name"] for s in json.loads(run("list", "--json").stdout)["studies"]]
        for name in ("damping-factor", "impact", "stick-slip", "inclined-plane", "cylinder",
                     "double-pendulum", "pendulum-impact"):
            self.assertIn(f"gonthier2004.{name}", names)
        for name in names:
            text = run("show", name)
            self.assertEqual(text.returncode, FINE)
            about = json.loads(run("show", name, "--json").stdout)
            known = [p["name"] for p in about["parameters"]]
            if name.startswith("peiret."):
                continue  # their clock is what they are about
            if name.startswith("boos2013.") or name == "gonthier.spin":
                continue  # nothing moves in time, or the law's own impact
            for clock in ("clock", "rtol", "step_s", "substeps", "method"):
                self.assertIn(clock, known, name)
            self.assertEqual(len(known), len(set(known)), name)

    def test_json_is_as_promised(self):
        answer = study("gonthier2004.impact", restitution=0.3)
        self.assertEqual(answer["study"], "gonthier2004.impact")
        self.assertEqual(answer["parameters"]["restitution"], 0.3)
        self.assertEqual(answer["parameters"]["law"], "gonthier")
        announced = [r["name"] for r in
                     json.loads(run("show", "gonthier2004.impact", "--json").stdout)["results"]]
        self.assertEqual(list(answer["results"]), announced)
        for check in answer["checks"]:
            self.assertEqual(list(check),
                             ["name", "value", "reference", "tolerance", "source", "pass"])

    def test_bad_input(self):
        self.assertIn("did you mean \"gonthier2004.impact\"?",
                      self.refused("run", "gonthier2004.impcat"))
        self.assertIn("did you mean \"restitution\"?",
                      self.refused("run", "gonthier2004.impact", "--set", "resitution=0.3"))
        self.assertIn("must lie in", self.refused("run", "gonthier2004.impact",
                                                  "--set", "restitution=2"))
        self.assertIn("gonthier or hunt-crossley",
                      self.refused("run", "gonthier2004.impact", "--set", "law=hertz"))
        self.assertIn("alpha", self.refused("run", "gonthier2004.impact", "--set", "speed=6",
                                            "--set", "restitution_model=empirical"))
        self.assertIn("inside", self.refused("run", "gonthier2004.cylinder", "--set", "x0=5"))
        self.assertIn("cannot write", self.refused("run", "gonthier2004.damping-factor",
                                                   "--out", "/proc/nowhere",
                                                   status=CANNOT_WRITE))

    def test_a_check_that_fails_is_told(self):
        done = run("run", "gonthier2004.double-pendulum", "--set", "rtol=0.05",
                   "--set", "duration=10", "--json")
        self.assertEqual(done.returncode, CHECK_FAILED, done.stderr)
        self.assertFalse(all(c["pass"] for c in json.loads(done.stdout)["checks"]))

    def test_figures_and_data(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run("run", "gonthier2004.damping-factor", "--out", f"{folder}/new/deeper")
            self.assertEqual(done.returncode, FINE, done.stderr)
            stem = pathlib.Path(folder) / "new" / "deeper" / "gonthier2004.damping-factor"
            self.assertTrue(stem.with_name(stem.name + ".svg").read_text().startswith("<svg"))
            self.assertEqual(stem.with_name(stem.name + ".png").read_bytes()[1:4], b"PNG")
            lines = stem.with_name(stem.name + ".csv").read_text().splitlines()
            self.assertEqual(lines[0], "panel,curve,x,y")
            self.assertGreater(len(lines), 100)
            self.assertIn("Figures and data", done.stdout)
            page = stem.with_name("report.html")
            if "built without Node.js" in done.stdout:
                self.assertFalse(page.exists())
            else:
                text = page.read_text()
                self.assertIn("<title>The damping factor that gives a coefficient", text)
                self.assertIn('id="data"', text)
                self.assertIn(str(page), done.stdout)

    def test_the_page_shows_what_was_found_and_asked_for(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run("run", "gonthier2004.inclined-plane", "--set", "tilt_deg=12", "--set", "rtol=1e-9",
                       "--json", "--out", folder)
            told = json.loads(done.stdout)  # JSON and nothing else
            page = pathlib.Path(folder) / "report.html"
            if not page.exists():
                self.skipTest("built without Node.js")
            packed = re.search(r'id="data">([^<]+)<', page.read_text()).group(1)
            everything = gzip.decompress(base64.b64decode(packed))
            length = int.from_bytes(everything[:4], "little")
            head = json.loads(everything[4:4 + length])
            body = everything[4 + length:]

            def numbers(ref):
                size, n, at = {"f32": 4, "f64": 8, "u32": 4}[ref["type"]], ref["count"], ref["at"]
                whole = bytes(body[at + k * n + i] for i in range(n) for k in range(size))
                return struct.unpack(f"<{n}{ {'f32': 'f', 'f64': 'd', 'u32': 'I'}[ref['type']]}", whole)

            (study,) = head["studies"]
            self.assertEqual(study["checks"], told["checks"])
            self.assertEqual({r["name"]: r["value"] for r in study["results"]}, told["results"])
            self.assertEqual([p["name"] for p in study["parameters"] if p["changed"]],
                             ["tilt_deg", "rtol"])
            self.assertFalse(study["as_published"])
            # Points that were left out lie on lines between those that are there.
            with (pathlib.Path(folder) / f"{study['name']}.csv").open() as file:
                rows = list(csv.DictReader(file))
            for panel in study["figures"][0]["panels"]:
                of_panel = [(float(r["x"]), float(r["y"]), r["curve"]) for r in rows
                            if r["panel"] == panel["title"]]
                xs, ys = [p[0] for p in of_panel], [p[1] for p in of_panel]
                wide, high = max(xs) - min(xs), max(ys) - min(ys)
                for curve in panel["curves"]:
                    line = [complex(x / wide, y / high)
                            for x, y in zip(numbers(curve["x"]), numbers(curve["y"]))]
                    all_points = [complex(x / wide, y / high) for x, y, label in of_panel
                                  if label == curve["label"]]
                    self.assertGreater(len(all_points), 2 * len(line))
                    self.assertEqual((line[0], line[-1]), (all_points[0], all_points[-1]))
                    k = 0  # the segment that a point stands for
                    for point in all_points:
                        if k + 2 < len(line) and point == line[k + 1]:
                            k += 1
                        self.assertLess(distance(point, line[k], line[k + 1]), 6e-5, curve["label"])
            # The film ends where the study ends: on the plane, at the radius from it.
            (film,) = study["films"]
            times, values = numbers(film["time"]), numbers(film["values"])
            n = len(times)
            self.assertGreater(n, 1000)
            self.assertAlmostEqual(times[-1], told["parameters"]["duration"], delta=0.01)
            px, pz = values[n - 1], values[3 * n - 1]
            tilt = math.radians(12)
            self.assertAlmostEqual(px * math.sin(tilt) + pz * math.cos(tilt),
                                   told["parameters"]["radius"], delta=1e-3)


class Impact(unittest.TestCase):
    def test_damping_factor(self):
        for e in (0.001, 0.01, 0.1, 0.3, 0.5, 0.77, 0.9, 0.999, 1):
            r = results("gonthier2004.damping-factor", restitution=e)
            d = damping_factor(e)
            self.assertAlmostEqual(r["d"], d, delta=1e-12)
            self.assertAlmostEqual(r["d_over_e"], d / e, delta=1e-12 / e)
            self.assertAlmostEqual(r["d_hunt_crossley"], 1.5 * e * (1 - e), delta=1e-15)

    def test_type_e_get_e(self):
        for e, p, m, k, v in ((0.5, 1.5, 0.454, 3.4e10, 1), (0.05, 1, 3, 1e5, 0.02),
                              (0.2, 2, 1e3, 1e12, 30), (0.9, 3, 1e-4, 1e7, 5),
                              (1, 1.5, 2, 1e6, 0.3)):
            r = results("gonthier2004.impact", restitution=e, exponent=p, mass=m, stiffness=k,
                        speed=v)
            self.assertAlmostEqual(r["restitution"], e, delta=1e-9)
            a = damping_factor(e) / (e * v)
            depth = ((p + 1) * m / k * v * v * defect(a * v)) ** (1 / (p + 1))
            self.assertAlmostEqual(r["peak_depth_m"] / depth, 1, delta=1e-9)
            self.assertAlmostEqual(r["energy_lost_J"], 0.5 * m * v * v * (1 - e * e),
                                   delta=1e-8 * m * v * v)

    def test_elastic_impacts(self):
        # Hertz: contact time 2.943 δ_max/v, force k δ_max^{3/2}
        m, k, v = 0.7, 2e9, 3
        r = results("gonthier2004.impact", restitution=1, mass=m, stiffness=k, speed=v)
        depth = (5 * m * v * v / (4 * k)) ** 0.4
        self.assertAlmostEqual(r["peak_force_N"] / (k * depth**1.5), 1, delta=1e-9)
        exact = 2 * math.sqrt(math.pi) * math.gamma(0.4) / (5 * math.gamma(0.9)) * 2
        self.assertAlmostEqual(r["contact_time_s"] * v / depth, exact, delta=1e-8)
        # a linear spring: half a period
        r = results("gonthier2004.impact", restitution=1, mass=m, stiffness=k, speed=v,
                    exponent=1)
        self.assertAlmostEqual(r["contact_time_s"] / (math.pi * math.sqrt(m / k)), 1,
                               delta=1e-9)

    def test_hunt_crossley(self):
        for alpha, v in ((0.2, 1), (0.05, 4), (0.3, 2.5)):
            r = results("gonthier2004.impact", law="hunt-crossley",
                        restitution_model="empirical", alpha=alpha, speed=v)
            x = 1.5 * alpha * v
            e = solve(lambda e: e * e * defect(-e * x) - defect(x), 0, min(1, 1 / x))
            self.assertAlmostEqual(r["restitution"], e, delta=1e-9)
            self.assertAlmostEqual(r["restitution_ratio"], e / (1 - alpha * v), delta=1e-8)

    def test_under_the_fixed_clock(self):
        for method in ("semi-implicit-euler", "ode3", "rk4"):
            r = results("gonthier2004.impact", stiffness=1e6, clock="fixed", step_s=1e-3,
                        substeps=100, method=method)
            self.assertAlmostEqual(r["restitution"], 0.5, delta=5e-3)


def rates(state, p):
    """The block on its plate: position, velocity, bristle, dwell."""
    x, v, z, dwell = state
    load = p["mass"] * p["gravity"]
    slip = v - p["plate_speed"]
    s = math.exp(-(slip / p["v_s"]) ** 2)
    small = p["v_s"] / 100
    ratio = slip / small
    way = math.copysign(1, slip) if abs(ratio) >= 1 else 1.5 * ratio - 0.5 * ratio**3
    bristle = s * (p["sigma0"] * z + p["sigma1"] * slip) + (1 - s) * p["mu_c"] * load * way
    most = load * (p["mu_c"] + (p["mu_s"] - p["mu_c"]) * dwell)
    friction = -(max(-most, min(most, bristle)) + p["sigma2"] * slip)
    lag = p["tau_dw"] if s >= dwell else p["sigma1"] / p["sigma0"]
    return ((v, (friction - p["spring"] * x) / p["mass"],
             (bristle - p["sigma0"] * z) / p["sigma1"], (s - dwell) / lag), abs(friction))


def rk4(f, y, h):
    k1 = f(y)
    k2 = f([a + 0.5 * h * b for a, b in zip(y, k1)])
    k3 = f([a + 0.5 * h * b for a, b in zip(y, k2)])
    k4 = f([a + h * b for a, b in zip(y, k3)])
    return [a + h / 6 * (b + 2 * c + 2 * d + e) for a, b, c, d, e in zip(y, k1, k2, k3, k4)]


class StickSlip(unittest.TestCase):
    def test_against_the_equations_written_out(self):
        p = dict(plate_speed=0.2, mu_s=0.2, mu_c=0.12, sigma0=2e4, sigma1=150, sigma2=0.2,
                 v_s=2e-3, tau_dw=1.5, spring=4, mass=0.8, gravity=9)
        y, h, time = [0, p["plate_speed"], 0, 1], 2.5e-4, 0
        peaks, peak, turns = [], 0, []
        while len(peaks) < 2:
            (_, _, _, _), force = rates(y, p)
            peak = max(peak, force)
            after = rk4(lambda s: rates(s, p)[0], y, h)
            if y[1] < 0 <= after[1]:
                turns.append(time + h * y[1] / (y[1] - after[1]))
                peaks.append(peak)
                peak = 0
            y, time = after, time + h
        r = results("gonthier2004.stick-slip", duration=time + 0.1, direction_deg=-70, **p)
        self.assertAlmostEqual(r["first_peak_N"], peaks[0], delta=1e-4)
        self.assertAlmostEqual(r["second_peak_N"], peaks[1], delta=1e-4)
        self.assertAlmostEqual(r["limit_period_s"], turns[1] - turns[0], delta=1e-3)

    def test_the_direction_does_not_matter(self):
        one = results("gonthier2004.stick-slip", duration=30)
        for angle in (0, 90, 200):
            other = results("gonthier2004.stick-slip", duration=30, direction_deg=angle)
            for name, value in one.items():
                self.assertAlmostEqual(other[name], value, delta=1e-6, msg=name)

    def test_what_never_happens_is_null(self):
        r = results("gonthier2004.stick-slip", duration=1)
        self.assertIsNone(r["first_peak_N"])
        self.assertIsNone(r["limit_period_s"])


class Balls(unittest.TestCase):
    def test_published(self):
        for name in ("inclined-plane", "cylinder", "double-pendulum", "pendulum-impact",
                     "stick-slip"):
            answer = study(f"gonthier2004.{name}")
            for check in answer["checks"]:
                self.assertTrue(check["pass"], f"{name}: {check}")

    def test_rolling_down(self):
        for tilt, e, gap, vx, vy in ((20, 0.5, 0.5, -1, 0.5), (10, 0.7, 0.2, 0, 1),
                                     (25, 0.2, 0.1, 2, -0.3), (5, 0.6, 1, -0.2, 0)):
            r = results("gonthier2004.inclined-plane", tilt_deg=tilt, restitution=e, gap_m=gap,
                        vx0=vx, vy0=vy, duration=4)
            angle = math.radians(tilt)
            self.assertAlmostEqual(r["rolling_acceleration"], 5 / 7 * 9.81 * math.sin(angle),
                                   delta=1e-6)
            self.assertAlmostEqual(r["rolling_vx_at_0"], 5 / 7 * vx * math.cos(angle),
                                   delta=2e-6)
            self.assertAlmostEqual(r["vy"], 5 / 7 * vy, delta=1e-6)
            self.assertLess(abs(r["energy_residual_J"]), 1e-6)

    def test_period_in_a_cylinder(self):
        # A ball that rolls: θ'' = −5/7 g/(R − r) sin θ; its period by the arithmetic-geometric
        # mean, its amplitude from the speed at the bottom.
        for radius, hollow, x0, z0 in ((0.1, 1, 0.3, -0.5), (0.05, 0.6, -0.2, -0.3),
                                       (0.2, 2, 0.5, -1.2)):
            r = results("gonthier2004.cylinder", radius=radius, cylinder_radius=hollow, x0=x0,
                        z0=z0)
            arm = hollow - radius + (2 * 9.81 / 1e6) ** (2 / 3)  # and as deep as it presses
            cosine = 1 - r["peak_speed"] ** 2 / (10 / 7 * 9.81 * arm)
            a, b = 1, math.sqrt(0.5 * (1 + cosine))
            while abs(a - b) > 1e-15:
                a, b = 0.5 * (a + b), math.sqrt(a * b)
            period = 2 * math.pi * math.sqrt(7 * arm / (5 * 9.81)) / a
            self.assertAlmostEqual(r["period_s"] / period, 1, delta=1e-4)
            self.assertLess(r["energy_drift_J"], 0)

    def test_three_dimensions(self):
        r = study("gonthier2004.cylinder", vy0=0.3)
        self.assertTrue(all(c["pass"] for c in r["checks"]))

    def test_pendulums_do_not_depend_on_the_tolerance(self):
        for masses in ("ends", "middles", "rods"):
            coarse, fine = (results("gonthier2004.double-pendulum", masses=masses, rtol=rtol,
                                    duration=4) for rtol in (1e-9, 1e-11))
            self.assertAlmostEqual(coarse["phi1_deg"], fine["phi1_deg"], delta=0.005)
            self.assertAlmostEqual(coarse["phi2_deg"], fine["phi2_deg"], delta=0.005)
            self.assertEqual(coarse["impacts"], fine["impacts"])


def pendulum_loss(phi, e, mu, stiffness=1e9, h=2e-8):
    """Energy that one impact takes, per cent: the pendulum and the laws written out."""
    sigma0, sigma1, v_s, tau, g = 1e5, math.sqrt(1e5), 0.1, 0.75, 9.81
    damping = damping_factor(e) / e
    floor = -math.cos(phi[0]) - math.cos(phi[0] + phi[1])

    def kinetic(q1, q2, w1, w2):
        c = math.cos(q2)
        m22 = 1 / 6 + 0.5
        m12 = m22 + c
        m11 = 1 / 6 + 0.5 + 2 + m22 + 2 * c
        return 0.5 * (m11 * w1 * w1 + 2 * m12 * w1 * w2 + m22 * w2 * w2), m11, m12, m22

    def tip(q1, q2, w1, w2):
        s1, c1, s12, c12 = math.sin(q1), math.cos(q1), math.sin(q1 + q2), math.cos(q1 + q2)
        jx, jz = (c1 + c12, c12), (s1 + s12, s12)
        return (floor + c1 + c12, jx, jz, jx[0] * w1 + jx[1] * w2, jz[0] * w1 + jz[1] * w2)

    _, _, _, _, start = tip(*phi, -1, -1)
    a = damping / -start

    def f(y):
        q1, q2, w1, w2, z, dwell = y
        depth, jx, jz, vx, vz = tip(q1, q2, w1, w2)
        spring = stiffness * max(depth, 0) ** 1.5
        normal = max(0.0, spring * (1 - a * vz))
        s = math.exp(-(vx / v_s) ** 2)
        ratio = vx / (v_s / 100)
        way = math.copysign(1, vx) if abs(ratio) >= 1 else 1.5 * ratio - 0.5 * ratio**3
        bristle = s * (sigma0 * z + sigma1 * vx) + (1 - s) * mu * normal * way
        push = -max(-mu * normal, min(mu * normal, bristle))
        _, m11, m12, m22 = kinetic(q1, q2, w1, w2)
        sine = math.sin(q2)
        c1 = sine * (2 * w1 * w2 + w2 * w2)
        c2 = -sine * w1 * w1
        g1 = -g * (3 * math.sin(q1) + math.sin(q1 + q2))
        g2 = -g * math.sin(q1 + q2)
        t1 = c1 + g1 + jx[0] * push + jz[0] * normal
        t2 = c2 + g2 + jx[1] * push + jz[1] * normal
        det = m11 * m22 - m12 * m12
        lag = tau if s >= dwell else sigma1 / sigma0
        return ((w1), (w2), (m22 * t1 - m12 * t2) / det, (m11 * t2 - m12 * t1) / det,
                (bristle - sigma0 * z) / sigma1, (s - dwell) / lag)

    def energy(y):
        q1, q2, w1, w2 = y[:4]
        depth = max(tip(q1, q2, w1, w2)[0], 0)
        return (kinetic(q1, q2, w1, w2)[0] - g * (3 * math.cos(q1) + math.cos(q1 + q2)) +
                0.4 * stiffness * depth**2.5)

    y = [*phi, -1, -1, 0, 0]
    before, all_of_it = energy(y), kinetic(*phi, -1, -1)[0]
    touched = False
    while True:
        y = rk4(f, y, h)
        depth = tip(*y[:4])[0]
        touched = touched or depth > 0
        if touched and depth <= 0:
            return 100 * (before - energy(y)) / all_of_it


class PendulumImpact(unittest.TestCase):
    def test_against_the_equations_written_out(self):
        cases = {"a": (math.radians(18), math.radians(12)), "b": (0, math.radians(20.7))}
        for case, e, mu in (("a", 0.5, 0.3), ("b", 0.7, 0.6), ("a", 0.9, 0.1)):
            r = results("gonthier2004.pendulum-impact", case=case, restitution=e, mu=mu,
                        stiffness=1e7)
            mine = pendulum_loss(cases[case], e, mu, stiffness=1e7, h=1e-6)
            self.assertAlmostEqual(r["energy_lost_percent"], mine, delta=0.02)

    def test_rigid_without_friction(self):
        # Poisson: the loss is (1 − e²) of what the normal direction holds.
        full = results("gonthier2004.pendulum-impact", mu=0,
                       restitution=0.1)["energy_lost_rigid_percent"] / 0.99
        for e in (0.25, 0.5, 1):
            r = results("gonthier2004.pendulum-impact", mu=0, restitution=e)
            self.assertAlmostEqual(r["energy_lost_rigid_percent"], (1 - e * e) * full,
                                   delta=1e-9)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main(verbosity=1)
