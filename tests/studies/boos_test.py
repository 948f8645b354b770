"""The studies of Boos & McPhee and of Gonthier's spinning friction, against integrals that are
written out here: voxel-free sums over slices, closed forms, and an integrated free disc.

usage: boos_test.py PROGRAM
"""

import json
import math
import os
import random
import subprocess
import sys
import tempfile
import unittest

PROGRAM = ""


def gauss(n):
    """Points and weights on [0, 1] by Newton's method on Legendre's polynomial."""
    rule = []
    for i in range(n):
        x = math.cos(math.pi * (i + 0.75) / (n + 0.5))
        for _ in range(100):
            a, b = 1.0, x
            for k in range(2, n + 1):
                a, b = b, ((2 * k - 1) * x * b - (k - 1) * a) / k
            slope = n * (x * b - a) / (x * x - 1)
            x -= b / slope
            if abs(b / slope) < 1e-16:
                break
        rule.append((0.5 * (1 + x), 1 / ((1 - x * x) * slope * slope)))
    return rule


RULE = gauss(20)


def integrate(f, breaks):
    """∫ f over panels whose ends may be like square roots: x from a sine of the panel's middle."""
    total = None
    for low, high in zip(breaks, breaks[1:]):
        if high <= low:
            continue
        for part, weight in RULE:
            t = math.pi * (part - 0.5)
            x = low + 0.5 * (high - low) * (1 + math.sin(t))
            w = 0.5 * (high - low) * math.cos(t) * math.pi * weight
            terms = [w * y for y in f(x)]
            total = terms if total is None else [a + b for a, b in zip(total, terms)]
    return total


def cylinder_patch(radius, length, depth, tilt_deg):
    """V, its first and second moments, depth and section of a tilted cylinder below z = 0, by horizontal
    slices. `depth` along the axis; x towards the deep edge from the projection of the end's centre."""
    tilt = math.radians(tilt_deg)
    s, c = math.sin(tilt), math.cos(tilt)
    normal = depth * c

    def section(h):
        """At the height h above the deepest point: strip of the ellipse in which a plane cuts the mantle.
        Points (u, z): u from the deep line, z from the end; x = s z − c u from the deepest point,
        h = s u + c z."""
        if s == 0:
            area = math.pi * radius**2
            return [area, -area * radius, 1.25 * area * radius**2, 0.25 * area * radius**2]
        low_u = max(0.0, (h - c * length) / s)
        high_u = min(2 * radius, h / s)

        def at(u):
            w = math.sqrt(max(0.0, u * (2 * radius - u)))
            x = s * (h - s * u) / c - c * u
            return [2 * w / c, 2 * w * x / c, 2 * w * x * x / c, 2 * w**3 / 3 / c]

        # Panels that shrink towards the branch points 0 and 2r where these lie just outside.
        breaks = [low_u, high_u]
        breaks += [low_u + low_u * 4.0**k for k in range(20)]
        breaks += [high_u - (2 * radius - high_u) * 4.0**k for k in range(20)]
        return integrate(at, sorted(b for b in set(breaks) if low_u <= b <= high_u)) or [0.0] * 4

    breaks = sorted({0.0, normal, *(b for b in (2 * radius * s, length * c) if 0 < b < normal)})
    v = integrate(lambda h: section(h) + [(normal - h) * section(h)[0]], breaks)
    mean = v[1] / v[0]
    return {
        "volume_m3": v[0], "area_m2": section(normal)[0], "centroid_x_m": mean + c * radius,
        "centroid_depth_m": v[4] / v[0], "Js_yy": v[2] - v[0] * mean**2, "Js_xx": v[3],
    }


