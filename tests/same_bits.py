#!/usr/bin/env python3
"""Builds the engine at -O0, links it with each program, and compares what the program prints
with what it prints at -O3 with the library as it was built.

    same_bits.py ROOT OUTPUT_FOLDER LIBRARY COMPILER OPTION... -- PROGRAM.cpp...
"""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def main():
    root, output, library = map(Path, sys.argv[1:4])
    split = sys.argv.index("--")
    command, programs = sys.argv[4:split], [Path(p) for p in sys.argv[split + 1:]]
    output.mkdir(parents=True, exist_ok=True)
    pool = ThreadPoolExecutor(2)

    def compile_plain(source):
        target = output / (source.relative_to(root).as_posix().replace("/", "_") + ".o")
        subprocess.run([*command, "-O0", f"-I{root}", "-c", source, "-o", target], check=True)
        return target

    objects = list(pool.map(compile_plain, sorted((root / "engine").rglob("*.cpp"))))

    def build_and_run(job):
        program, level, rest = job
        target = output / f"{program.parent.name}{level}"
        subprocess.run([*command, level, f"-I{root}", program, *rest, "-pthread", "-o", target],
                       check=True)
        return subprocess.run([target], check=True, capture_output=True, text=True).stdout.strip()

    jobs = [(p, level, rest) for p in programs
            for level, rest in (("-O0", objects), ("-O3", [library]))]
    found = list(pool.map(build_and_run, jobs))
    for (program, level, _), text in zip(jobs, found):
        print(program.parent.name, level, text)
    return 0 if all(found[i] == found[i + 1] for i in range(0, len(found), 2)) else 1


if __name__ == "__main__":
    sys.exit(main())
