"""Runs that are killed at any instant go on to the same bits: also while they export or resume.

usage: kill_test.py PROGRAM SCENES

Ten kills; 200 with BRISTLE_SOAK=1.
"""

import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM, SCENES = "", pathlib.Path()
KILLS = 200 if os.environ.get("BRISTLE_SOAK") == "1" else 10
FINE, BAD_INPUT = 0, 2

# Scenes under each clock, with as many checkpoints as make a kill hit between them.
RUNS = (
    ("dominoes", ("--set", "clock.substeps=4", "--set", "clock.duration_s=0.6", "--checkpoint", "0.02")),
    ("arm", ("--set", "clock.duration_s=4", "--checkpoint", "0.1")),
    ("tippe-top", ("--set", "clock.duration_s=0.6", "--checkpoint", "0.05")),
    ("ball-in-cylinder", ("--set", "clock.duration_s=2", "--checkpoint", "0.1")),
    ("skate", ("--checkpoint", "0.1")),
    ("card-house", ("--set", "clock.duration_s=0.5", "--checkpoint", "0.02")),
    ("quadruped", ("--set", "clock.kind=complementarity", "--set", "clock.duration_s=1", "--checkpoint", "0.05")),
)


def command(*arguments):
    return [PROGRAM, *map(str, arguments)]


def call(*arguments):
    return subprocess.run(command(*arguments), capture_output=True, text=True, timeout=600)


class Kills(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def tables(self, run, out):
        done = call("export", run, "--csv", "--out", out)
        self.assertEqual(done.returncode, FINE, done.stderr)
        return {file.name: file.read_bytes() for file in sorted(out.glob("*.csv"))}

    def killed(self, seconds, *arguments):
        """Whether the command was still alive after that time, and was killed then."""
        process = subprocess.Popen(command(*arguments), stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE)
        try:
            process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return True
        complaint = process.communicate()[1]
        self.assertEqual(process.returncode, FINE, complaint)
        return False

    def test_all_resumes_are_bit_identical(self):
        chance, counts = random.Random(20040701), {"run": 0, "resume": 0, "export": 0}
        whole, length = {}, {}
        for name, arguments in RUNS:
            out = self.folder / f"{name}-whole"
            begin = time.monotonic()
            done = call("run", SCENES / f"{name}.toml", *arguments, "--out", out)
            length[name] = time.monotonic() - begin
            self.assertEqual(done.returncode, FINE, done.stderr)
            whole[name] = self.tables(out, self.folder / f"{name}-tables")
        number = 0
        while sum(counts.values()) < KILLS or number < len(RUNS):
            name, arguments = RUNS[number % len(RUNS)]
            number += 1
            out = self.folder / f"{name}-{number}"
            begin = ("run", SCENES / f"{name}.toml", *arguments, "--out", out)
            what = "run"
            for _ in range(3):  # the run, and what resumes it
                if not self.killed(length[name] * chance.uniform(0, 1.1), *begin):
                    break
                counts[what] += 1
                # Whatever is there can be read, also while something reads it and is killed.
                if (out / "recording.log").exists() or (out / "recording.h5").exists():
                    export = ("export", out, "--csv", "--out", self.folder / "partial")
                    counts["export"] += self.killed_export(chance.uniform(0, 0.1), *export)
                    read = call(*export)
                    self.assertIn(read.returncode, (FINE, BAD_INPUT), read.stderr)
                    begin, what = ("run", "--resume", out), "resume"
                    if read.returncode == BAD_INPUT:  # killed before its header was written
                        self.assertIn("nothing was recorded", read.stderr)
                        begin, what = ("run", SCENES / f"{name}.toml", *arguments, "--out", out), "run"
            done = call(*begin)
            self.assertEqual(done.returncode, FINE, f"{name}: {done.stderr}")
            self.assertEqual(self.tables(out, self.folder / "tables"), whole[name], name)
            left = [file.name for file in out.iterdir() if file.name.endswith((".part", ".lock"))]
            self.assertEqual(left, [], name)
        print(f"{counts['run']} runs, {counts['resume']} resumes and {counts['export']} exports "
              f"were killed, in {number} sequences: all bit-identical", file=sys.stderr)

    def killed_export(self, seconds, *arguments):
        process = subprocess.Popen(command(*arguments), stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        try:
            process.wait(timeout=seconds)
            return 0
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return 1


if __name__ == "__main__":
    PROGRAM, SCENES = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