def disc_friction(pressure, u):
    """F/(μN) and T/(μNR) by rings; the ring's mean by panels that shrink towards the point at rest."""
    density = {"uniform": lambda r: 1 / math.pi, "paraboloid": lambda r: 2 / math.pi * (1 - r * r),
               "hertz": lambda r: 1.5 / math.pi * math.sqrt(max(0.0, 1 - r * r))}[pressure]

    def ring(r):
        def at(t):
            x, y = u - r * math.cos(t), r * math.sin(t)
            slip = math.hypot(x, y)
            return [2 * x / slip, 2 * r * (r - u * math.cos(t)) / slip]
        panels = [0.0] + [math.pi * 4.0**-k for k in range(10, -1, -1)]
        force, torque = integrate(at, panels)
        return [density(r) * r * force, density(r) * r * torque]

    near = [u * (1 - 4.0**-k) for k in range(1, 9)] + [u] if u < 1 else []
    beyond = [u + (1 - u) * 4.0**-k for k in range(9, 0, -1)] if u < 1 else []
    return integrate(ring, [0.0] + near + beyond + [1.0])


class Studies(unittest.TestCase):
    def run_study(self, name, status=0, **settings):
        arguments = [PROGRAM, "study", "run", name, "--json"]
        for key, value in settings.items():
            arguments += ["--set", f"{key}={value}"]
        result = subprocess.run(arguments, capture_output=True, text=True, timeout=100)
        self.assertEqual(result.returncode, status, f"{settings} {result.stdout}{result.stderr}")
        return json.loads(result.stdout) if status == 0 else result.stderr

    def results(self, name, **settings):
        return self.run_study(name, **settings)["results"]

    def near(self, value, reference, relative, message=""):
        self.assertIsNotNone(value, message)
        self.assertLessEqual(abs(value - reference), relative * abs(reference), message)


class Stiffness(Studies):
    def test_printed_values(self):
        al = self.results("boos2013.stiffness")
        mg = self.results("boos2013.stiffness", plate="mg")
        self.near(al["hertz_stiffness"], 7.3424e9, 1e-4)
        self.near(mg["hertz_stiffness"], 4.6636e9, 1e-4)
        self.near(al["volumetric_stiffness"], 7.186e12, 1e-4)
        self.near(mg["volumetric_stiffness"], 4.564e12, 1e-4)

    def test_other_moduli(self):
        found = self.results("boos2013.stiffness", E_plate=2e9, nu_plate=0.4, cylinder_radius=0.02)
        modulus = 1 / ((1 - 0.16) / 2e9 + (1 - 0.27**2) / 193e9)
        self.near(found["hertz_stiffness"], 4 / 3 * modulus * math.sqrt(9.52e-3), 1e-12)
        self.near(found["volumetric_stiffness"], 2 * modulus / (math.pi * 0.02), 1e-12)
        self.near(found["payload_share"], (1 - 0.27**2) / 193e9 * modulus, 1e-12)


class Patch(Studies):
    def test_sphere(self):
        for r, d in ((9.52e-3, 4e-6), (0.1, 1e-9), (0.1, 0.1)):
            found = self.results("boos2013.patch", radius=r, depth_m=d)
            volume = math.pi * d * d * (3 * r - d) / 3
            jnn = math.pi * d**3 * (20 * r * r - 15 * r * d + 3 * d * d) / 30
            allowed = 1e-11
            self.near(found["volume_m3"], volume, allowed)
            self.near(found["area_m2"], math.pi * d * (2 * r - d), allowed)
            self.near(found["centroid_depth_m"], d * (4 * r - d) / (4 * (3 * r - d)), allowed)
            self.near(found["Js_nn"], jnn, 2 * allowed)
            self.near(found["gyration_m"], math.sqrt(jnn / volume), allowed)
            self.assertEqual(found["centroid_x_m"], 0)

    def test_cylinder(self):
        r, length = 5e-3, 0.05
        for tilt in (0, 1e-6, 0.01, 0.32, 0.46, 5, 30, 60, 85, 89.9):
            edge = 2 * r * math.tan(math.radians(tilt))
            for depth in (1e-9, 4e-6, 1e-3, 0.02, 0.999 * edge, edge, 1.001 * edge):
                if not 1e-9 <= depth <= length:
                    continue
                found = self.results("boos2013.patch", shape="cylinder", tilt_deg=tilt, depth_m=depth)
                expected = cylinder_patch(r, length, depth, tilt)
                where = f"tilt {tilt}, depth {depth}"
                allowed = 1e-8
                for name, value in expected.items():
                    scale = allowed * (abs(value) if name != "centroid_x_m" else r)
                    self.assertLessEqual(abs(found[name] - value), scale + 1e-300,
                                         f"{name}, {where}: {found[name]} for {value}")

    def test_refusals(self):
        message = self.run_study("boos2013.patch", status=2, shape="cylinder", depth_m=0.06)
        self.assertIn("depth_m", message)
        self.assertIn("0.05", message)
        self.assertIn("depth_m", self.run_study("boos2013.patch", status=2, depth_m=0.02))
        self.assertIn("stiffness", self.run_study("boos2013.rolling", status=2, stiffness=0))


