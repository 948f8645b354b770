#!/usr/bin/env python3
"""Recordings as other programs read them: CSV, VTK, glTF, HDF5 (where h5py is installed).

    files_test.py MAKE_FILES [TESTS]

MAKE_FILES records a scene with a shape of every kind and exports it in every way.
"""

import base64
import csv
import json
import math
import struct
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path

try:
    import h5py
except ImportError:
    h5py = None

program = None
scratch = None
folder = None

ODD = 'a, "b"/ü\n%'  # a name that is hard to write
SHAPES = ["ground", "terrain", "shaft", "can", "mesh", "ball", ODD, "drum", "rod", "egg", "rock",
          "point"]
BODIES = ["ball", ODD, "drum", "rod", "egg", "rock", "bare"]


def setUpModule():
    global scratch, folder
    scratch = tempfile.TemporaryDirectory()
    folder = Path(scratch.name)
    subprocess.run([program, str(folder)], check=True, timeout=120)


def tearDownModule():
    scratch.cleanup()


def table(path):
    """Columns of a CSV file by name."""
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert all(len(row) == len(rows[0]) for row in rows), path
    assert len(set(rows[0])) == len(rows[0]), "two columns of the same name"
    return {name: [row[i] for row in rows[1:]] for i, name in enumerate(rows[0])}


def numbers(column):
    return [float(x) for x in column]


class Csv(unittest.TestCase):
    def test_tables(self):
        bodies = table(folder / "csv/bodies.csv")
        self.assertEqual(len(bodies), 1 + 13 * len(BODIES))
        self.assertEqual(len(bodies["time [s]"]), 51)
        for i, time in enumerate(numbers(bodies["time [s]"])):
            self.assertAlmostEqual(time, 0.01 * i, places=12)
        for body in BODIES:
            q = [numbers(bodies[f"{body}.quaternion_{x} [1]"]) for x in "wxyz"]
            for w, x, y, z in zip(*q):
                self.assertAlmostEqual(w * w + x * x + y * y + z * z, 1, places=12)
        joints = table(folder / "csv/joints.csv")
        self.assertEqual(joints["ball moves.q_z [m]"], table(folder / "csv/probes.csv")["height [m]"])
        self.assertIn("slide.v [m/s]", joints)
        self.assertIn("rod moves.v_wx [rad/s]", joints)
        self.assertEqual(float(table(folder / "csv/probes.csv")["x,y [N]"][0]), 1 / 3)

    def test_ledger_closes(self):
        ledger = table(folder / "csv/ledger.csv")
        energy, lost, given, left = (numbers(ledger[f"{name} [J]"]) for name in
                                     ["energy", "dissipated", "supplied", "residual"])
        for i in range(len(energy)):
            self.assertAlmostEqual(energy[i] - energy[0] + lost[i] - lost[0] - given[i] + given[0],
                                   left[i], places=9)

    def test_one_table(self):
        wide = table(folder / "wide/samples.csv")
        for name in ["bodies", "joints", "ledger", "probes"]:
            for column, values in table(folder / f"csv/{name}.csv").items():
                self.assertEqual(wide[column], values)
        self.assertFalse((folder / "wide/bodies.csv").exists())

    def test_contacts(self):
        contacts = table(folder / "csv/contacts.csv")
        self.assertGreater(len(contacts["time [s]"]), 20)
        self.assertLessEqual(set(contacts["shape_a"]) | set(contacts["shape_b"]), set(SHAPES))
        self.assertLessEqual(set(contacts["state"]), {"open", "stick", "slip"})
        self.assertIn("gonthier-friction", contacts["friction_law"])
        for force, friction in zip(contacts["normal_force [N]"], contacts["friction_x [N]"]):
            if float(force) == 0:
                self.assertEqual(float(friction), 0)

    def test_events(self):
        events = table(folder / "csv/events.csv")
        self.assertEqual(events["kind"], ["touch", "friction"])


