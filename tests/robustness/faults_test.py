"""Every system call and every allocation of a short run, an export and a resume fails once.

Whatever fails: never status 0 with something missing, never an end by a signal; what had been flushed
stays readable; and what is repeated or resumed afterwards gives the same bits as if nothing had failed.

usage: faults_test.py PROGRAM FAILING_MALLOC [CLASS...]

A sample of the faults; all of them with BRISTLE_SOAK=1, which takes an hour, or every n-th with
BRISTLE_STRIDE=n.
"""

import collections
import json
import os
import pathlib
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM, FAILING_MALLOC = "", ""
SOAK = os.environ.get("BRISTLE_SOAK") == "1"
STRIDE = int(os.environ.get("BRISTLE_STRIDE", "1")) if SOAK else 1
FINE, BAD_INPUT, CANNOT_GO_ON = 0, 2, 3
LOADER = 127  # the program could not even be loaded

SCENE = """[clock]
duration_s = 0.3
[record]
every = "10 ms"
checkpoint_s = 0.1
[[bodies]]
name = "floor"
fixed = true
[[bodies.shapes]]
type = "plane"
[[bodies]]
name = "ball"
mass_kg = 1
position_m = [0, 0, 0.15]
[[bodies.shapes]]
type = "sphere"
radius_m = 0.1
[[probes]]
name = "height"
kind = "point"
body = "ball"
component = "z"
"""

# Calls that write, and calls that everything depends on; the rest in a soak.
WRITING = ("write", "pwrite64", "rename", "ftruncate", "fsync", "fdatasync", "unlink", "unlinkat",
           "mkdir", "flock", "lseek")
# brk returns where the heap ends, and never an error.
ERRORS = {"write": "error=ENOSPC", "pwrite64": "error=ENOSPC", "openat": "error=EACCES",
          "rename": "error=EACCES", "mmap": "error=ENOMEM", "brk": "retval=0", "flock": "error=ENOLCK",
          "mkdir": "error=EACCES"}
# Their failure means nothing, or cannot be.
HARMLESS = {"execve", "exit_group", "rt_sigreturn", "arch_prctl", "futex"}


def call(*arguments, **options):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True,
                          timeout=600, **options)


def tables(folder):
    return {file.name: file.read_bytes() for file in sorted(folder.glob("*.csv"))}


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.home = pathlib.Path(scratch.name)
        cls.scene = cls.home / "scene.toml"
        cls.scene.write_text(SCENE)
        cls.good = cls.home / "good"
        done = call("run", cls.scene, "--csv", "--json", "--out", cls.good)
        assert done.returncode == FINE, done.stderr
        cls.names = sorted(file.name for file in cls.good.iterdir())
        cls.reference = tables(cls.good / "csv")
        assert len(cls.reference) >= 4
        # A run that was cut off: its log is there, with a checkpoint.
        cls.cut = cls.home / "cut"
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (16000, 16000))
        done = call("run", cls.scene, "--out", cls.cut, preexec_fn=limit)
        assert done.returncode == CANNOT_GO_ON, done.stderr
        for file in cls.cut.iterdir():
            if file.name != "recording.log":
                file.unlink()
        resumed = cls.home / "resumed"
        shutil.copytree(cls.cut, resumed)
        done = call("run", "--resume", resumed, "--csv")
        assert done.returncode == FINE and tables(resumed / "csv") == cls.reference, done.stderr
        cls.whole = {"run": cls.good, "resume": resumed}

    def scenarios(self, number):
        """Commands with what must be there after them: (name, folder, command, check)."""
        out = self.home / f"out-{number}"
        yield "run", out, ("run", self.scene, "--csv", "--json", "--out", out), self.check_run
        yield "resume", out, ("run", "--resume", out, "--csv", "--json"), self.check_run
        yield "export", out, ("export", self.good, "--csv", "--gltf", "--html", "--vtk", "--out", out
                              ), self.check_export

    def prepare(self, name, out):
        shutil.rmtree(out, ignore_errors=True)
        if name == "resume":
            shutil.copytree(self.cut, out)

    def check_run(self, out, result, what):
        if result.returncode == FINE:
            there = {file.name for file in out.iterdir()}
            if "unlinkat" in what:  # a lock that nobody holds disturbs nobody
                there.discard("run.lock")
            self.assertEqual(sorted(there), self.names, what)
            self.assertEqual(tables(out / "csv"), self.reference, what)
            self.assertEqual(json.loads(result.stdout)["status"], "finished", what)
            for name in ("run.png", "run.svg"):
                same = (out / name).read_bytes() == (self.whole[what[:what.index(":")]] / name).read_bytes()
                self.assertTrue(same, f"{what}: another {name}")
            self.assertTrue((out / "report.html").read_text().rstrip().endswith("</html>"), what)
        # What was flushed can be read, and goes on to the same bits.
        log = out / "recording.log"
        if (out / "recording.h5").exists() or log.exists():
            read = call("export", out, "--csv", "--out", self.home / "read")
            began = (out / "recording.h5").exists() or log.stat().st_size > 3000
            self.assertIn(read.returncode, (FINE,) if began else (FINE, BAD_INPUT, CANNOT_GO_ON),
                          what + read.stderr)
        again = call("run", "--resume", out, "--csv") if log.exists() and log.stat().st_size > 3000 \
            else call("run", self.scene, "--csv", "--out", out)
        self.assertEqual(again.returncode, FINE, what + again.stderr)
        exported = call("export", out, "--csv", "--out", self.home / "read")
        self.assertEqual(exported.returncode, FINE, what + exported.stderr)
        self.assertEqual(tables(self.home / "read"), self.reference, what)

    def check_export(self, out, result, what):
        if result.returncode == FINE:
            self.assertEqual(tables(out), self.reference, what)
            for name in ("recording.glb", "report.html", "recording.pvd"):
                self.assertIn(str(out / name), result.stdout, what)
                self.assertGreater((out / name).stat().st_size, 500, what)
            # Of the log and of the HDF5 file, and every frame of the collection.
            frames = (out / "recording.pvd").read_text().count("<DataSet")
            self.assertEqual(len(list((out / "frames").glob("*.vtp"))), frames, what)
        again = call("export", self.good, "--csv", "--out", out)
        self.assertEqual(again.returncode, FINE, what + again.stderr)
        self.assertEqual(tables(out), self.reference, what)

    def check_end(self, result, what):
        self.assertGreaterEqual(result.returncode, 0, f"{what}: a signal; {result.stderr}")
        self.assertLess(result.returncode, 128, f"{what}: {result.stderr}")

    def report(self, counts):
        print("; ".join(f"{name}: {sum(c.values())} faults, "
                        + ", ".join(f"{n} × status {s}" for s, n in sorted(c.items()))
                        for name, c in counts.items()), file=sys.stderr)


