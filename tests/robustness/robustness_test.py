"""Whatever file, folder or command line the program is given, it ends in time with a status that is
true: 0 only when everything promised was computed and written.

usage: robustness_test.py PROGRAM SCENES [CLASS...]
"""

import json
import os
import pathlib
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM, SCENES = "", pathlib.Path()
FINE, CHECK_FAILED, BAD_INPUT, CANNOT_GO_ON, INTERRUPTED = 0, 1, 2, 3, 130

CLOCK = "[clock]\nduration_s = 0.01\n"
FLOOR = '[[bodies]]\nname = "floor"\nfixed = true\n[[bodies.shapes]]\ntype = "plane"\n'
BALL = ('[[bodies]]\nname = "ball"\nmass_kg = 1\nposition_m = [0, 0, 0.2]\n'
        '[[bodies.shapes]]\ntype = "sphere"\nradius_m = 0.1\n')
SCENE = CLOCK + FLOOR + BALL
RIGID = (CLOCK + 'kind = "complementarity"\n' + FLOOR + BALL +
         '[[contacts]]\nnormal = "rigid"\n[[constraints]]\nname = "blade"\ntype = "skate"\nb = "ball"\n')


def limit_time():
    """What takes ten seconds of the processor's time hangs, however busy the machine is."""
    resource.setrlimit(resource.RLIMIT_CPU, (10, 11))


def call(*arguments, **options):
    options.setdefault("preexec_fn", limit_time)
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True,
                          errors="replace", timeout=200, **options)


class Case(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.out = self.folder / "out"

    def write(self, text, name="scene.toml"):
        file = self.folder / name
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    def ended(self, result, status, *words):
        said = result.stderr[:3000]
        self.assertEqual(result.returncode, status, said + result.stdout[-500:])
        for word in words:
            self.assertTrue(word in result.stderr, f"{word!r} is not in: {said}")
        return result

    def refused(self, text, *words, arguments=()):
        """Bad input, said in time, under every command that reads a scene."""
        file = self.write(text)
        for command in (("scene", "check", file), ("run", file, "--out", self.out)):
            result = call(*command, *arguments)
            self.ended(result, BAD_INPUT, *words)
            self.assertEqual(result.stdout, "")
        self.assertFalse(self.out.exists())
        return result.stderr

    def accepted(self, text, *arguments):
        result = call("run", self.write(text), "--json", "--out", self.out, *arguments)
        self.ended(result, FINE)
        return json.loads(result.stdout), result.stderr

    def start(self, *arguments, **options):
        """A run in the background that is alive and has recorded something."""
        process = subprocess.Popen([PROGRAM, "run", *map(str, arguments)],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   **options)
        self.addCleanup(lambda: (process.poll() is None and process.kill(), process.communicate()))
        return process

    def wait_for(self, condition, seconds=100):
        end = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), end, "it did not happen in time")
            time.sleep(0.005)


def urdf(geometry, extra=""):
    return (f'<robot name="r"><link name="base"><inertial><mass value="1"/><inertia ixx="1" iyy="1" '
            f'izz="1" ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry>{geometry}</geometry>'
            f'</collision></link>{extra}</robot>')


ROBOT = '[[robots]]\nfile = "{}"\nbase = "free"\nposition_m = [0, 0, 1]\n'


def collada(nodes, scene='<instance_node url="#n0"/>', library=True):
    """A triangle in a file whose library of nodes is as told."""
    held = f"<library_nodes>{nodes}</library_nodes>" if library else ""
    return f"""<?xml version="1.0" encoding="utf-8"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit name="meter" meter="1"/><up_axis>Z_UP</up_axis></asset>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="pa" count="12">0 0 0 1 0 0 0 1 0 0 0 1</float_array><technique_common>
<accessor source="#pa" count="4" stride="3"><param name="X" type="float"/><param name="Y" type="float"/>
<param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="4"><input semantic="VERTEX" source="#v" offset="0"/><p>0 2 1 0 1 3 0 3 2 1 2 3</p>
</triangles></mesh></geometry></library_geometries>
{held}
<library_visual_scenes><visual_scene id="s"><node id="top">{scene}</node></visual_scene>
</library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>
"""


GEOMETRY = '<instance_geometry url="#g"/>'
PLY = ("ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\n"
       "property float z\nelement face 4\nproperty list uchar int vertex_indices\nend_header\n"
       "0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n")