class Vtk(unittest.TestCase):
    TYPES = {"Float64": "d", "Int64": "q", "Int32": "i"}

    def arrays(self, piece):
        found = {}
        for element in piece.iter("DataArray"):
            if element.get("format") != "binary":
                continue
            data = base64.b64decode(element.text, validate=True)
            (length,) = struct.unpack_from("<Q", data)
            self.assertEqual(length, len(data) - 8)
            letter = self.TYPES[element.get("type")]
            count = length // struct.calcsize(letter)
            found[element.get("Name")] = struct.unpack_from(f"<{count}{letter}", data, 8)
        return found

    def test_collection(self):
        root = xml.parse(folder / "vtk/recording.pvd").getroot()
        entries = list(root.iter("DataSet"))
        self.assertEqual(len(entries), 22)  # every 50 ms, shapes and contacts
        bodies = table(folder / "csv/bodies.csv")
        contacts = table(folder / "csv/contacts.csv")
        for entry in entries:
            time = entry.get("timestep")
            row = bodies["time [s]"].index(time)
            tree = xml.parse(folder / "vtk" / entry.get("file")).getroot()
            self.assertEqual(tree.get("header_type"), "UInt64")
            piece = next(tree.iter("Piece"))
            points = int(piece.get("NumberOfPoints"))
            data = self.arrays(piece)
            self.assertEqual(len(data["Points"]), 3 * points)
            if entry.get("part") == "0":
                self.check_shapes(piece, data, bodies, row, points)
            else:
                rows = [i for i, t in enumerate(contacts["time [s]"]) if t == time]
                self.assertEqual(points, len(rows))
                self.assertEqual(int(piece.get("NumberOfVerts")), len(rows))
                for k, i in enumerate(rows):
                    for axis, letter in enumerate("xyz"):
                        self.assertEqual(data["Points"][3 * k + axis],
                                         float(contacts[f"point_{letter} [m]"][i]))
                        force = (float(contacts["normal_force [N]"][i]) *
                                 float(contacts[f"normal_{letter} [1]"][i]) +
                                 float(contacts[f"friction_{letter} [N]"][i]))
                        self.assertAlmostEqual(data["force"][3 * k + axis], force, places=9)

    def check_shapes(self, piece, data, bodies, row, points):
        cells = int(piece.get("NumberOfPolys"))
        self.assertEqual(len(data["offsets"]), cells)
        self.assertEqual(data["offsets"][-1], len(data["connectivity"]))
        self.assertEqual(list(data["offsets"]), [3 * (i + 1) for i in range(cells)])
        self.assertLess(max(data["connectivity"]), points)
        self.assertEqual(set(data["shape"]), set(range(len(SHAPES) - 1)))  # a point has none
        # The ball's vertices lie on a sphere about where the ball is.
        ball = SHAPES.index("ball")
        centre = [float(bodies[f"ball.position_{x} [m]"][row]) for x in "xyz"]
        for cell in range(cells):
            if data["shape"][cell] != ball:
                continue
            self.assertEqual(data["body"][cell], 0)
            for vertex in data["connectivity"][3 * cell:3 * cell + 3]:
                self.assertAlmostEqual(math.dist(data["Points"][3 * vertex:3 * vertex + 3], centre),
                                       0.1, places=12)


