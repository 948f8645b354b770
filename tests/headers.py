#!/usr/bin/env python3
"""Compiles every header of the engine on its own: each one includes all it needs.

    headers.py ENGINE_FOLDER COMPILER OPTION...
"""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def main():
    engine = Path(sys.argv[1])
    command = sys.argv[2:] + ["-fsyntax-only", "-x", "c++", "-"]
    headers = sorted(path.relative_to(engine) for path in engine.rglob("*.hpp"))

    def compile_alone(header):
        # Twice, so that a header without a guard is caught as well.
        text = f'#include "bristle/{header}"\n' * 2
        return subprocess.run(command, input=text, text=True, capture_output=True)

    failures = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for header, result in zip(headers, pool.map(compile_alone, headers)):
            if result.returncode != 0:
                failures += 1
                print(f"engine/{header} does not compile on its own:\n{result.stderr}")
    print(f"{len(headers)} headers, {failures} failures")
    return 1 if failures or not headers else 0


if __name__ == "__main__":
    sys.exit(main())
