#!/usr/bin/env python3
"""Builds same_bits.cpp and the engine's tree code at -O0 and at -O3 and compares what they print.

    same_bits.py ROOT OUTPUT_FOLDER COMPILER OPTION...
"""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def main():
    root, output, command = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]
    output.mkdir(parents=True, exist_ok=True)
    sources = [root / "tests/dynamics/same_bits.cpp", root / "engine/dynamics/dynamics.cpp",
               root / "engine/model/tree.cpp"]

    def build_and_run(level):
        program = output / f"same_bits{level}"
        subprocess.run([*command, level, f"-I{root}", *sources, "-o", program], check=True)
        return subprocess.run([program], check=True, capture_output=True, text=True).stdout.strip()

    levels = ["-O0", "-O3"]
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(build_and_run, levels))
    for level, text in zip(levels, found):
        print(level, text)
    return 0 if len(set(found)) == 1 else 1


if __name__ == "__main__":
    sys.exit(main())