class Gltf(unittest.TestCase):
    """The rules of the glTF 2.0 specification that this kind of file can break."""

    COMPONENTS = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}

    def load(self, name):
        data = (folder / name).read_bytes()
        magic, version, length = struct.unpack_from("<4sII", data)
        self.assertEqual((magic, version, length), (b"glTF", 2, len(data)))
        size, kind = struct.unpack_from("<I4s", data, 12)
        self.assertEqual(kind, b"JSON")
        self.assertEqual(size % 4, 0)
        gltf = json.loads(data[20:20 + size].decode("utf-8"))
        size_bin, kind = struct.unpack_from("<I4s", data, 20 + size)
        self.assertEqual(kind, b"BIN\0")
        self.assertEqual(28 + size + size_bin, len(data))
        buffer = data[28 + size:]
        self.assertEqual(len(gltf["buffers"]), 1)
        self.assertLessEqual(gltf["buffers"][0]["byteLength"], len(buffer))
        self.assertGreater(gltf["buffers"][0]["byteLength"], len(buffer) - 4)
        for view in gltf["bufferViews"]:
            self.assertLessEqual(view["byteOffset"] + view["byteLength"], len(buffer))
            self.assertGreater(view["byteLength"], 0)
        return gltf, buffer

    def accessor(self, gltf, buffer, index):
        accessor = gltf["accessors"][index]
        view = gltf["bufferViews"][accessor["bufferView"]]
        width = self.COMPONENTS[accessor["type"]]
        letter = {5126: "f", 5125: "I"}[accessor["componentType"]]
        self.assertGreater(accessor["count"], 0)
        self.assertEqual(view["byteOffset"] % 4, 0)
        self.assertEqual(view["byteLength"], 4 * width * accessor["count"])
        flat = struct.unpack_from(f"<{width * accessor['count']}{letter}", buffer,
                                  view["byteOffset"])
        rows = [flat[i:i + width] for i in range(0, len(flat), width)]
        for name, extreme in (("min", min), ("max", max)):
            if name not in accessor:
                continue
            self.assertEqual(len(accessor[name]), width)
            for k in range(width):
                stated = struct.unpack("<f", struct.pack("<f", accessor[name][k]))[0]
                self.assertEqual(stated, extreme(row[k] for row in rows))
        return rows, accessor, view

    def test_structure(self):
        gltf, buffer = self.load("recording.glb")
        self.assertEqual(gltf["asset"]["version"], "2.0")
        nodes = gltf["nodes"]
        self.assertEqual(gltf["scenes"][gltf["scene"]]["nodes"], [0])
        parents = {}
        for i, node in enumerate(nodes):
            for child in node.get("children", []):
                self.assertNotIn(child, parents)
                parents[child] = i
            if "children" in node:
                self.assertTrue(node["children"])
            if "rotation" in node:
                self.assertAlmostEqual(sum(x * x for x in node["rotation"]), 1, places=6)
        self.assertEqual(sorted(parents), list(range(1, len(nodes))))
        names = [node["name"] for node in nodes]
        self.assertEqual(names, ["world"] + BODIES + SHAPES)
        # z up becomes y up: (0, 0, 1) turned by the root is (0, 1, 0).
        x, y, z, w = nodes[0]["rotation"]
        up = (2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y))
        for have, want in zip(up, (0, 1, 0)):
            self.assertAlmostEqual(have, want, places=6)
        used = set()
        for mesh in gltf["meshes"]:
            for primitive in mesh["primitives"]:
                used.add(primitive["indices"])
                positions, about, view = self.accessor(gltf, buffer,
                                                       primitive["attributes"]["POSITION"])
                self.assertIn("min", about)
                self.assertEqual(view["target"], 34962)
                self.assertEqual(about["componentType"], 5126)
                indices, about, view = self.accessor(gltf, buffer, primitive["indices"])
                self.assertEqual(view["target"], 34963)
                self.assertEqual(len(indices) % 3, 0)
                self.assertLess(max(i for (i,) in indices), len(positions))
                self.assertLess(primitive["material"], len(gltf["materials"]))
                if "NORMAL" not in primitive["attributes"]:
                    continue
                normals, _, _ = self.accessor(gltf, buffer, primitive["attributes"]["NORMAL"])
                self.assertEqual(len(normals), len(positions))
                self.check_winding(positions, normals, indices)
        self.assertEqual(len(used), len(gltf["meshes"]))

    def check_winding(self, positions, normals, indices):
        """Normals are unit, and triangles turn counter-clockwise about them."""
        for n in normals:
            self.assertAlmostEqual(math.hypot(*n), 1, places=5)
        flat = [i for (i,) in indices]
        for k in range(0, len(flat), 3):
            a, b, c = (positions[i] for i in flat[k:k + 3])
            u = [b[i] - a[i] for i in range(3)]
            v = [c[i] - a[i] for i in range(3)]
            cross = (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2],
                     u[0] * v[1] - u[1] * v[0])
            self.assertGreater(math.hypot(*cross), 0)
            mean = [sum(normals[i][d] for i in flat[k:k + 3]) for d in range(3)]
            self.assertGreater(sum(cross[d] * mean[d] for d in range(3)), 0)

    def test_closed_surfaces_have_the_volume_of_the_shape(self):
        gltf, buffer = self.load("recording.glb")
        volumes = {}
        for mesh in gltf["meshes"]:
            primitive = mesh["primitives"][0]
            positions, _, _ = self.accessor(gltf, buffer, primitive["attributes"]["POSITION"])
            flat = [i for (i,) in self.accessor(gltf, buffer, primitive["indices"])[0]]
            volume = 0
            for k in range(0, len(flat), 3):
                a, b, c = (positions[i] for i in flat[k:k + 3])
                volume += (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
                           a[2] * (b[0] * c[1] - b[1] * c[0])) / 6
            volumes[mesh["name"]] = volume
        pi = math.pi
        for name, exact in {"ball": 4 / 3 * pi * 1e-3, ODD: 8 * 0.1 * 0.05 * 0.08,
                            "drum": pi * 0.01 * 0.1,
                            "rod": pi * 0.0025 * 0.2 + 4 / 3 * pi * 0.000125,
                            "egg": 4 / 3 * pi * 0.1 * 0.08 * 0.06}.items():
            self.assertAlmostEqual(volumes[name] / exact, 1, delta=0.03)
        self.assertLess(volumes["can"], 0)  # its solid is outside
        self.assertAlmostEqual(volumes["rock"], volumes["mesh"], places=7)
        self.assertGreater(volumes["rock"], 0)

    def test_animation(self):
        bodies = table(folder / "csv/bodies.csv")

        def single(text):
            return struct.unpack("<f", struct.pack("<f", float(text)))[0]

        for name, stride in (("recording.glb", 1), ("thin.glb", 8)):
            gltf, buffer = self.load(name)
            (animation,) = gltf["animations"]
            self.assertEqual(len(animation["channels"]), 2 * len(BODIES))
            targets = set()
            for channel in animation["channels"]:
                sampler = animation["samplers"][channel["sampler"]]
                times, about, view = self.accessor(gltf, buffer, sampler["input"])
                self.assertNotIn("target", view)
                self.assertIn("max", about)
                flat = [t for (t,) in times]
                self.assertEqual(flat[0], 0)
                self.assertTrue(all(a < b for a, b in zip(flat, flat[1:])))
                self.assertEqual(flat, [single(t) for t in bodies["time [s]"][::stride]])
                output, about, _ = self.accessor(gltf, buffer, sampler["output"])
                self.assertEqual(len(output), len(times))
                target = channel["target"]
                targets.add((target["node"], target["path"]))
                body = gltf["nodes"][target["node"]]["name"]
                self.assertEqual(list(output[0]), [single(x) for x in
                                                   gltf["nodes"][target["node"]][target["path"]]])
                column, letters = {"translation": ("position", "xyz"),
                                   "rotation": ("quaternion", "xyzw")}[target["path"]]
                unit = {"position": "m", "quaternion": "1"}[column]
                for k, letter in enumerate(letters):
                    values = bodies[f"{body}.{column}_{letter} [{unit}]"][::stride]
                    self.assertEqual([row[k] for row in output], [single(x) for x in values])
                if target["path"] == "rotation":  # viewers interpolate the shorter way
                    for a, b in zip(output, output[1:]):
                        self.assertGreater(sum(x * y for x, y in zip(a, b)), 0)
            self.assertEqual(len(targets), 2 * len(BODIES))