class Impact(Studies):
    def test_restitution(self):
        for shape in ("sphere", "cylinder"):
            for e in (0.05, 0.114, 0.5, 0.95):
                found = self.results("boos2013.impact", shape=shape, restitution=e)
                self.assertLessEqual(abs(found["restitution"] - e), 1e-8)
                self.assertEqual(found["force_at_touch_N"], 0)

    def test_damping_by_the_rate(self):
        found = self.results("boos2013.impact", shape="cylinder", law="volumetric-rate")
        area = math.pi * 5e-3**2
        self.near(found["force_at_touch_N"], 1e10 * area * 5.8e-4, 1e-12)
        self.assertIsNone(found["damping_factor"])
        # A linear spring and damper with the clamp.
        k, c = 3.82e13 * area, 1e10 * area
        zeta = c / (2 * math.sqrt(k * 0.1))
        if zeta < 1:
            root = math.sqrt(1 - zeta**2)
            e = math.exp(-2 * zeta * math.acos(zeta) / root)
        else:
            root = math.sqrt(zeta**2 - 1)
            e = math.exp(-2 * zeta * math.acosh(zeta) / root)
        self.near(found["restitution"], e, 1e-7)
        self.assertEqual(self.results("boos2013.impact", law="volumetric-rate")["force_at_touch_N"], 0)


class Rolling(Studies):
    def test_upright_cylinder(self):
        r, d, k, a, omega = 5e-3, 4e-6, 3.82e13, 1.6e4, 0.01
        found = self.results("boos2013.rolling", shape="cylinder")
        self.near(found["torque_Nm"], -k * a * math.pi * r**4 * d / 4 * omega, 1e-9)
        self.near(found["tension_index"], a * omega * r, 1e-9)

    def test_tension(self):
        for shape, tilt in (("sphere", 0), ("cylinder", 0), ("cylinder", 0.02), ("cylinder", 30)):
            one = self.results("boos2013.rolling", shape=shape, tilt_deg=tilt, omega=1e-3)
            self.near(one["torque_Nm"], one["torque_by_integration_Nm"], 1e-6)
            for index in (0.5, 0.99, 3):
                omega = 1e-3 * index / one["tension_index"]
                found = self.results("boos2013.rolling", shape=shape, tilt_deg=tilt, omega=omega)
                ratio = found["torque_Nm"] / found["torque_without_tension_Nm"]
                if index < 1:
                    self.near(ratio, 1, 1e-6)
                else:
                    self.assertGreater(ratio, 1.001)