@unittest.skipUnless(shutil.which("strace"), "strace is not there")
class SystemCalls(Case):
    def calls_of(self, command):
        """How often each system call is made, by its name, and how often before the program comes to a
        file of its own. strace counts them by process."""
        log = self.home / "strace.log"
        subprocess.run(["strace", "-f", "-qq", "-o", log, PROGRAM, *map(str, command)],
                       capture_output=True, timeout=600)
        lines = [line for line in log.read_text(errors="replace").splitlines()
                 if "(" in line and "resumed" not in line and "---" not in line]
        each = collections.Counter(tuple(line.split("(", 1)[0].split()) for line in lines)
        most = collections.Counter()
        for (_, name), times in each.items():  # of the process that makes it most often
            most[name] = max(most[name], times)
        own = next(i for i, line in enumerate(lines) if str(self.home) in line and "execve" not in line)
        return most, collections.Counter(line.split("(", 1)[0].split()[1] for line in lines[:own])

    def test_each_fails_once(self):
        chance, counts = random.Random(19911), {}
        for name, out, command, check in self.scenarios("calls"):
            self.prepare(name, out)
            made, _ = self.calls_of(command)
            writing_first = sorted(made.items(), key=lambda item: (item[0] not in WRITING, item))
            faults = [(call_name, k) for call_name, times in writing_first
                      if call_name not in HARMLESS and (SOAK or call_name in WRITING)
                      for k in range(1, times + 1)][::STRIDE]
            if not SOAK:
                faults += [("openat", k) for k in range(made["openat"] - 40, made["openat"] + 1)]
                faults = chance.sample(faults, min(len(faults), 10))
            counts[name] = collections.Counter()
            for call_name, k in faults:
                error = ERRORS.get(call_name, "error=EIO")
                what = f"{name}: {call_name} number {k} fails with {error}\n"
                self.prepare(name, out)
                with self.subTest(what):
                    result = subprocess.run(
                        ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call_name}", "-e",
                         f"inject={call_name}:{error}:when={k}", PROGRAM, *map(str, command)],
                        capture_output=True, text=True, errors="replace", timeout=600)
                    counts[name][result.returncode] += 1
                    self.check_end(result, what)
                    check(out, result, what)
        self.report(counts)

    def test_every_close_fails(self):
        """And leaves the file open, as strace does it: nobody waits for the end of a pipe."""
        for name, out, command, check in self.scenarios("closes"):
            self.prepare(name, out)
            _, early = self.calls_of(command)
            self.prepare(name, out)
            result = subprocess.run(
                ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=close", "-e",
                 f"inject=close:error=EIO:when={early['close'] + 1}+", PROGRAM, *map(str, command)],
                capture_output=True, text=True, errors="replace", timeout=100)
            self.check_end(result, name)
            check(out, result, f"{name}: every close fails\n")


class Allocations(Case):
    def test_each_fails_once(self):
        chance, counts = random.Random(19912), {}
        for name, out, command, check in self.scenarios("allocations"):
            environment = dict(os.environ, LD_PRELOAD=FAILING_MALLOC,
                               BRISTLE_COUNT_TO=str(self.home / "count"))
            self.prepare(name, out)
            call(*command, env=environment)
            total = int((self.home / "count").read_text())
            del environment["BRISTLE_COUNT_TO"]
            faults = range(1, total + 1)
            faults = faults[::STRIDE] if SOAK else sorted(chance.sample(faults, 8))
            counts[name] = collections.Counter()
            for k in faults:
                what = f"{name}: allocation {k} of {total} fails\n"
                self.prepare(name, out)
                with self.subTest(what):
                    result = call(*command, env=dict(environment, BRISTLE_FAIL_AT=str(k)))
                    counts[name][result.returncode] += 1
                    self.check_end(result, what)
                    check(out, result, what)
        self.report(counts)


if __name__ == "__main__":
    PROGRAM, FAILING_MALLOC = map(os.path.abspath, sys.argv[1:3])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
