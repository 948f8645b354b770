"""The studies of Peiret, Kövecses & Font-Llagunes, against solutions that are written out here: the
first-order schemes in one and two dimensions, Runge–Kutta in continuous time, equilibria of least
norm, and the two rows of a sliding rod.

usage: peiret_test.py PROGRAM
"""

import json
import math
import random
import subprocess
import sys
import unittest

PROGRAM = ""
G = 9.81
FINE, CHECK_FAILED, WRONG_INPUT, CANNOT_GO_ON = 0, 1, 2, 3


def call(study, **settings):
    command = [PROGRAM, "study", "run", "peiret." + study, "--json"]
    for key, value in settings.items():
        command += ["--set", f"{key}={value}"]
    return subprocess.run(command, capture_output=True, text=True, timeout=250)


def outcome(study, **settings):
    done = call(study, **settings)
    if done.returncode != FINE:
        raise AssertionError(f"peiret.{study} {settings}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def results(study, **settings):
    return outcome(study, **settings)["results"]


# Independent solutions.


def radial_return(z, free, mobility, h, k, d, bound, box=False):
    """Friction force and stretch at the end of a step of backward Euler: the slip is free + mobility h f,
    the force −(k z + (h k + d) slip) within the bound."""
    drag = h * k + d
    trial = [k * z[i] + drag * free[i] for i in (0, 1)]
    inverse = 1 + drag * mobility * h
    if box:
        force = [max(-bound, min(bound, -t / inverse)) for t in trial]
    else:
        held = [-t / inverse for t in trial]
        size = math.hypot(*held)
        share = min(1, bound / size) if size > 0 else 1
        force = [share * f for f in held]
    # The spring and the damper beside it make up the force: k z⁺ + d (z⁺ − z)/h = −f.
    stretch = [(d * z[i] - h * force[i]) / drag for i in (0, 1)]
    return force, stretch


def round_body(inertia, mass, mu, k, d, v0, h, duration, along=(0, 0), normal=G, box=False):
    """Positions, velocities and the largest friction of a wheel or ball that starts without spin, step by
    step. inertia: I/(m R²)."""
    mobility = (1 + 1 / inertia) / mass
    x, v, spin, z = [0, 0], list(v0), [0, 0], [0, 0]  # spin: R ω, as the speed it takes from the slip
    largest, path = 0, [((0, 0), tuple(v0))]
    for _ in range(round(duration / h)):
        free = [v[i] + h * along[i] - spin[i] for i in (0, 1)]
        force, z = radial_return(z, free, mobility, h, k, d, mu * mass * normal, box)
        for i in (0, 1):
            v[i] += h * (along[i] + force[i] / mass)
            spin[i] -= h * force[i] / (inertia * mass)
            x[i] += h * v[i]
        largest = max(largest, math.hypot(*force) / (mu * mass * normal))
        path.append((tuple(x), tuple(v)))
    return path, largest


def wheel_exactly(mass, mu, k, v0, t):
    """x in continuous time, undamped: Runge–Kutta of (x, v, slip, s), the phases ended by bisection."""

    def flow(y, sliding):
        force = -mu * mass * G if sliding else -k * y[3]
        return [y[1], force / mass, 3 * force / mass, 0 if sliding else y[2]]

    def rk4(y, h, sliding):
        add = lambda a, s, b: [p + s * q for p, q in zip(a, b)]
        a = flow(y, sliding)
        b = flow(add(y, h / 2, a), sliding)
        c = flow(add(y, h / 2, b), sliding)
        d = flow(add(y, h, c), sliding)
        return [y[i] + h / 6 * (a[i] + 2 * b[i] + 2 * c[i] + d[i]) for i in range(4)]

    y, now, sliding = [0, v0, v0, 0], 0, False
    period = 2 * math.pi / math.sqrt(3 * k / mass)
    over = lambda state: state[2] <= 0 if sliding else state[3] >= mu * mass * G / k
    while now < t:
        h = min(t - now, 1 if sliding else period / 400)
        new = rk4(y, h, sliding)
        ends = over(new) and not (not sliding and y[2] <= 0)
        if ends:
            low, high = 0, h
            for _ in range(80):
                middle = 0.5 * (low + high)
                low, high = (low, middle) if over(rk4(y, middle, sliding)) else (middle, high)
            h, new = high, rk4(y, high, sliding)
        y, now = new, now + h
        if ends:
            if sliding:
                y[2] = 0
            sliding = not sliding
            # Sliding ends with the bristle at its reach; from there it swings back and holds.
            if not sliding:
                y[3] = mu * mass * G / k * (1 - 1e-15)
    return y[0]


def sphere_exactly(mu, slip0, angle, tilt):
    """Velocity at 1 s of a sphere that slides all the time, rigid bristles."""
    down, bound = G * math.sin(tilt), mu * G * math.cos(tilt)

    def flow(y):
        size = math.hypot(y[2], y[3])
        f = (-bound * y[2] / size, -bound * y[3] / size)
        return [f[0], f[1] + down, 3.5 * f[0], 3.5 * f[1] + down]

    v0 = [slip0 * math.cos(angle), slip0 * math.sin(angle)]
    y, steps = v0 + v0, 2000
    h = 1 / steps
    for _ in range(steps):
        add = lambda a, s, b: [p + s * q for p, q in zip(a, b)]
        a = flow(y)
        b = flow(add(y, h / 2, a))
        c = flow(add(y, h / 2, b))
        d = flow(add(y, h, c))
        y = [y[i] + h / 6 * (a[i] + 2 * b[i] + 2 * c[i] + d[i]) for i in range(4)]
    return y[0], y[1]


def solve(matrix, right):
    """By elimination."""
    n = len(right)
    rows = [list(matrix[i]) + [right[i]] for i in range(n)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda j: abs(rows[j][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for j in range(n):
            if j == i:
                continue
            share = rows[j][i] / rows[i][i]
            rows[j] = [a - share * b for a, b in zip(rows[j], rows[i])]
    return [rows[i][n] / rows[i][i] for i in range(n)]


def least_norm(equations, right):
    """Of all solutions of an underdetermined system."""
    square = [[sum(a * b for a, b in zip(p, q)) for q in equations] for p in equations]
    weights = solve(square, right)
    return [sum(w * row[j] for w, row in zip(weights, equations)) for j in range(len(equations[0]))]


FEET = [(0.5, 0.3), (0.5, -0.3), (-0.5, 0.3), (-0.5, -0.3)]


def table_forces(mass, offset, load):
    """Normals and frictions in equilibrium with the weight and a load at the centre of mass, 0.7 m up."""
    weight = mass * G
    normals = least_norm([[1] * 4, [x for x, _ in FEET], [y for _, y in FEET]],
                         [weight, weight * offset[0] + 0.7 * load[0], weight * offset[1] + 0.7 * load[1]])
    about = []
    for x, y in FEET:
        about += [-(y - offset[1]), x - offset[0]]
    frictions = least_norm([[1, 0] * 4, [0, 1] * 4, about], [-load[0], -load[1], -load[2]])
    return normals, frictions


def rod_rows(degrees):
    """A_NN and |A_NT| of a slender rod on its end, mass 1."""
    a = math.radians(degrees)
    return 1 + 3 * math.cos(a) ** 2, 3 * math.sin(a) * math.cos(a)


class Contract(unittest.TestCase):
    WANTED = {
        "wheel": ("h 1e-2 mass 10 radius 0.3 mu 0.2 kt 1e5 dt 0 v0 11.772 duration 3",
                  "x_1 x_2 x_3 vx_3 order liang_error_x liang_error_v"),
        "sphere": ("h 5e-3 angle_deg 45 tilt_deg 5 cone isotropic mass 10 radius 0.3 mu 0.2 kt 1e5 dt 0 "
                   "slip0 13.46", "x y vx vy error_v cone_ratio solves_per_step"),
        "incline": ("h 1e-2 slope_deg 10 mu 0.3 mass 10 kt 1e5 dt 0 duration 100 law bristle v_eps 1e-3",
                    "offset_m drift_50_100_m"),
        "table": ("h 1e-3 mass 20 offset_x 0.1 offset_y 0.05 load_x 0 load_y 0 load_mz 0 mu 0.5 kn 1e6 dn 0 "
                  "kt 1e5 dt 1000 duration 4",
                  "n1 n2 n3 n4 t1x t1y t2x t2y t3x t3y t4x t4y spread_N"),
        "bound-iteration": ("h 1e-3 rod_deg 60 mu 0.3 kt 1e7 slip0 2", "contraction_ratio converged iterations"),
    }

    def test_names_and_presets(self):
        for study, (parameters, names) in self.WANTED.items():
            got = outcome(study)
            words = parameters.split()
            wanted = {}
            for name, value in zip(words[::2], words[1::2]):
                try:
                    wanted[name] = float(value)
                except ValueError:
                    wanted[name] = value
            self.assertEqual(got["parameters"], wanted, study)
            self.assertEqual(list(got["results"]), names.split(), study)
            self.assertTrue(got["checks"], study)
            self.assertTrue(all(check["pass"] for check in got["checks"]), study)
            self.assertTrue(all(v is not None for v in got["results"].values()), study)

    def test_bad_input(self):
        for study in self.WANTED:
            for wrong in (dict(h=0), dict(h=-1e-3), dict(h="nan"), dict(kt=0), dict(kt=-1), dict(mu=-0.1)):
                done = call(study, **wrong)
                self.assertEqual(done.returncode, WRONG_INPUT, (study, wrong))
                self.assertIn(next(iter(wrong)), done.stderr)
                self.assertEqual(done.stdout, "")
        for study, wrong in (("table", dict(kn=0)), ("table", dict(kn=-1e6)), ("bound-iteration", dict(rod_deg=0)),
                             ("bound-iteration", dict(rod_deg=90)), ("bound-iteration", dict(rod_deg=-20)),
                             ("bound-iteration", dict(rod_deg=120)), ("sphere", dict(cone="round")),
                             ("incline", dict(law="stribeck")), ("wheel", dict(duration=0)),
                             ("incline", dict(h=1e-6, duration=1000))):
            done = call(study, **wrong)
            self.assertEqual(done.returncode, WRONG_INPUT, (study, wrong))
            self.assertIn(next(iter(wrong)), done.stderr)


class Wheel(unittest.TestCase):
    def test_reference_numbers(self):
        r = results("wheel")
        self.assertAlmostEqual(r["x_1"], 10.78119, delta=1e-9)
        self.assertAlmostEqual(r["x_2"], 19.60038, delta=1e-9)
        self.assertAlmostEqual(r["order"], 1, delta=0.1)
        self.assertAlmostEqual(wheel_exactly(10, 0.2, 1e5, 11.772, 1), 10.79101635, delta=1e-8)
        self.assertAlmostEqual(wheel_exactly(10, 0.2, 1e5, 11.772, 2), 19.6200327, delta=1e-7)

    def test_steps_by_hand(self):
        for p in (dict(), dict(h=1e-3), dict(h=2e-3, kt=1e7, dt=400), dict(mu=0.6, v0=5, dt=2000, h=5e-3),
                  dict(mass=0.2, radius=0.02, kt=300, h=4e-3), dict(v0=1e-4), dict(h=0.25)):
            r = results("wheel", **p)
            path, _ = round_body(0.5, p.get("mass", 10), p.get("mu", 0.2), p.get("kt", 1e5), p.get("dt", 0),
                                 (p.get("v0", 11.772), 0), p.get("h", 1e-2), 3)
            n = (len(path) - 1) // 3
            for i in (1, 2, 3):
                self.assertAlmostEqual(r[f"x_{i}"], path[i * n][0][0], delta=1e-9, msg=str(p))
            self.assertAlmostEqual(r["vx_3"], path[3 * n][1][0], delta=1e-9, msg=str(p))

    def test_order_and_distance_to_liang(self):
        exact = wheel_exactly(10, 0.2, 1e5, 11.772, 1)
        errors = {}
        for h in (2e-2, 1e-2, 5e-3):
            path, _ = round_body(0.5, 10, 0.2, 1e5, 0, (11.772, 0), h, 1)
            errors[h] = abs(path[-1][0][0] - exact)
        for h in (1e-2, 5e-3):
            r = results("wheel", h=h)
            self.assertAlmostEqual(r["order"], math.log2(errors[2 * h] / errors[h]), delta=1e-5)
        # While it slides, x lags by ½ μ g h t, to the end of the slide: h = 1e-2 → 0.0196 m.
        r, half = results("wheel"), results("wheel", h=5e-3)
        self.assertAlmostEqual(r["liang_error_x"], 0.5 * 0.2 * G * 1e-2 * 2, delta=2e-4)
        self.assertAlmostEqual(r["liang_error_x"] / half["liang_error_x"], 2, delta=0.03)
        # What remains of the velocity is the swing of the undamped bristle, μ g √(m/3k).
        self.assertAlmostEqual(r["liang_error_v"], 0.2 * G * math.sqrt(10 / 3e5), delta=2e-4)

    def test_what_does_not_come_about(self):
        r = results("wheel", duration=1.5)
        self.assertIsNone(r["x_2"])
        self.assertIsNone(r["vx_3"])
        r = results("wheel", mu=0)
        self.assertAlmostEqual(r["x_3"], 3 * 11.772, delta=1e-9)
        self.assertIsNone(r["order"])


class Sphere(unittest.TestCase):
    def by_hand(self, box=False, **p):
        tilt, angle = math.radians(p.get("tilt_deg", 5)), math.radians(p.get("angle_deg", 45))
        slip = p.get("slip0", 13.46)
        return round_body(0.4, p.get("mass", 10), p.get("mu", 0.2), p.get("kt", 1e5), p.get("dt", 0),
                          (slip * math.cos(angle), slip * math.sin(angle)), p.get("h", 5e-3), 1,
                          (0, G * math.sin(tilt)), G * math.cos(tilt), box)

    def compare(self, r, path, message):
        (x, y), (vx, vy) = path[-1]
        for name, value in (("x", x), ("y", y), ("vx", vx), ("vy", vy)):
            self.assertAlmostEqual(r[name], value, delta=1e-8, msg=f"{message}: {name}")

    def test_isotropic(self):
        for p in (dict(), dict(h=1e-3), dict(angle_deg=-20, tilt_deg=20, mu=0.5), dict(dt=500, kt=1e6),
                  dict(mu=1, dt=1000), dict(slip0=0, tilt_deg=10)):
            r = results("sphere", **p)
            path, _ = self.by_hand(**p)
            self.compare(r, path, str(p))
            self.assertLessEqual(r["cone_ratio"], 1 + 1e-6, str(p))

    def test_first_order(self):
        exact = sphere_exactly(0.2, 13.46, math.radians(45), math.radians(5))
        errors = [results("sphere", h=h, kt=1e9)["error_v"] for h in (1e-2, 5e-3, 2.5e-3)]
        for coarse, fine in zip(errors, errors[1:]):
            self.assertAlmostEqual(math.log2(coarse / fine), 1, delta=0.05)
        r = results("sphere", kt=1e9)
        self.assertAlmostEqual(r["error_v"], math.hypot(r["vx"] - exact[0], r["vy"] - exact[1]), delta=1e-6)

    def test_box(self):
        errors = []
        for h in (1e-2, 5e-3, 1e-3):
            r = results("sphere", cone="box", h=h)
            path, largest = self.by_hand(box=True, h=h)
            self.compare(r, path, f"box, h = {h}")
            self.assertAlmostEqual(largest, math.sqrt(2), delta=1e-12)
            self.assertAlmostEqual(r["cone_ratio"], math.sqrt(2), delta=1e-6)
            errors.append(r["error_v"])
        self.assertGreater(min(errors), 0.5)
        self.assertGreaterEqual(errors[2], 0.999 * errors[0])
        # Along an axis of the box there is nothing wrong with it.
        self.assertLess(results("sphere", cone="box", angle_deg=0, tilt_deg=0)["error_v"], 1e-4)


class Incline(unittest.TestCase):
    def test_bristles_hold(self):
        for p in (dict(), dict(dt=500), dict(kt=1e8, h=1e-3, duration=20), dict(slope_deg=-15, mass=0.3, h=2e-3),
                  dict(mu=0.15, duration=5), dict(mu=0.1, dt=800, duration=5, h=1e-3)):
            slope, mass, h = math.radians(p.get("slope_deg", 10)), p.get("mass", 10), p.get("h", 1e-2)
            x, v, z, half = 0, 0, [0, 0], 0
            steps = round(p.get("duration", 100) / h)
            for k in range(steps):
                free = v + h * G * math.sin(slope)
                force, z = radial_return(z, (free, 0), 1 / mass, h, p.get("kt", 1e5), p.get("dt", 0),
                                         p.get("mu", 0.3) * mass * G * math.cos(slope))
                v = free + h * force[0] / mass
                x += h * v
                half = x if k + 1 == steps // 2 else half
            r = results("incline", **p)
            self.assertAlmostEqual(r["offset_m"], x, delta=1e-12 + 1e-10 * abs(x), msg=str(p))
            self.assertAlmostEqual(r["drift_50_100_m"], x - half, delta=1e-12 + 1e-10 * abs(x), msg=str(p))
        r = results("incline")
        self.assertLessEqual(abs(r["drift_50_100_m"]), 1e-12)
        self.assertAlmostEqual(r["offset_m"], 10 * G * math.sin(math.radians(10)) / 1e5, delta=1e-12)

    def test_regularised_friction_creeps(self):
        for p in (dict(), dict(v_eps=1e-5), dict(v_eps=1e-2, h=1e-3, duration=10), dict(mu=0.8, slope_deg=25),
                  dict(slope_deg=-5, mass=0.01)):
            duration = p.get("duration", 100)
            creep = p.get("v_eps", 1e-3) * math.tan(math.radians(p.get("slope_deg", 10))) / p.get("mu", 0.3)
            r = results("incline", law="regularised", **p)
            self.assertAlmostEqual(r["drift_50_100_m"] / (0.5 * duration) / creep, 1, delta=1e-3, msg=str(p))


class Table(unittest.TestCase):
    def test_stiff_legs(self):
        for kn in (1e8, 1e9, 1e10, 1e12):
            r = results("table", kn=kn)
            normals, _ = table_forces(20, (0.1, 0.05), (0, 0, 0))
            for i in range(4):
                self.assertAlmostEqual(r[f"n{i + 1}"], normals[i], delta=1e-4, msg=f"kn = {kn}")
            self.assertLessEqual(r["spread_N"], 1e-6, f"kn = {kn}")

    def test_loads(self):
        source = random.Random(4)
        for _ in range(6):
            offset = (source.uniform(-0.2, 0.2), source.uniform(-0.1, 0.1))
            load = tuple(source.uniform(-10, 10) for _ in range(3))
            r = results("table", kn=1e9, offset_x=offset[0], offset_y=offset[1], load_x=load[0], load_y=load[1],
                        load_mz=load[2])
            normals, frictions = table_forces(20, offset, load)
            for i in range(4):
                self.assertAlmostEqual(r[f"n{i + 1}"], normals[i], delta=1e-3)
                self.assertAlmostEqual(r[f"t{i + 1}x"], frictions[2 * i], delta=1e-3)
                self.assertAlmostEqual(r[f"t{i + 1}y"], frictions[2 * i + 1], delta=1e-3)
            self.assertLessEqual(r["spread_N"], 1e-6)

    def test_friction_does_not_depend_on_the_step(self):
        # Frames of contacts turn with the bodies as they move, not as they would without friction.
        for h in (1e-2, 1e-3):
            r = results("table", h=h, kn=1e8, load_mz=10)
            _, frictions = table_forces(20, (0.1, 0.05), (0, 0, 10))
            for i in range(4):
                self.assertAlmostEqual(r[f"t{i + 1}x"], frictions[2 * i], delta=1e-3, msg=f"h = {h}")

    def test_unique_also_where_it_slides_or_tips(self):
        for p in (dict(load_x=120), dict(load_mz=60), dict(offset_x=0.6), dict(mu=0), dict(dn=2000, h=5e-3)):
            self.assertLessEqual(results("table", **p)["spread_N"], 1e-6, str(p))


class BoundIteration(unittest.TestCase):
    def test_ratio(self):
        source = random.Random(7)
        for _ in range(12):
            degrees, mu, way = source.uniform(5, 85), source.uniform(0.05, 0.9), source.choice((1, -1))
            nn, nt = rod_rows(degrees)
            ratio = mu * nt / nn
            r = results("bound-iteration", rod_deg=degrees, mu=mu, slip0=2 * way)
            self.assertAlmostEqual(r["contraction_ratio"], ratio, delta=1e-3)
            self.assertEqual(r["converged"], 1 if ratio < 0.97 else r["converged"])

    def test_iterations_by_hand(self):
        nn, nt = rod_rows(60)
        for slip, sign in ((2, 1), (-2, -1)):
            last, count = 0, 0
            while True:
                new = (G * 1e-3 + sign * nt * 0.3 * last) / nn
                count += 1
                if abs(new - last) <= 1e-10 * new:
                    break
                last = new
            r = results("bound-iteration", slip0=slip)
            self.assertEqual(r["iterations"], count)
            self.assertEqual(r["converged"], 1)

    def test_above_one_the_coupled_problem_still_has_its_answer(self):
        for mu in (1.5, 3, 8):
            got = outcome("bound-iteration", mu=mu, slip0=-2)
            nn, nt = rod_rows(60)
            self.assertGreater(mu * nt / nn, 1)
            self.assertAlmostEqual(got["results"]["contraction_ratio"], mu * nt / nn, delta=1e-3)
            self.assertEqual(got["results"]["converged"], 0)
            coupled = [c for c in got["checks"] if "coupled" in c["name"] or "stepper" in c["name"]]
            self.assertEqual(len(coupled), 2)
            self.assertTrue(all(c["pass"] for c in coupled))
            stepped = next(c for c in got["checks"] if "stepper" in c["name"])
            self.assertAlmostEqual(stepped["value"], G / (nn + mu * nt), delta=1e-7)

    def test_painleve_is_named(self):
        done = call("bound-iteration", mu=2)
        self.assertEqual(done.returncode, CANNOT_GO_ON)
        self.assertIn("Painlevé", done.stderr)
        got = json.loads(done.stdout)
        self.assertIn("jams", got["trouble"])
        self.assertNotIn("NaN", done.stdout)
        nn, nt = rod_rows(60)
        self.assertAlmostEqual(got["results"]["contraction_ratio"], 2 * nt / nn, delta=1e-3)
        # The end of the rod stops within the step: two rows, both held.
        tt = 1 + 3 * math.sin(math.radians(60)) ** 2 + 1 / (1e-6 * 1e7)
        normal, _ = solve([[nn, nt], [nt, tt]], [G * 1e-3, -2])
        stepped = next(c for c in got["checks"] if "stepper" in c["name"])
        self.assertAlmostEqual(stepped["value"] / (normal / 1e-3), 1, delta=1e-9)
        for check in got["checks"]:
            self.assertTrue(check["pass"], check["name"])


class OtherStudies(unittest.TestCase):
    """Under clock=complementarity: of first order, with a ledger that closes."""

    def run_study(self, name, **settings):
        command = [PROGRAM, "study", "run", name, "--json", "--set", "clock=complementarity"]
        for key, value in settings.items():
            command += ["--set", f"{key}={value}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=250)
        self.assertIn(done.returncode, (FINE, CHECK_FAILED), f"{name}: {done.stderr}")
        return json.loads(done.stdout)

    def test_all_of_them_run(self):
        listed = subprocess.run([PROGRAM, "study", "list", "--json"], capture_output=True, text=True).stdout
        ran = 0
        for study in json.loads(listed)["studies"]:
            if study["name"].startswith(("peiret.", "boos2013.")) or study["name"] == "gonthier.spin":
                continue  # theirs already, or without a clock
            got = self.run_study(study["name"])
            ran += 1
            self.assertNotIn("trouble", got)
            for check in got["checks"]:
                if "energy balance error" in check["name"]:
                    self.assertTrue(check["pass"], (study["name"], check))
        self.assertGreaterEqual(ran, 13)

    def test_first_order(self):
        for name, result, exact in (("gonthier2004.impact", "restitution", 0.5),
                                    ("azad2010.impact", "restitution", 0.6202907842),
                                    ("azad2014.restitution", "restitution", 0.724571485)):
            errors = [abs(self.run_study(name, substeps=n)["results"][result] - exact) for n in (4000, 40000)]
            self.assertAlmostEqual(math.log10(errors[0] / errors[1]), 1, delta=0.1, msg=name)

    def test_what_holds_for_any_step(self):
        for name in ("gonthier2004.stick-slip", "gonthier2004.inclined-plane", "gonthier2004.cylinder"):
            got = self.run_study(name)
            self.assertTrue(all(check["pass"] for check in got["checks"]), name)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
