#!/usr/bin/env python3
"""Compiles the laws for another kind of machine.

    compile.py device_code|wasm INCLUDE_FOLDER OUTPUT_FOLDER

Exit status 77, which ctest reports as skipped, when the compiler is not at hand.
"""

import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
SKIPPED = 77
WASM_HEADERS = Path("/usr/include/wasm32-wasi")


def device_code(include, output):
    nvcc = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
    if not nvcc:
        return None, "nvcc was not found"
    # A call from device code into host-only code is a warning by default; here it is an error.
    return [nvcc, "-std=c++20", "--expt-relaxed-constexpr", "-Werror", "cross-execution-space-call",
            f"-I{include}", "-c", HERE / "laws_device.cu", "-o", output / "laws_device.o"], None


def wasm(include, output):
    clang = shutil.which("clang++-19")
    if not clang or not shutil.which("wasm-ld-19"):
        return None, "clang++-19 and wasm-ld-19 were not found"
    if not WASM_HEADERS.is_dir() or not (WASM_HEADERS / "c++").exists():
        return None, "wasi-libc and libc++-19-dev-wasm32 were not found"
    # A reactor has no main: a page calls its functions. All are kept, so all must link.
    return [clang, "--target=wasm32-wasi", "-std=c++20", "-fno-exceptions", "-O2", "-Wall",
            "-Wextra", "-Werror", "-ffp-contract=off", "-mexec-model=reactor", "-Wl,--export-all",
            f"-I{include}", HERE / "laws_wasm.cpp", "-o", output / "laws.wasm"], None


def main():
    kind, include, output = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    command, reason = {"device_code": device_code, "wasm": wasm}[kind](include, output)
    if reason:
        print(f"skipped: {reason}")
        return SKIPPED
    output.mkdir(parents=True, exist_ok=True)
    print(" ".join(map(str, command)))
    return 1 if subprocess.run(command).returncode else 0


if __name__ == "__main__":
    sys.exit(main())
