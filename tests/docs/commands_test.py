#!/usr/bin/env python3
"""Runs what the documentation tells people to type.

usage: commands_test.py TEST BRISTLE PROJECT COMPILER INCLUDE LIBRARY

Every line `bristle …` in a shell block of README.md, CONTRIBUTING.md and docs/ must succeed, next to the
folder scenes/ and the files that the pages show; every whole scene must run, and every whole C++ program must
compile and run. A block whose first line is a comment with nothing but a file name is that file.
"""

import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

TEST, BRISTLE, PROJECT, COMPILER, INCLUDE, LIBRARY = sys.argv[1:7]
OPTIONS = sys.argv[7:]
PAGES = [pathlib.Path(PROJECT) / "README.md", pathlib.Path(PROJECT) / "CONTRIBUTING.md",
         *sorted((pathlib.Path(PROJECT) / "docs").rglob("*.md"))]


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.S | re.M)


def named_files():
    """The files that pages tell people to save, by name."""
    files = {}
    for page in PAGES:
        for language in ("toml", "xml", "csv"):
            for block in blocks(page, language):
                first = block.splitlines()[0] if block else ""
                if name := re.fullmatch(r"(?:# |<!-- )([\w-]+\.\w+)(?: -->)?", first):
                    text = block if language != "csv" else block.split("\n", 1)[1]
                    assert files.setdefault(name[1], text) == text, f"two files are called {name[1]}"
    return files


def save_named_files(folder):
    for name, text in named_files().items():
        (pathlib.Path(folder) / name).write_text(text)


class Documentation(unittest.TestCase):
    def test_shell_lines_run(self):
        lines = []
        for page in PAGES:
            for block in blocks(page, "sh"):
                lines += [(page.name, line) for line in block.splitlines()
                          if line.startswith("bristle ")]
            # inline: `bristle …` on one line, without placeholders, and not the bare name of a command
            lines += [(page.name, line) for line in re.findall(r"`(bristle [a-z][^`\n]*)`",
                                                               page.read_text())
                      if not re.search(r"[A-Z]{2}|…|\||soft-wall", line)
                      and not re.fullmatch(r"bristle [a-z]+( [a-z]+)?", line)]
        self.assertGreater(len(lines), 8)
        with tempfile.TemporaryDirectory() as scratch:
            (pathlib.Path(scratch) / "scenes").symlink_to(pathlib.Path(PROJECT) / "scenes")
            save_named_files(scratch)
            for line, page in {line: page for page, line in lines}.items():
                words = shlex.split(line, comments=True)[1:]
                done = subprocess.run([BRISTLE, *words], cwd=scratch, capture_output=True,
                                      text=True)
                self.assertEqual(done.returncode, 0, f"{page}: {line}\n{done.stderr}")

    def test_scenes_run(self):
        scenes = [b for page in PAGES for b in blocks(page, "toml") if "[[bodies]]" in b]
        self.assertGreater(len(scenes), 0)
        with tempfile.TemporaryDirectory() as scratch:
            save_named_files(scratch)
            for scene in scenes:
                file = pathlib.Path(scratch) / "scene.toml"
                file.write_text(scene)
                done = subprocess.run([BRISTLE, "run", file, "--no-recording", "--json"],
                                      capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, f"{scene}\n{done.stderr}")

    def test_programs_compile_and_run(self):
        programs = [b for page in PAGES for b in blocks(page, "cpp") if "int main" in b]
        self.assertGreater(len(programs), 1)
        with tempfile.TemporaryDirectory() as scratch:
            for program in programs:
                source = pathlib.Path(scratch) / "main.cpp"
                source.write_text(program)
                binary = pathlib.Path(scratch) / "main"
                subprocess.run([COMPILER, "-std=c++20", "-Wall", "-Wextra", "-Werror",
                                "-ffp-contract=off", *OPTIONS, f"-I{INCLUDE}", source, LIBRARY,
                                "-pthread", "-o", binary],
                               check=True)
                subprocess.run([binary], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], f"Documentation.test_{TEST}"])