class Fits(Studies):
    """Figs. 4-9: fits to the made-up apparatus, and to files that are written here."""

    SPHERE, CYLINDER = 9.52e-3, 5e-3
    PLATES = {"al": (7.59e13, 4.79e9, 8.82e12, 0.32, 0.134), "mg": (3.82e13, 3.02e9, 5.17e12, 0.46, 0.114)}

    def volume(self, depth):
        d = max(depth, 0)
        return math.pi / 3 * d * d * (3 * self.SPHERE - d)

    def file_of(self, force, noise=0.1):
        """A press whose touch is at 17 µm."""
        with tempfile.NamedTemporaryFile("w", suffix=".csv", delete=False) as file:
            self.addCleanup(os.unlink, file.name)
            random_ = random.Random(3)
            file.write("position_um,force_N\n")
            for i in range(200):
                position = 14e-6 + 7e-6 * i / 199
                file.write(f"{1e6 * position!r},{force(position - 17e-6) + random_.gauss(0, noise)!r}\n")
        return file.name

    def test_sphere(self):
        for plate, (stiffness, hertz, *_) in self.PLATES.items():
            for seed in range(1, 6):
                found = self.results("boos2013.sphere-test", plate=plate, seed=seed)
                self.near(found["stiffness"], stiffness, 0.05)
                self.assertLess(abs(found["contact_point_m"] - 1e-5), 60e-9)
                self.assertLess(found["contact_point_sd"], 45e-9 / 2)
                self.assertGreater(found["points"], 30)
                self.assertLess(found["rms_N"], 0.2)
            found = self.results("boos2013.sphere-test", plate=plate, truth="hertz", model="hertz")
            self.near(found["stiffness"], hertz, 0.03)
            # The data decide which law is right.
            wrong = self.results("boos2013.sphere-test", plate=plate, truth="hertz")
            self.assertGreater(wrong["rms_N"], 1.5 * found["rms_N"])

    def test_the_half_micron(self):
        """A volumetric fit touches earlier: less than 0.5 µm of aluminium, more of magnesium."""
        for plate, low, high in (("al", -0.5e-6, -0.4e-6), ("mg", -0.8e-6, -0.5e-6)):
            shifts = [self.results("boos2013.sphere-test", plate=plate, seed=seed)["contact_point_shift_m"]
                      for seed in range(1, 5)]
            mean = sum(shifts) / len(shifts)
            self.assertLess(low, mean)
            self.assertLess(mean, high)

    def test_a_drive_that_does_not_yield(self):
        found = self.results("boos2013.sphere-test", drive_stiffness=0)
        self.near(found["stiffness"], 7.59e13, 0.05)
        self.assertLess(found["points"], self.results("boos2013.sphere-test")["points"])

    def test_data_of_a_file(self):
        found = self.results("boos2013.sphere-test", data=self.file_of(lambda d: 4e13 * self.volume(d)))
        self.near(found["stiffness"], 4e13, 0.03)
        self.assertLess(abs(found["contact_point_m"] - 17e-6), 50e-9)
        self.assertEqual(found["points"], 200)

        def tilted(depth):
            patch = cylinder_patch(self.CYLINDER, 0.05, depth, 0.4) if depth > 0 else {"volume_m3": 0}
            return 5e12 * patch["volume_m3"]

        found = self.results("boos2013.cylinder-test", stiffness=5e12, data=self.file_of(tilted))
        self.assertLess(abs(found["tilt_deg"] - 0.4), 0.01)
        self.assertLess(abs(found["contact_point_m"] - 17e-6), 60e-9)

    def test_cylinder(self):
        measured = {"al": 1.24e11, "mg": 7.88e10}  # Table 3
        for plate, (_, _, stiffness, tilt, _) in self.PLATES.items():
            found = self.results("boos2013.cylinder-test", plate=plate)
            self.assertLess(abs(found["tilt_deg"] - tilt), 0.012)
            self.assertGreater(found["rms_perpendicular_N"], 3 * found["rms_N"])
            self.near(found["perpendicular_stiffness"], measured[plate], 0.08)
            # k_v and γ are confounded: another k_v is another angle, and as good a fit.
            other = self.results("boos2013.cylinder-test", plate=plate, stiffness=2 * stiffness, true_tilt_deg=tilt)
            self.assertLess(abs(other["rms_N"] - found["rms_N"]), 0.05)

    def test_damping(self):
        for plate, (*_, restitution) in self.PLATES.items():
            joint = self.results("boos2013.damping", plate=plate)
            self.assertLess(abs(joint["restitution"] - restitution), 0.01)
            self.assertLess(abs(joint["speed_exponent"] + 1), 0.05)
            self.assertLess(abs(joint["restitution"] - restitution), 4 * joint["restitution_sd"] + 1e-3)
            late = self.results("boos2013.damping", plate=plate, contact_point_from="first-force")
            self.assertLess(late["restitution"], restitution - 0.03)
            self.assertGreater(late["damping_at_580um_s"], 1.3 * joint["damping_at_580um_s"])
            weighed = self.results("boos2013.damping", plate=plate, weights="relative")
            self.assertLess(abs(weighed["restitution"] - restitution), 0.01)

    def test_bad_data(self):
        self.assertIn("no contact in the data", self.run_study("boos2013.sphere-test", status=2,
                                                               data=self.file_of(lambda d: 0)))
        self.assertIn("time_s", self.run_study("boos2013.damping", status=2,
                                               data=self.file_of(lambda d: 4e13 * self.volume(d))))
        self.assertIn("nowhere.csv", self.run_study("boos2013.cylinder-test", status=2, data="nowhere.csv"))


