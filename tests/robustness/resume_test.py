"""Every scene under the complementarity stepper goes on from a checkpoint to the same bits.

usage: resume_test.py PROGRAM SCENES
"""

import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import unittest

PROGRAM, SCENES = "", pathlib.Path()
DURATION, CHECKPOINT = 0.2, 0.02  # s
FINE, CANNOT_GO_ON = 0, 3
LARGEST = 1 << 24  # bytes of a recording


def call(*arguments, **options):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True,
                          timeout=600, **options)


class Resume(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def run_of(self, scene, out, limit=None):
        def bound():
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        return call("run", scene, "--set", "clock.kind=complementarity", "--set",
                    f"clock.duration_s={DURATION}", "--checkpoint", CHECKPOINT, "--json", "--out", out,
                    preexec_fn=bound if limit else None)

    def cut(self, scene):
        """A folder of a run that ended half-way for want of room, after some checkpoints."""
        most = LARGEST
        while most > 4096:  # the largest power of two that is too small for the whole
            most //= 2
            out = self.folder / f"{scene.stem}-{most}"
            done = self.run_of(scene, out, most)
            if done.returncode == FINE:
                continue
            self.assertEqual(done.returncode, CANNOT_GO_ON, done.stderr)
            reached = json.loads(done.stdout)["simulated_s"]
            if CHECKPOINT < reached < DURATION:
                return out
        self.fail(f"{scene.stem}: no limit cut the run")

    def tables(self, run):
        out = self.folder / f"{run.name}-tables"
        done = call("export", run, "--csv", "--out", out)
        self.assertEqual(done.returncode, FINE, done.stderr)
        return {file.name: file.read_bytes() for file in sorted(out.glob("*.csv"))}

    def test_every_scene_goes_on_to_the_same_bits(self):
        scenes = sorted(SCENES.glob("*.toml"))
        self.assertGreater(len(scenes), 15)
        for scene in scenes:
            with self.subTest(scene=scene.stem):
                whole = self.folder / scene.stem
                done = self.run_of(scene, whole)
                self.assertEqual(done.returncode, FINE, done.stderr)
                resumed = self.cut(scene)
                done = call("run", "--resume", resumed)
                self.assertEqual(done.returncode, FINE, done.stderr)
                self.assertEqual(self.tables(resumed), self.tables(whole))


if __name__ == "__main__":
    PROGRAM, SCENES = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