@unittest.skipIf(h5py is None, "h5py is not installed")
class Hdf5(unittest.TestCase):
    def test_equal_to_the_tables(self):
        bodies = table(folder / "csv/bodies.csv")
        with h5py.File(folder / "recording.h5") as file:
            self.assertEqual(file["time"][:].tolist(), numbers(bodies["time [s]"]))
            for body in BODIES:
                group = file["bodies"][body.replace("%", "%25").replace("/", "%2F")]
                self.assertEqual(group.attrs["name"].decode(), body)
                for column, letters, unit in (("position", "xyz", "m"), ("quaternion", "wxyz", "1"),
                                              ("velocity", "xyz", "m/s"),
                                              ("angular_velocity", "xyz", "rad/s")):
                    self.assertEqual(group[column].attrs["unit"].decode(), unit)
                    for k, letter in enumerate(letters):
                        self.assertEqual(group[column][:, k].tolist(),
                                         numbers(bodies[f"{body}.{column}_{letter} [{unit}]"]))
            for line, values in table(folder / "csv/ledger.csv").items():
                if line != "time [s]":
                    self.assertEqual(file["ledger"][line[:-4]][:].tolist(), numbers(values))
            contacts = table(folder / "csv/contacts.csv")
            names = [name.decode() for name in file["contacts/names"]]
            self.assertEqual(names, SHAPES)
            self.assertEqual([names[i] for i in file["contacts/shape_a"]], contacts["shape_a"])
            self.assertEqual(file["contacts/depth"][:].tolist(), numbers(contacts["depth [m]"]))
            self.assertEqual(file["contacts/friction"][:, 2].tolist(),
                             numbers(contacts["friction_z [N]"]))
            times = file["time"][:]
            self.assertEqual(times[file["contacts/time_index"][:]].tolist(),
                             numbers(contacts["time [s]"]))
            self.assertEqual(file["events/kind"][:].tolist(), [0, 3])

    def test_attributes(self):
        with h5py.File(folder / "recording.h5") as file:
            self.assertEqual(file.attrs["complete"], 1)
            self.assertEqual(file.attrs["status"].decode(), "ok")
            self.assertEqual(file.attrs["scene"].decode(), "# scene ü\n")
            self.assertEqual(file["scene"][()].decode(), "# scene ü\n")
            self.assertRegex(file.attrs["created"].decode(), r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
            without = []

            def visit(name, item):
                if isinstance(item, h5py.Dataset) and "unit" not in item.attrs:
                    without.append(name)

            file.visititems(visit)
            self.assertEqual(without, [])
            self.assertEqual(file["time"].compression, "gzip")
            self.assertTrue(file["time"].shuffle)


if __name__ == "__main__":
    program = sys.argv.pop(1)
    unittest.main()