class Readers(Case):
    """Files with structure: cycles, depth, sizes, counts, and what is not a file."""

    def mesh_scene(self, name, kind="hull"):
        return SCENE.replace('type = "sphere"\nradius_m = 0.1', f'type = "{kind}"\nfile = "{name}"'
                             ).replace("0.2]", "5]")

    def mesh_refused(self, text, name, *words):
        """Refused as the shape of a body and as the mesh of a robot."""
        self.write(text, name)
        self.refused(self.mesh_scene(name), name, *words)
        self.write(urdf(f'<mesh filename="{name}"/>'), "robot.urdf")
        self.refused(CLOCK + ROBOT.format("robot.urdf"), name, *words)

    def test_overlap_with_a_fixed_body_listed_later(self):
        text = CLOCK + BALL.replace("0.2]", "0.05]") + FLOOR
        self.refused(text, "overlap by 0.05 m", "allow_initial_overlap")

    def test_a_robot_foot_in_the_floor(self):
        self.write(urdf('<sphere radius="0.1"/>'), "robot.urdf")
        self.refused(CLOCK + ROBOT.format("robot.urdf").replace("0, 0, 1", "0, 0, 0.05") + FLOOR,
                     "overlap by 0.05 m")

    def test_collada_nodes_in_a_cycle(self):
        one = f'<node id="n0">{GEOMETRY}<instance_node url="#n0"/></node>'
        two = ('<node id="n0"><instance_node url="#n1"/></node>'
               f'<node id="n1">{GEOMETRY}<node id="n2"><instance_node url="#n0"/></node></node>')
        for nodes in (one, two):
            self.mesh_refused(collada(nodes), "mesh.dae", "contains itself")

    def test_collada_nodes_very_deep(self):
        deep = "<node>" * 300 + GEOMETRY + "</node>" * 300
        self.mesh_refused(collada("", deep, False), "mesh.dae", "deep")
        deep = "<node>" * 100000 + GEOMETRY + "</node>" * 100000
        self.mesh_refused(collada("", deep, False), "mesh.dae", "deep")
        # By instances: every node holds the next one.
        chain = "".join(f'<node id="n{i}"><instance_node url="#n{i + 1}"/></node>'
                        for i in range(3000)) + f'<node id="n3000">{GEOMETRY}</node>'
        self.mesh_refused(collada(chain), "mesh.dae", "deep")

    def test_collada_nodes_that_double(self):
        twice = "".join(f'<node id="n{i}">' + f'<instance_node url="#n{i + 1}"/>' * 2 + "</node>"
                        for i in range(40)) + f'<node id="n40">{GEOMETRY}</node>'
        self.mesh_refused(collada(twice), "mesh.dae", "instances")

    def test_collada_instances_of_what_is_not_there(self):
        """Assimp leaves them out without a word."""
        for instance in ('<instance_node url="other.dae#n1"/>', '<instance_node url="#n1"/>',
                         '<instance_geometry url="#h"/>'):
            nodes = f'<node id="n0">{GEOMETRY}{instance}</node>'
            self.mesh_refused(collada(nodes), "mesh.dae", "not in this file")

    def test_collada_that_asks_for_too_much(self):
        large = collada("", GEOMETRY, False).replace('count="12"', 'count="4000000000"')
        self.mesh_refused(large, "mesh.dae", "too much memory")

    def test_collada_that_is_good(self):
        nodes = f'<node id="n0"><instance_node url="#n1"/></node><node id="n1">{GEOMETRY}</node>'
        self.write(collada(nodes), "mesh.dae")
        self.accepted(self.mesh_scene("mesh.dae"))

    def test_ply_is_read(self):
        self.write(PLY, "mesh.ply")
        for kind in ("hull", "mesh"):
            self.accepted(self.mesh_scene("mesh.ply", kind).replace(FLOOR, ""))
        self.write(urdf('<mesh filename="mesh.ply"/>'), "robot.urdf")
        self.accepted(CLOCK + ROBOT.format("robot.urdf"))

    def test_faces_with_very_many_corners(self):
        n = 200000
        ring = "".join(f"v {i % 449} {i % 457} {i % 463}\n" for i in range(n))
        face = "f " + " ".join(str(i + 1) for i in range(n)) + "\n"
        self.mesh_refused(ring + face, "mesh.obj", "corners")

    def test_a_mesh_that_asks_for_more_than_there_is(self):
        head = b"x" * 80 + struct.pack("<I", 0x7fffffff)
        self.mesh_refused(head + bytes(50), "mesh.stl")
        self.mesh_refused(PLY.replace("vertex 4", "vertex 4000000000"), "mesh.ply")

    def test_toml_very_deep(self):
        for deep in (".".join("a" * 50000) + " = 1", f"[{'.'.join('a' * 50000)}]\nx = 1",
                     "x = " + "[" * 50000, "x = " + "{a=" * 50000,
                     "x = " + "{" + "{".join("a.b.c.d.e.f.g=" for _ in range(200))):
            self.refused(SCENE + deep, "scene.toml:", "deep")
        self.refused(SCENE, "deep", arguments=("--set", ".".join("a" * 50000) + "=1"))
        self.refused(SCENE, "deep", arguments=("--set", "title=" + "[" * 5000 + "]" * 5000))

    def test_hundreds_of_rigid_loops(self):
        loop = '[[loops]]\nname = "%d"\ntype = "weld"\na = "floor"\nb = "ball"\n'
        self.refused(SCENE + "".join(loop % i for i in range(700)), "rigid loops", "500")

    def test_files_that_include_each_other(self):
        """Each names the others many times: not followed in all ways that there are."""
        names = ", ".join(['"scene.toml"', '"more.toml"', '"./scene.toml"'] * 8)
        self.write(f"include = [{names}]\n", "more.toml")
        self.refused(f"include = [{names}]\n" + SCENE, "must not include itself")
        for i in range(15):  # none includes itself, but the ways double
            self.write(f'include = ["m{i + 1}.toml", "m{i + 1}.toml"]\n', f"m{i}.toml")
        self.write("", "m15.toml")
        self.refused('include = "m0.toml"\n' + SCENE, "more than 1000 files")
        self.write('include = "m15.toml"\n', "m14.toml")
        self.accepted('include = ["m14.toml", "m15.toml"]\n' + SCENE)

    def test_thousands_of_bodies_at_one_place(self):
        """Eight million pairs: refused before memory is taken for them."""
        def limits():
            limit_time()
            resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
        for text in ("", "allow_initial_overlap = true\n"):
            text += CLOCK + "".join(BALL.replace('"ball"', f'"{i}"') for i in range(4000))
            result = call("run", self.write(text), "--out", self.out, preexec_fn=limits)
            self.assertIn(result.returncode, (BAD_INPUT, CANNOT_GO_ON), result.stderr[-500:])
            self.assertIn("close to", result.stderr)

    def test_a_scene_that_is_too_large(self):
        file = self.folder / "scene.toml"
        with open(file, "wb") as large:
            large.truncate(1 << 33)
        for command in (("scene", "check", file), ("run", file, "--out", self.out)):
            self.ended(call(*command), BAD_INPUT, "scene.toml", "MiB")

    def test_absurd_sizes_in_a_robot(self):
        for size in ("1e300", "1e160", "1e100", "1e-300", "1e-160"):
            for geometry in (f'<box size="{size} {size} {size}"/>', f'<sphere radius="{size}"/>',
                             f'<cylinder radius="{size}" length="{size}"/>',
                             f'<box size="{size} 1 1"/>', f'<capsule radius="1" length="{size}"/>'):
                self.write(urdf(geometry), "robot.urdf")
                scene = self.write(CLOCK + ROBOT.format("robot.urdf") + FLOOR)
                result = call("run", scene, "--no-recording", "--set", "clock.duration_s=0.001")
                self.assertIn(result.returncode, (BAD_INPUT, CANNOT_GO_ON),
                              f"{geometry}: {result.stderr[-500:]}")
                self.assertIn("robot.urdf:1: ", result.stderr)

    def test_absurd_sizes_in_a_scene(self):
        for size in ("1e300", "1e155", "1e30", "1e-30", "1e-160", "1e-300"):
            self.refused(SCENE.replace("radius_m = 0.1", f"radius_m = {size}"), "radius_m", "scene.toml:")
        self.refused(SCENE.replace("0.2]", "1e200]"), "position_m", "scene.toml:")
        self.refused(SCENE.replace("mass_kg = 1", "mass_kg = 1e200"), "mass_kg", "scene.toml:")

    def test_only_regular_files_are_read(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        os.symlink("/dev/zero", self.folder / "zero")
        for name in ("pipe", "zero", "."):
            for scene in (ROBOT.format(name), f'include = "{name}"\n' + SCENE):
                self.refused(scene, name)
            for command in (("scene", "check"), ("run",), ("export", "--csv"), ("run", "--resume")):
                self.ended(call(*command, self.folder / name), BAD_INPUT)
        for name in ("pipe.stl", "zero.stl"):
            os.rename(self.folder / name[:4], self.folder / name)
            self.refused(self.mesh_scene(name), name)
        os.mkfifo(self.folder / "recording.h5")
        self.ended(call("export", self.folder, "--csv"), BAD_INPUT)

    def test_a_contact_group_of_thousands(self):
        names = ", ".join(f'"n{i}"' for i in range(5000))
        self.refused(SCENE + f"[[contacts]]\ngroup = [{names}]\n", "group", "at most", "surface")

    def test_tens_of_thousands_of_bad_bodies(self):
        bad = "".join(f'[[bodies]]\nname = "body {i}"\nmas_kg = 1\nposition = 3\n'
                      f'[[joints]]\nname = "joint {i}"\ntype = "revolute"\nchild = "bodi {i}"\n'
                      f'parent = "bodz {i}"\n' for i in range(20000))
        message = self.refused(SCENE + bad, "mas_kg", "more")
        self.assertLess(len(message), 200000)

    def test_tens_of_thousands_of_bad_links(self):
        links = "".join(f'<link name="l{i}"><inertial><mass value="x"/></inertial></link>'
                        f'<joint name="j{i}" type="revolut"><parent link="k{i}"/><child link="l{i}"/>'
                        f'</joint>' for i in range(20000))
        self.write(urdf('<sphere radius="0.1"/>', links), "robot.urdf")
        message = self.refused(CLOCK + ROBOT.format("robot.urdf"), "mass", "more")
        self.assertLess(len(message), 200000)

    def test_absurd_steps(self):
        fixed = SCENE.replace("duration_s", 'kind = "fixed"\nduration_s')
        for step in ("0.02", "1e9", "1e-30", "1e-300", "1e-17"):
            self.refused(fixed.replace("[clock]", f"[clock]\nstep_s = {step}"), "step_s",
                         "scene.toml:2")
        summary, _ = self.accepted(fixed.replace("[clock]", "[clock]\nstep_s = 0.01"))
        self.assertEqual(summary["steps"], 1)

    def test_absurd_recording_intervals(self):
        for every in ("1e-30 s", "1e-300 us", "1e-13 s"):
            self.refused(SCENE + f'[record]\nevery = "{every}"\n', "every", "samples")
        self.refused(SCENE + "[record]\ncheckpoint_s = 1e-30\n", "checkpoint_s")
        self.refused(SCENE.replace("0.01", "1e300"), "duration_s")
        self.refused(SCENE.replace("0.01", "1e9"), "samples")
        self.accepted(SCENE + '[record]\nevery = "1e8 s"\ncheckpoint_s = 1e8\n')


def silent(path, size):
    """A run's folder on a file system that is full after so many bytes: by a limit on files."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


class Silence(Case):
    """Status 0 only when everything promised was computed and written."""

    def test_standard_output_to_a_full_device(self):
        scene = self.write(SCENE)
        commands = (("run", scene, "--out", self.out), ("run", scene, "--out", self.out, "--json"),
                    ("scene", "check", scene), ("scene", "show", scene), ("scene", "schema"),
                    ("law", "list"), ("law", "list", "--json"), ("study", "list"), ("material", "list"),
                    ("export", self.out, "--csv"), ("--version",), ("--help",), ("run", "--help"))
        for command in commands:
            with open("/dev/full", "w") as full:
                result = subprocess.run([PROGRAM, *map(str, command)], stdout=full, text=True,
                                        stderr=subprocess.PIPE)
            self.assertEqual(result.returncode, CANNOT_GO_ON, command)
            self.assertIn("standard output", result.stderr)

    def test_standard_output_that_is_closed(self):
        result = subprocess.run([PROGRAM, "law", "list"], stderr=subprocess.PIPE, text=True,
                                preexec_fn=lambda: os.close(1))
        self.assertEqual(result.returncode, CANNOT_GO_ON)

    def test_nobody_reads_the_output(self):
        """The run goes on, and all files are there."""
        process = self.start(SCENES / "arm.toml", "--realtime", "--set", "clock.duration_s=2",
                             "--out", self.out)
        process.stdout.close()
        process.stderr.close()
        self.assertEqual(process.wait(timeout=200), CANNOT_GO_ON)
        for name in ("recording.h5", "report.html", "run.png", "run.svg"):
            self.assertTrue((self.out / name).exists(), name)

    def test_standard_error_that_cannot_be_written(self):
        """Progress, warnings and messages are lost; the run and its status are not."""
        bad = self.write(SCENE.replace("mass_kg = 1", "mass_kg = 0"))
        long = (SCENES / "arm.toml", "--realtime", "--set", "clock.duration_s=2", "--out", self.out)
        for file in ("/dev/full", "/dev/null"):  # written to, or closed
            for command, status in (((bad,), BAD_INPUT), (long, FINE)):
                with open(file, "w" if file == "/dev/full" else "r") as stream:
                    result = subprocess.run([PROGRAM, "run", *map(str, command)], stderr=stream,
                                            stdout=subprocess.DEVNULL)
                self.assertEqual(result.returncode, status, file)
        self.assertTrue((self.out / "report.html").exists())

    def test_a_terminal_that_is_closed(self):
        for ignored in (False, True):  # by nohup
            process = self.slow(preexec_fn=lambda: ignored and signal.signal(signal.SIGHUP, signal.SIG_IGN))
            self.wait_for(lambda: (self.out / "recording.log").exists())
            process.send_signal(signal.SIGHUP)
            _, complaint = process.communicate(timeout=200)
            self.assertEqual(process.returncode, FINE if ignored else INTERRUPTED, complaint)
            self.assertTrue((self.out / "recording.h5").exists())
            shutil.rmtree(self.out)

    def test_a_folder_without_a_name(self):
        self.accepted(SCENE)
        for command in (("run", self.write(SCENE)), ("export", self.out, "--csv"),
                        ("study", "run", "azad2014.materials"), ("crosscheck", self.write(SCENE))):
            self.ended(call(*command, "--out", "", cwd=self.folder), BAD_INPUT, "--out", "empty")

        self.ended(call("law", "compare", "hertz", "flores", "--output", ""), BAD_INPUT, "--output", "empty")

    def test_times_that_are_none(self):
        self.accepted(SCENE)
        for option, *command in (("--checkpoint", "run", self.write(SCENE), "--out", self.out),
                                 ("--every", "export", self.out, "--csv")):
            for time_s in ("nan", "inf", "-1", "x", "1e10", ""):
                message = self.ended(call(*command, option, time_s), BAD_INPUT, option, "1e+09]").stderr
                self.assertLess(len(message), 200)

    def test_the_clock_in_real_time(self):
        """The scene's own where it has a fixed step: what solves for impulses is not replaced in silence."""
        probe = '[[probes]]\nname = "p"\nkind = "velocity"\nbody = "ball"\ncomponent = "y"\n'
        moving = RIGID.replace("position_m = [0, 0, 0.2]", "position_m = [0, 0, 0.2]\nvelocity_m_s = [0, 1, 0]")
        summary, _ = self.accepted(moving + probe, "--realtime")
        self.assertAlmostEqual(summary["probes"]["p"]["last"], 0, delta=1e-12)
        self.assertIn("wake_up_latency", json.dumps(summary))
        _, complaint = self.accepted(SCENE.replace("[clock]", "[clock]\nrtol = 1e-7"), "--realtime")
        self.assertIn("ignored", complaint)

    def slow(self, *arguments, **options):
        """A run of some seconds that records at once."""
        return self.start(SCENES / "arm.toml", "--realtime", "--set", "clock.duration_s=1.5",
                          "--out", self.out, *arguments, **options)

    def test_the_folder_is_removed(self):
        process = self.slow()
        self.wait_for(lambda: (self.out / "recording.log").exists())
        time.sleep(0.3)
        shutil.rmtree(self.out)
        _, complaint = process.communicate(timeout=200)
        self.assertEqual(process.returncode, CANNOT_GO_ON, complaint)
        self.assertIn("recording", complaint)

    def test_the_folder_is_moved(self):
        """It is followed: what was promised is in it."""
        process = self.slow("--json")
        self.wait_for(lambda: (self.out / "recording.log").exists())
        moved = self.folder / "moved"
        self.out.rename(moved)
        output, complaint = process.communicate(timeout=200)
        self.assertEqual(process.returncode, FINE, complaint)
        for name in ("recording.h5", "report.html", "run.png", "run.svg"):
            self.assertTrue((moved / name).exists(), name)
        self.assertFalse(self.out.exists())

    def test_the_log_is_truncated_by_someone_else(self):
        for length in (0, 1000):
            self.out = self.folder / f"cut-{length}"
            process = self.slow()
            log = self.out / "recording.log"
            self.wait_for(lambda: log.exists() and log.stat().st_size > 20000)
            os.truncate(log, length)
            _, complaint = process.communicate(timeout=200)
            self.assertEqual(process.returncode, CANNOT_GO_ON, complaint)
            self.assertIn("recording.log", complaint)

    def test_a_file_that_cannot_be_written(self):
        """A folder stands where a file is to be: everything else is there, and the status says so."""
        for name in ("recording.h5", "report.html", "run.png", "run.svg", "csv"):
            out = self.folder / f"no-{name}"
            (out / name).mkdir(parents=True)
            (out / name / "keep").write_text("")
            if name == "csv":
                (out / name / "keep").unlink()
                (out / name).rmdir()
                (out / name).write_text("")
            result = call("run", self.write(SCENE), "--csv", "--out", out)
            self.ended(result, CANNOT_GO_ON, name)
            for other in ("recording.h5", "report.html", "run.png", "run.svg"):
                self.assertEqual((out / other).is_file(), other != name, other)

    def test_a_full_disk_at_the_end(self):
        """Every size of disk, from nothing to all that a run needs."""
        scene, statuses = self.write(SCENE), []
        self.accepted(SCENE)
        whole = max(file.stat().st_size for file in self.out.iterdir())
        names = sorted(file.name for file in self.out.iterdir())
        for size in [1 + whole * k // 24 for k in range(25)] + [2 * whole]:
            out = self.folder / f"disk-{size}"
            result = call("run", scene, "--out", out, preexec_fn=lambda: silent(out, size))
            self.assertIn(result.returncode, (FINE, CANNOT_GO_ON), result.stderr)
            statuses.append(result.returncode)
            if result.returncode == FINE:
                self.assertEqual(sorted(file.name for file in out.iterdir()), names, size)
            else:
                self.assertNotEqual(result.stderr, "")
            for file in out.iterdir():  # whole, or not there
                self.assertFalse(file.name.endswith(".part"), file.name)
        self.assertEqual(statuses[0], CANNOT_GO_ON)
        self.assertEqual(statuses[-1], FINE)

    def test_keys_that_a_shape_does_not_use(self):
        for extra, *words in (("size_m = [1, 1, 1]", "size_m", '"sphere"', "box"),
                              ("length_m = 1", "length_m", "cylinder"),
                              ('file = "x.stl"', "file", "mesh"), ("scale = 2", "scale"),
                              ("semi_axes_m = [1, 1, 1]", "semi_axes_m", "ellipsoid")):
            self.refused(SCENE + extra + "\n", *words)
        plane = SCENE.replace('"plane"\n', '"plane"\nradius_m = 1\n')
        self.refused(plane, "radius_m", '"plane"')

    def test_keys_that_a_motor_or_probe_does_not_use(self):
        arm = BALL + '[[joints]]\nname = "hinge"\ntype = "revolute"\nchild = "ball"\n'
        motor = '[[motors]]\nname = "m"\njoint = "hinge"\n'
        self.refused(CLOCK + arm + motor + "kp_Nm_rad = 3\n", "kp_Nm_rad", "torque")
        self.refused(CLOCK + arm + motor + 'kind = "position"\nkp_Nm_rad = 3\ntorque_Nm = 1\n',
                     "torque_Nm", "position")
        self.refused(SCENE + '[[probes]]\nname = "p"\nkind = "energy"\nbody = "ball"\n', "body", "energy")
        self.refused(SCENE + '[[probes]]\nname = "p"\nkind = "point"\nbody = "ball"\nline = "kinetic"\n',
                     "line", "point")

    def test_numbers_that_must_be_whole(self):
        fixed = SCENE.replace("duration_s", 'kind = "fixed"\nduration_s')
        for scene, key in ((fixed, "substeps"), (fixed, "threads"), (RIGID, "iterations"),
                           (RIGID, "relinearisations")):
            self.refused(scene.replace("[clock]", f"[clock]\n{key} = 1.5"), f"{key} = 1.5", "whole")

    def test_keys_that_a_clock_does_not_use(self):
        """Each key under each clock: taken without a word, or ignored with one."""
        stepped = {"step_s = 0.001", "substeps = 2", "threads = 2"}
        solved = {'cone = "box"', 'bounds = "lagged"', 'solver = "newton"', "tolerance = 1e-8",
                  "iterations = 10", "relinearisations = 3", "strict = true"}
        method, chosen = {'method = "rk4"'}, {"rtol = 1e-5"}
        for kind, used in (("adaptive", chosen), ("fixed", stepped | method),
                           ("complementarity", stepped | solved)):
            for key in sorted(stepped | solved | method | chosen):
                text = SCENE.replace("[clock]\n", f'[clock]\n{key}\nkind = "{kind}"\n')
                _, complaint = self.accepted(text)
                if key in used:
                    self.assertNotIn("ignored", complaint, kind)
                else:
                    name, value = key.split(" = ")
                    self.assertRegex(complaint, f'scene.toml:2: clock: {name} = ..*is ignored: kind = "{kind}"')

    def test_settings_that_come_too_late(self):
        self.write(BALL, "more.toml")
        self.refused(SCENE, "include", arguments=("--set", 'include="more.toml"'))

    def test_settings_that_are_none(self):
        for setting, word in (("clock.=1", "empty"), (".=1", "empty"), ("clock..step_s=1", "empty"),
                              ("=1", "key=value"), ("clock", "key=value"), ("bodies.nobody.mass_kg=1", "nobody"),
                              ("clock.duration_s=0.01\ny=5", "must be a number")):
            self.refused(SCENE, word, arguments=("--set", setting))

    def test_settings_are_named_in_messages(self):
        for setting, words in (('clock.metod="rk4"', "clock: unknown key metod"),
                               ("bodies.ball.mass_kg=-1", 'body "ball": mass_kg = -1 must be above 0'),
                               ("contacts=[{restitution=2}]", "contact 1: restitution = 2")):
            complaint = self.refused(SCENE, words, arguments=("--set", setting))
            self.assertTrue(complaint.startswith(f"--set {setting}: "), complaint)

    def test_commands_that_there_are_not(self):
        for arguments, wrong, right in ((("rum", "scene.toml"), "rum", "run"),
                                        (("law", "shwo", "hertz"), "shwo", "show")):
            result = call(*arguments)
            self.ended(result, BAD_INPUT, f'there is no command "{wrong}"; did you mean "{right}"?')

    def test_arguments_that_exclude_each_other(self):
        self.accepted(SCENE)
        for arguments in (("--set", "clock.duration_s=3"), ("--threads", "2"), ("--checkpoint", "1"),
                          ("--no-recording",), ("--out", self.folder / "other")):
            result = call("run", "--resume", self.out, *arguments)
            self.ended(result, BAD_INPUT, arguments[0], "--resume")
        self.ended(call("run", self.write(SCENE), "--no-recording", "--csv"), BAD_INPUT, "--csv")
        self.ended(call("export", self.out, "--vtk", "--one-table"), BAD_INPUT, "--one-table")

    def test_pose_and_velocity_of_a_jointed_body(self):
        joint = '[[joints]]\nname = "hinge"\ntype = "revolute"\nchild = "ball"\nposition_m = [0, 0, 1]\n'
        body = BALL.replace("position_m = [0, 0, 0.2]\n", "{}\n")
        for key in ("position_m = [0, 0, 3]", "rotation_deg = [0, 0, 30]", "quaternion = [0, 1, 0, 0]",
                    "velocity_m_s = [1, 0, 0]", "angular_velocity_rad_s = [0, 0, 1]"):
            text = CLOCK + body.format(key) + joint
            _, complaint = self.accepted(text)
            self.assertIn("ignored", complaint)
            self.assertIn(key.split(" ")[0], complaint)
            _, complaint = self.accepted(text.replace('"revolute"', '"free"'))
            self.assertNotIn("ignored", complaint)

    def test_a_summary_that_is_not_a_number(self):
        text = SCENE + '[[probes]]\nname = "far"\nkind = "point"\nbody = "ball"\ncomponent = "x"\n'
        huge = text.replace("mass_kg = 1", "mass_kg = 1").replace(
            "position_m", "velocity_m_s = [1e200, 0, 0]\nposition_m")
        result = call("run", self.write(huge), "--json", "--out", self.out)
        self.assertNotEqual(result.returncode, FINE)
        self.assertNotEqual(result.stderr, "")
        for value in ("nan", "-nan", "inf"):
            self.refused(SCENE + f'[[contacts]]\nnormal = {{law = "hertz", stiffness = {value}}}\n',
                         "stiffness")
            self.refused(SCENE + f"[[contacts]]\nfriction = {value}\n", "friction")

    def test_steps_that_create_energy(self):
        """What touches later is too stiff for steps that were chosen at the start: never status 0."""
        boxes = "".join(
            f'[[bodies]]\nname = "box{i}"\nmass_kg = 1\nposition_m = [0, 0, {0.06 + 0.11 * i}]\n'
            f'[[bodies.shapes]]\ntype = "box"\nsize_m = [0.1, 0.1, 0.1]\n' for i in range(3))
        scene = ('[clock]\nkind = "fixed"\nduration_s = 0.5\n[[bodies]]\nname = "ground"\nfixed = true\n'
                 '[[bodies.shapes]]\ntype = "plane"\n' + boxes)
        summary, _ = self.accepted(scene)
        self.assertLess(summary["ledger"]["kinetic_J"], 1e-12)
        self.assertLess(summary["ledger"]["relative_residual"], 1e-3)
        result = call("run", self.write(scene), "--no-recording", "--set", "clock.method=semi-implicit-euler",
                      "--set", "clock.substeps=1")
        self.ended(result, CANNOT_GO_ON, "created energy", 'contact of "')

    def test_export_says_what_it_could_not_write(self):
        self.accepted(SCENE)
        for flag, name in (("--csv", "events.csv"), ("--vtk", "recording.pvd"),
                           ("--gltf", "recording.glb"), ("--html", "report.html")):
            out = self.folder / flag[2:]
            (out / name).mkdir(parents=True)
            (out / name / "keep").write_text("")
            self.ended(call("export", self.out, flag, "--out", out), CANNOT_GO_ON, name)
        file = self.write("", "file")
        self.ended(call("export", self.out, "--csv", "--out", file), CANNOT_GO_ON)

    def test_studies_and_plots_say_what_they_could_not_write(self):
        file = self.write("", "file")
        self.ended(call("study", "run", "azad2014.materials", "--out", file), CANNOT_GO_ON, "file")
        self.ended(call("law", "plot", "hertz", "--output", file / "x.svg"), CANNOT_GO_ON, "file")


class Folders(Case):
    """Two runs in one folder, links, names."""

    def long(self, *arguments):
        process = self.start(SCENES / "ball-in-cylinder.toml", "--set", "clock.duration_s=300",
                             "--checkpoint", "0.1", "--json", "--out", self.out, *arguments)
        log = self.out / "recording.log"
        self.wait_for(lambda: log.exists() and log.stat().st_size > 10000)
        return process

    def test_two_runs_in_one_folder(self):
        first = self.long()
        for command in ((SCENES / "steel-ball.toml", "--out", self.out), ("--resume", self.out)):
            self.ended(call("run", *command), CANNOT_GO_ON, str(first.pid), "process", str(self.out))
        self.assertIsNone(first.poll())
        first.send_signal(signal.SIGINT)
        output, complaint = first.communicate(timeout=200)
        self.assertEqual(first.returncode, INTERRUPTED, complaint)
        self.assertEqual(json.loads(output)["status"], "interrupted")
        exported = call("export", self.out, "--csv")
        self.ended(exported, FINE)
        self.assertEqual(exported.stderr, "")
        self.assertFalse((self.out / "run.lock").exists())

    def test_the_first_of_two_is_not_disturbed(self):
        """To the end, its tables are those of a run alone."""
        scene = (SCENES / "arm.toml", "--set", "clock.duration_s=1.5", "--csv", "--checkpoint", "0.1")
        alone = self.folder / "alone"
        self.ended(call("run", *scene, "--out", alone), FINE)
        first = self.start(*scene, "--realtime", "--out", self.out)
        self.wait_for(lambda: (self.out / "run.lock").exists() and (self.out / "recording.log").exists())
        refused = 0
        while first.poll() is None:
            for command in (("run", SCENES / "dominoes.toml", "--out", self.out),
                            ("run", "--resume", self.out)):
                second = call(*command)
                refused += second.returncode == CANNOT_GO_ON and str(first.pid) in second.stderr
                if first.poll() is not None:  # it may be over
                    break
            if refused >= 6:
                break
        self.assertGreaterEqual(refused, 2)
        _, complaint = first.communicate(timeout=200)
        self.assertEqual(first.returncode, FINE, complaint)
        tables = lambda folder: {file.name: file.read_bytes() for file in (folder / "csv").iterdir()}
        self.assertEqual(tables(self.out), tables(alone))

    def test_the_lock_of_a_killed_run_is_taken_over(self):
        first = self.long()
        first.kill()
        first.wait()
        self.assertTrue((self.out / "run.lock").exists())
        second = self.start("--resume", self.out)
        time.sleep(0.5)
        self.assertIsNone(second.poll())
        second.send_signal(signal.SIGINT)
        _, complaint = second.communicate(timeout=200)
        self.assertEqual(second.returncode, INTERRUPTED, complaint)
        self.assertIn(str(first.pid), complaint)  # noticed, and said

    def test_a_run_with_included_files_is_resumed(self):
        """From anywhere: what they say is in the recording."""
        self.write(BALL, "ball.toml")
        self.write('include = "ball.toml"\n' + CLOCK.replace("0.01", "2") + FLOOR, "scene.toml")
        command = ("run", "scene.toml", "--checkpoint", "0.1", "--out")
        self.ended(call(*command, "whole", "--csv", cwd=self.folder), FINE)
        limits = lambda: silent(self.out, 30000)
        self.ended(call(*command, self.out, cwd=self.folder, preexec_fn=limits), CANNOT_GO_ON)
        self.ended(call("run", "--resume", self.out, "--csv", cwd="/"), FINE)
        for file in (self.folder / "whole" / "csv").iterdir():
            self.assertEqual(file.read_bytes(), (self.out / "csv" / file.name).read_bytes(), file.name)

    def test_many_at_once(self):
        """Of runs that begin at the same time in one folder, those that go on do so one by one."""
        scene = self.write(SCENE.replace("0.01", "0.3"))
        processes = [self.start(scene, "--out", self.out, "--json", "--set",
                                'record.every="1 ms"') for _ in range(6)]
        statuses = []
        for process in processes:
            output, complaint = process.communicate(timeout=200)
            statuses.append(process.returncode)
            if process.returncode == FINE:
                self.assertEqual(json.loads(output)["status"], "finished")
            else:
                self.assertEqual(process.returncode, CANNOT_GO_ON, complaint)
                self.assertIn("is being written by process", complaint)
        self.assertIn(FINE, statuses)
        self.ended(call("export", self.out, "--csv"), FINE)

    def test_a_link_as_the_log(self):
        precious = self.write("precious", "precious")
        self.out.mkdir()
        names = ("recording.log", "recording.h5", "recording.h5.part", "report.html",
                 "report.html.part", "run.png", "run.png.part", "run.svg", "run.svg.part", "run.lock")
        for name in names:
            (self.out / name).symlink_to(precious)
        result = call("run", self.write(SCENE), "--out", self.out)
        self.assertEqual(precious.read_text(), "precious")
        self.ended(result, FINE)
        self.ended(call("export", self.out, "--csv"), FINE)

    def test_links_where_exports_go(self):
        self.accepted(SCENE)
        precious = self.write("precious", "precious")
        out = self.folder / "export"
        out.mkdir()
        for name in ("bodies.csv", "recording.glb", "recording.pvd", "report.html"):
            (out / name).symlink_to(precious)
        self.ended(call("export", self.out, "--csv", "--vtk", "--gltf", "--html", "--out", out), FINE)
        self.assertEqual(precious.read_text(), "precious")

    def test_a_scene_named_by_dots(self):
        for name in ("...toml", "..toml"):
            self.write(SCENE, name)
            self.ended(call("run", name, cwd=self.folder), BAD_INPUT, "--out")
        self.assertFalse((self.folder / "recording.h5").exists())
        self.assertFalse((self.folder / "out" / "recording.h5").exists())

    def test_an_output_folder_that_cannot_be(self):
        file = self.write("", "file")
        scene = self.write(SCENE)
        for out in (file, file / "below", "/proc/nothing", "x" * 300):
            result = call("run", scene, "--out", out, cwd=self.folder)
            self.assertIn(result.returncode, (BAD_INPUT, CANNOT_GO_ON))
            self.assertIn(str(out), result.stderr)


class Recordings(Case):
    """Damage is noticed, wherever it is."""

    def setUp(self):
        super().setUp()
        self.accepted(SCENE)
        self.file = self.out / "recording.h5"
        self.good = self.file.read_bytes()

    def test_one_bit_flipped(self):
        count = len(self.good)
        head = list(range(0, 4096, 97)) + list(range(4096, count, count // 40))
        for at in head:
            bad = bytearray(self.good)
            bad[at] ^= 1 << (at % 8)
            self.file.write_bytes(bad)
            result = call("export", self.out, "--csv", "--out", self.folder / "csv")
            self.assertEqual(result.returncode, BAD_INPUT, f"byte {at}: {result.stderr}")
            self.assertIn("recording.h5", result.stderr)

    def test_cut_short(self):
        for length in (0, 1, 100, 511, 512, 513, 2048, len(self.good) // 2, len(self.good) - 1):
            self.file.write_bytes(self.good[:length])
            self.ended(call("export", self.out, "--csv"), BAD_INPUT, "recording.h5")

    def test_a_log_whose_writer_was_killed_at_once(self):
        begun = self.folder / "begun"
        begun.mkdir()
        for start in (b"", b"B"):
            (begun / "recording.log").write_bytes(start)
            for arguments in (("export", begun, "--csv"), ("run", "--resume", begun)):
                self.ended(call(*arguments), BAD_INPUT, "recording.log", "nothing was recorded")
        (begun / "recording.log").write_bytes(b"other")
        self.ended(call("export", begun, "--csv"), BAD_INPUT, "is not a log")

    def test_from_another_program(self):
        """Without our checksum, as other programs write it: read where it can be."""
        self.file.write_bytes(self.good[512:])
        result = call("export", self.out, "--csv")
        self.assertIn(result.returncode, (FINE, BAD_INPUT), result.stderr)
        for at in range(8, 4096, 61):
            bad = bytearray(self.good[512:])
            bad[at] ^= 1 << (at % 8)
            self.file.write_bytes(bad)
            result = call("export", self.out, "--csv", "--out", self.folder / "csv")
            self.assertIn(result.returncode, (FINE, BAD_INPUT), f"byte {at}: {result.stderr}")


class Words(Case):
    """What is documented is so, and messages mean what they say."""

    def test_mass_zero(self):
        self.refused(SCENE.replace("mass_kg = 1", "mass_kg = 0"), "mass_kg = 0", "above 0")
        point = SCENE.replace("mass_kg = 1", "mass_kg = -1").replace("radius_m = 0.1", "radius_m = 0")
        self.assertNotIn("missing", self.refused(point, "mass_kg = -1", "above 0"))
        schema = json.loads(call("scene", "schema").stdout)
        body = schema["properties"]["bodies"]["items"]["properties"]
        self.assertEqual(body["mass_kg"].get("exclusiveMinimum"), 0)
        shape = body["shapes"]["items"]["properties"]
        self.assertEqual(shape["radius_m"].get("minimum"), 0)
        self.assertGreater(shape["length_m"].get("minimum"), 0)

    def test_radius_zero(self):
        """A point, as documented."""
        point = SCENE.replace("radius_m = 0.1", "radius_m = 0")
        message = self.refused(point, "inertia")
        for word in ("nan", "inf "):
            self.assertNotIn(word, message)
        steel = '[[contacts]]\nmaterials = ["steel", "steel"]\n'
        heavy = point.replace("mass_kg = 1", "mass_kg = 1\ninertia_kg_m2 = [1, 1, 1]")
        self.refused(heavy + steel, "radius_m")
        self.accepted(heavy, "--set", "clock.duration_s=0.5")
        self.accepted(heavy + steel + "radius_m = 0.1\n")

    def test_whole_numbers_that_no_double_is(self):
        large = 2 ** 53 + 1
        for value in (large, 2 ** 63 - 1, -large):
            self.refused(SCENE + f"[[contacts]]\nfriction = {value}\n", f"friction = {value}", "[0, 10]")
            self.refused(SCENE + f'[[contacts]]\nnormal = {{law = "hertz", stiffness = {value}}}\n', "stiffness")
        self.accepted(CLOCK + BALL.replace("mass_kg = 1", f"mass_kg = {large}"))

    def test_a_number_too_large(self):
        for text in (SCENE.replace("mass_kg = 1", "mass_kg = 1e301"),
                     SCENE.replace("0.2]", "1e301]")):
            message = self.refused(text, "e+301")
            self.assertNotIn("must be at least", message)
            self.assertNotIn("must be above", message)
            self.assertIn("at most", message)
        self.refused(SCENE.replace("mass_kg = 1", "mass_kg = inf"), "finite")

    def test_keys_of_complementarity(self):
        """A wrong value is said with its line, its key, itself, and what may stand there."""
        number = lambda key, line: [(line, f"{key} = {value}", word) for value, word in
                                    (("-1", "in ["), ("1e7", "in ["), ("nan", "finite"), ("inf", "finite"),
                                     ("true", "a number"), ('"x"', "a number"), ("[1]", "a number"))]
        choice = lambda key, one: [(2, f'{key} = "x"', one), (2, f"{key} = 3", "text"), (2, f"{key} = []", "text")]
        wrong = (choice("cone", "isotropic, box") + choice("bounds", "coupled, iterated, lagged") +
                 choice("solver", "pivoting, gauss-seidel") + number("tolerance", 2) +
                 number("iterations", 2) + number("relinearisations", 2) +
                 [(2, "tolerance = 0", "[1e-14, 0.1]"), (2, "iterations = 0", "[1, 1e+06]"),
                  (2, "relinearisations = 1001", "[0, 1000]"), (2, "strict = 1", "true or false")])
        for line, text, allowed in wrong:
            shown = text.replace('"', "'") if '"x"' in text else text.replace("1e7", "10000000")
            self.refused(RIGID.replace("[clock]", f"[clock]\n{text}"), f"scene.toml:{line}: clock: {shown}", allowed)
        at = RIGID[:RIGID.index('normal = "rigid"')].count("\n") + 1
        for text, *words in (('normal = "ridgid"', 'did you mean "rigid"?'),
                             ('normal = {law = "rigid"}', 'write normal = "rigid"'),
                             ("normal = 3", "normal = 3", '"rigid"'),
                             ('restitution = 1.1\nnormal = "rigid"', "restitution = 1.1", "[0, 1]"),
                             ('restitution = -1\nnormal = "rigid"', "restitution = -1", "[0, 1]"),
                             ('restitution = nan\nnormal = "rigid"', "restitution = nan", "finite"),
                             ('stiffness = 1\nnormal = "rigid"', "stiffness", '"rigid"')):
            self.refused(RIGID.replace('normal = "rigid"', text), f"scene.toml:{at}: contact 1: ", *words)
        self.refused(SCENE + "[[contacts]]\nrestitution = 0\n", "restitution = 0", "[0.001, 1]")
        for clock, method in (("adaptive", ""), ("fixed", '\nmethod = "rk4"')):
            self.refused(RIGID.replace('"complementarity"', f'"{clock}"{method}'), "scene.toml:", '"rigid"', clock)
        self.accepted(RIGID.replace('normal = "rigid"', 'normal = "rigid"\nrestitution = 0'))

    def test_keys_of_constraints(self):
        at = RIGID.count("\n") + 1
        for text, *words in (("direction = [0, 0, 0]", "direction = [0, 0, 0]", "zero"),
                             ("direction = [1, 2]", "direction = [1, 2]", "3 numbers"),
                             ("direction = [nan, 0, 0]", "direction = nan", "finite"),
                             ("point_m = [1e31, 0, 0]", "point_m = 1e+31", "at most"),
                             ("normal = [0, 0, 1]", "normal = [0, 0, 1]", "rolling"),
                             ("radius_m = 0.1", "radius_m = 0.1 ", "rolling"),
                             ("damping_N_s_m = 0", "damping_N_s_m = 0", "above 0"),
                             ("directions = 1", "unknown key directions", "direction"),
                             ('a = "bal"', 'a = "bal"', 'did you mean "ball"?')):
            self.refused(RIGID + text + "\n", f'scene.toml:{at}: constraint "blade": ', *words)
        for old, new, *words in (('"skate"', '"skat"', "skate, rolling, velocity"), ('"skate"', '"rolling"', "radius_m"),
                                 ('"skate"', '"velocity"', "direction"), ('b = "ball"', 'b = "floor"', "world")):
            self.refused(RIGID.replace(old, new), 'constraint "blade": ', *words)
        for text in ('[[loads]]\nname = "l"\nforce_N = [1, 0, 0]\nbody = "floor"\n',):
            self.refused(SCENE + text, 'body = "floor"', "part of the world")

    def test_constraint_against_a_fixed_body(self):
        """The direction is that body's: the same motion as along the world's, turned."""
        probe = '[[probes]]\nname = "p"\nkind = "velocity"\nbody = "ball"\ncomponent = "x"\n'
        text = RIGID.replace('"skate"', '"velocity"').replace("position_m = [0, 0, 0.2]", "position_m = [0, 0, 0.2]\n"
                             "velocity_m_s = [1, 0, 0]") + 'direction = [0, 1, 0]\n'
        turned = text.replace("fixed = true", "fixed = true\nrotation_deg = [0, 0, 90]").replace(
            'b = "ball"', 'a = "floor"\nb = "ball"')
        free, _ = self.accepted(text + probe)
        held, _ = self.accepted(turned + probe)
        self.assertAlmostEqual(free["probes"]["p"]["last"], 1, delta=1e-12)
        self.assertAlmostEqual(held["probes"]["p"]["last"], 0, delta=1e-12)

    def test_probe_of_a_fixed_body(self):
        wall = FLOOR.replace("floor", "wall").replace(
            '"plane"', '"plane"\nposition_m = [9, 0, 0]\nrotation_deg = [0, -90, 0]')
        probe = '[[probes]]\nname = "{0}"\nkind = "contact_force"\na = "ball"\nb = "{0}"\n'
        text = (CLOCK.replace("0.01", "2") + FLOOR + BALL.replace("0.2]", "0.1]") + wall +
                probe.format("floor") + probe.format("wall"))
        point = '[[probes]]\nname = "p"\nkind = "point"\nbody = "floor"\n'
        message = self.refused(SCENE + point, "floor", "fixed")
        self.assertNotIn("no such body", message)
        summary, _ = self.accepted(text)
        self.assertAlmostEqual(summary["probes"]["floor"]["last"], 9.81, delta=1e-3)
        self.assertEqual(summary["probes"]["wall"]["largest"], 0)

    def test_deadlines_only_in_real_time(self):
        fixed = self.write(SCENE.replace("duration_s", 'kind = "fixed"\nduration_s'))
        self.assertNotIn("deadline", call("run", fixed, "--out", self.out).stdout)
        self.assertIn("deadline", call("run", fixed, "--out", self.out, "--realtime").stdout)

    def test_the_hint_to_go_on_only_where_that_can_be(self):
        for arguments, possible in ((("--no-recording",), False), (("--out", self.out), True)):
            process = self.start(SCENES / "ball-in-cylinder.toml", "--set", "clock.duration_s=300",
                                 *arguments)
            time.sleep(0.7)
            process.send_signal(signal.SIGINT)
            output, _ = process.communicate(timeout=200)
            self.assertEqual(process.returncode, INTERRUPTED)
            self.assertEqual("--resume" in output, possible)

    def test_no_progress_of_a_run_that_is_over_at_once(self):
        result = call("run", self.write(SCENE), "--out", self.out)
        self.assertEqual(result.stderr, "")

    def test_names_with_escape_codes(self):
        name = '"ball\\u001b[31m\\u0007"'
        text = "title = \"a\\u001b[2J\"\nabout = \"\\u001b[0m\"\n" + SCENE.replace('"ball"', name)
        for command in ("show", "check"):
            result = call("scene", command, self.write(text))
            self.ended(result, FINE)
            self.assertNotIn("\x1b", result.stdout + result.stderr)
            self.assertNotIn("\x07", result.stdout + result.stderr)
        result = call("run", self.write(text), "--out", self.out)
        self.assertNotIn("\x1b", result.stdout + result.stderr)
        bad = call("scene", "check", self.write(text.replace("mass_kg = 1", "mass_kg = -1")))
        self.ended(bad, BAD_INPUT, "ball")
        self.assertNotIn("\x1b", bad.stderr)

    def test_exit_status_is_documented(self):
        text = call("run", "--help").stdout + call("--help").stdout
        for status in ("0 ", "1 ", "2 ", "3 ", "130 "):
            self.assertIn(status, text)
        page = (SCENES.parent / "docs" / "exit-status.md").read_text()
        for status in (0, 1, 2, 3, 130):
            self.assertIn(f"| {status} |", page)


if __name__ == "__main__":
    PROGRAM, SCENES = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