class Spin(Studies):
    def test_integrals(self):
        for pressure in ("uniform", "paraboloid", "hertz"):
            for u in (0.01, 0.3, 0.9, 1, 2.5, 20):
                found = self.results("gonthier.spin", pressure=pressure, speed_ratio=u)
                force, torque = disc_friction(pressure, u)
                self.assertLessEqual(abs(found["force_ratio"] - force), 1e-6, (pressure, u))
                self.assertLessEqual(abs(found["torque_ratio"] - torque), 1e-6, (pressure, u))

    def test_a_disc_that_stops(self):
        """v′ = −F, (ωR)′ = −2T in units of μg: by steps from the study's own friction."""
        found = self.results("gonthier.spin")
        self.assertLessEqual(abs(found["stopping_ratio"] - 0.653), 5e-4)
        for begin in (0.1, 3.0):
            v, spin = begin, 1.0
            while v > 1e-9 and spin > 1e-9:
                h = 0.05 * min(v, spin)
                force, torque = uniform(v / spin)
                middle_v, middle_spin = v - 0.5 * h * force, spin - h * torque
                force, torque = uniform(middle_v / middle_spin)
                v, spin = v - h * force, spin - 2 * h * torque
            self.near(v / spin, found["stopping_ratio"], 0.01, f"from {begin}")

    def test_closures(self):
        self.assertIsNone(self.results("gonthier.spin", closure="elliptic")["stopping_ratio"])
        for pressure in ("paraboloid", "hertz"):
            for closure in ("exact", "elliptic"):
                found = self.results("gonthier.spin", pressure=pressure, closure=closure)
                self.assertEqual(found["stopping_ratio"], 0)
        found = self.results("gonthier.spin", closure="elliptic", speed_ratio=2)
        self.near(found["force_ratio"], 2 / math.sqrt(4.5), 1e-12)
        self.near(found["torque_ratio"], 0.5 / math.sqrt(4.5), 1e-12)


def uniform(u):
    """The uniform disc by complete elliptic integrals, as Farkas et al. 2003 print them."""
    m = min(u, 1 / u) ** 2
    a, b, power, total = 1.0, math.sqrt(1 - m), 0.5, 0.5 * m
    while a - b > 1e-15:
        total += 2 * power * ((a - b) / 2) ** 2
        power *= 2
        a, b = (a + b) / 2, math.sqrt(a * b)
    K = math.pi / (2 * a)
    E = K * (1 - total)
    if u < 1:
        return (4 / 3 * ((m + 1) * E + (m - 1) * K) / (u * math.pi),
                4 / 9 * ((4 - 2 * m) * E + (m - 1) * K) / math.pi)
    w = u * u
    return (4 / 3 * ((w + 1) * E - (w - 1) * K) / math.pi,
            4 / 9 * u / math.pi * ((4 - 2 * w) * E + (2 * w - 5 + 3 / w) * K))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PROGRAM = sys.argv.pop(1)
    unittest.main()
