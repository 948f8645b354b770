#!/usr/bin/env python3
"""Fails when a file includes something from a folder downstream of its own.

    layering.py ROOT             check a source tree
    layering.py --self-test      plant violations in a scratch tree and see each one caught
    layering.py --diagram FILE   draw the folders and what they may include, as SVG
    layering.py --diagram-is FILE   fail when FILE is not that drawing
"""

import re
import sys
import tempfile
from pathlib import Path

# The engine's walk: a folder includes itself and the folders to its left.
ENGINE = ["core", "spatial", "laws", "geometry", "model", "dynamics", "contact",
          "complementarity", "step", "adaptive", "steppers", "run"]

# Outside the engine: which other rooms each one may include, besides the engine.
OUTSIDE = {
    "files": set(),
    "scene": {"files"},
    "recording": {"files"},
    "identify": {"files", "scene", "recording"},
    "report": {"files", "recording"},
    "studies": {"files", "scene", "recording", "identify", "report"},
    "cli": {"adapters", "files", "scene", "recording", "identify", "studies", "report"},
    "python": {"files", "scene", "recording", "identify", "studies", "report"},
    "adapters": set(),
    "examples": set(),
}

# Rooms with C++ in them that may include anything, and that nothing includes.
FREE = {"tests", "bench"}

# Top-level folders that are not ours to check.
IGNORED = {"build", "out", "node_modules"}

STANDARD = set("""
algorithm any array atomic barrier bit bitset cassert ccomplex cctype cerrno cfenv cfloat charconv
chrono cinttypes climits clocale cmath codecvt compare complex concepts condition_variable
coroutine csetjmp csignal cstdarg cstddef cstdint cstdio cstdlib cstring ctime cuchar cwchar
cwctype deque exception execution experimental/simd filesystem format forward_list fstream
functional future initializer_list iomanip ios iosfwd iostream istream iterator latch limits list
locale map memory memory_resource mutex new numbers numeric optional ostream queue random ranges
ratio regex scoped_allocator semaphore set shared_mutex source_location span sstream stack
stdexcept stop_token streambuf string string_view strstream syncstream system_error thread tuple
type_traits typeindex typeinfo unordered_map unordered_set utility valarray variant vector version
""".split())

# Headers that come with the compiler: vector instructions, behind a guard for other machines.
COMPILER = {"immintrin.h", "arm_neon.h"}

SUFFIXES = {".hpp", ".cpp", ".h", ".cc", ".cu", ".cuh", ".inl", ".ipp"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def engine_room(parts):
    """The room of a path below engine/: core/scalar.hpp -> core, simulate.hpp -> simulate."""
    return parts[0] if len(parts) > 1 else parts[0].split(".")[0]


def check_engine_include(room, kind, name):
    """What is wrong with an include of `name` in engine room `room`; None when nothing is."""
    parts = name.split("/")
    if parts[0] == "bristle":
        target = engine_room(parts[1:]) if len(parts) > 1 else ""
        if target not in ENGINE:
            return f"unknown engine folder '{target}'"
        if ENGINE.index(target) > ENGINE.index(room):
            return f"'{target}' is downstream of '{room}'"
        return None
    if kind == '"':
        return 'the engine includes its own files as "bristle/<folder>/<file>"'
    if name in STANDARD or name in COMPILER or parts[0] == "Eigen":
        return None
    return "the engine includes only the standard library and Eigen"


def check_outside_include(room, kind, name, path, root):
    parts = name.split("/")
    if parts[0] == "engine":
        return 'engine headers are included as "bristle/<folder>/<file>"'
    if parts[0] == "bristle":
        if engine_room(parts[1:] or [""]) not in ENGINE:
            return f"unknown engine folder '{parts[1] if len(parts) > 1 else ''}'"
        return None
    if ".." in parts:
        return "an include path does not climb with '..'"
    if kind == "<" or room in FREE:
        return None
    if (path.parent / name).is_file():
        return None
    if parts[0] == room or parts[0] in OUTSIDE[room]:
        return None
    if parts[0] in OUTSIDE or parts[0] in FREE:
        return f"'{room}' must not depend on '{parts[0]}'"
    if (root / parts[0]).is_dir():
        return f"unknown folder '{parts[0]}'"
    return 'other libraries are included as <...>'


def check(root):
    """All violations below root, as (violations, number of files read)."""
    violations = []
    count = 0
    for top in sorted(p for p in root.iterdir() if p.is_dir()):
        if top.name.startswith(".") or top.name in IGNORED:
            continue
        for path in sorted(top.rglob("*")):
            if path.suffix not in SUFFIXES or not path.is_file():
                continue
            where = path.relative_to(root)
            count += 1
            in_engine = top.name == "engine"
            room = engine_room(where.parts[1:]) if in_engine else top.name
            if in_engine and room not in ENGINE:
                violations.append(f"{where}: unknown engine folder '{room}'; add it to the walk")
                continue
            if not in_engine and room not in OUTSIDE and room not in FREE:
                violations.append(f"{where}: unknown folder '{room}'; add it to the walk")
                continue
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                found = INCLUDE.match(line)
                if not found:
                    continue
                kind, name = found.groups()
                wrong = (check_engine_include(room, kind, name) if in_engine
                         else check_outside_include(room, kind, name, path, root))
                if wrong:
                    violations.append(f"{where}:{number}: {line.strip()}: {wrong}")
    return violations, count


def reduced(rooms):
    """Which rooms each room includes that it does not reach through another one."""
    return {room: {to for to in includes
                   if not any(to in rooms.get(other, set()) for other in includes)}
            for room, includes in rooms.items()}


def levels(rooms):
    """Rooms in rows: each as late as what includes it allows."""
    def height(room):
        return 1 + max((height(user) for user, includes in rooms.items() if room in includes), default=-1)
    rows = {}
    for room in rooms:
        rows.setdefault(height(room), []).append(room)
    return [rows[level] for level in sorted(rows, reverse=True)]


def diagram():
    """The engine's walk in two rows; below it the other rooms, with lines to what they include."""
    width, height, gap, left = 118, 34, 22, 40
    root = Path(__file__).resolve().parent.parent
    built = {room: {to for to in includes if (root / to).is_dir()}
             for room, includes in OUTSIDE.items() if (root / room).is_dir()}
    parts, lines, place = [], [], {}

    def box(name, x, y, style):
        place[name] = (x, y)
        parts.append(f'<rect class="{style}" x="{x}" y="{y}" width="{width}" height="{height}" rx="5"/>'
                     f'<text x="{x + width / 2:g}" y="{y + height / 2 + 4.5:g}">{name}</text>')

    def line(x1, y1, x2, y2):
        lines.append(f'<path d="M{x1:g} {y1:g}L{x2:g} {y2:g}" marker-end="url(#to)"/>')

    half = (len(ENGINE) + 1) // 2
    total = left + half * (width + gap) - gap + left
    lines.append(f'<rect class="room" x="{left - 16}" y="14" width="{total - 2 * left + 32}" height="128" rx="8"/>'
                 f'<text class="title" x="{left - 6}" y="32">engine/</text>')
    for k, name in enumerate(ENGINE):
        box(name, left + (k % half) * (width + gap), 42 + (k // half) * 54, "engine")
    for before, after in zip(ENGINE, ENGINE[1:]):
        (x1, y1), (x2, y2) = place[before], place[after]
        if y1 == y2:
            line(x1 + width, y1 + height / 2, x2 - 2, y2 + height / 2)
        else:
            line(x1 + width / 2, y1 + height, x2 + width / 2 + 8, y2 - 2)
    rows = levels(built)
    for level, row in enumerate(rows):
        start = (total - len(row) * (width + gap) + gap) / 2
        for k, name in enumerate(row):
            box(name, start + k * (width + gap), 178 + level * 68, "outside")
    for name, includes in reduced(built).items():
        for to in sorted(includes):
            (x1, y1), (x2, y2) = place[to], place[name]
            line(x1 + width / 2, y1 + height, x2 + width / 2, y2 - 2)
    bottom = 178 + len(rows) * 68
    style = ("text{font:13px sans-serif;text-anchor:middle;fill:#222}.title{text-anchor:start;font-weight:600}"
             ".room{fill:#eef3f8;stroke:none}.engine{fill:#fff;stroke:#3b6ea5}.outside{fill:#fff;stroke:#777}"
             "path{stroke:#777;fill:none}")
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total} {bottom}" role="img" '
            'aria-label="Folders of the project and the direction in which data flows">'
            f'<style>{style}</style><defs><marker id="to" markerWidth="8" markerHeight="8" refX="7" refY="3" '
            'orient="auto"><path d="M0 0L7 3L0 6"/></marker></defs>'
            f'<rect width="{total}" height="{bottom}" fill="#fff"/>' + "\n".join(lines + parts) + "</svg>\n")


def self_test():
    good = {
        "engine/core/scalar.hpp": "#include <cmath>\n",
        "engine/laws/normal/hertz.hpp": '#include "bristle/core/scalar.hpp"\n#include <Eigen/Core>\n',
        "engine/run.cpp": '#include "bristle/run.hpp"\n#include "bristle/laws/laws.hpp"\n',
        "cli/main.cpp": '#include "bristle/run.hpp"\n#include "report/page.hpp"\n'
                        '#include <fmt/format.h>\n#include "options.hpp"\n',
        "cli/options.hpp": "",
        "studies/drop.cpp": '#include "report/page.hpp"\n',
        "tests/laws/hertz_test.cpp": '#include "cli/options.hpp"\n',
        "build/engine/nonsense/a.cpp": '#include "cli/main.hpp"\n',
    }
    bad = [
        ("engine/core/a.hpp", '#include "bristle/laws/laws.hpp"', "downstream"),
        ("engine/laws/normal/a.hpp", '#  include <bristle/contact/slots.hpp>', "downstream"),
        ("engine/step/a.cpp", '#include "bristle/run.hpp"', "downstream"),
        ("engine/model/a.cpp", '#include "report/page.hpp"', "as \"bristle/"),
        ("engine/model/b.cpp", '#include "scalar.hpp"', "as \"bristle/"),
        ("engine/model/c.cpp", "#include <fmt/format.h>", "only the standard library"),
        ("engine/model/d.cpp", '#include "bristle/cli/a.hpp"', "unknown engine folder"),
        ("engine/newroom/a.hpp", "", "unknown engine folder"),
        ("engine/loose.hpp", "", "unknown engine folder"),
        ("newroom/a.hpp", "", "unknown folder"),
        ("report/a.cpp", '#include "cli/options.hpp"', "must not depend"),
        ("scene/a.cpp", '#include "studies/drop.hpp"', "must not depend"),
        ("cli/a.cpp", '#include "engine/core/scalar.hpp"', "as \"bristle/"),
        ("cli/b.cpp", '#include "../report/page.hpp"', "climb"),
        ("adapters/mujoco/a.cpp", '#include "python/module.hpp"', "must not depend"),
        ("examples/own_law/a.cpp", '#include "scene/scene.hpp"', "must not depend"),
    ]

    def plant(root, files):
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")

    failures = 0
    with tempfile.TemporaryDirectory() as scratch:
        plant(Path(scratch), good)
        violations, count = check(Path(scratch))
        if violations or count != len(good) - 1:
            print(f"a clean tree was refused: {violations} ({count} files)")
            failures += 1
    for name, line, expected in bad:
        with tempfile.TemporaryDirectory() as scratch:
            plant(Path(scratch), good | {name: "// first line\n" + line + "\n"})
            violations, _ = check(Path(scratch))
            if len(violations) != 1 or name not in violations[0] or expected not in violations[0]:
                print(f"{name} with {line!r}: expected one '{expected}', got {violations}")
                failures += 1
    print(f"{len(bad)} planted violations, {failures} wrong answers")
    return failures


def main():
    if sys.argv[1:] == ["--self-test"]:
        return 1 if self_test() else 0
    if len(sys.argv) == 3 and sys.argv[1] == "--diagram":
        Path(sys.argv[2]).write_text(diagram(), encoding="utf-8")
        return 0
    if len(sys.argv) == 3 and sys.argv[1] == "--diagram-is":
        if Path(sys.argv[2]).read_text(encoding="utf-8") == diagram():
            return 0
        print(f"{sys.argv[2]} is out of date: tests/layering.py --diagram {sys.argv[2]}")
        return 1
    if len(sys.argv) != 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    violations, count = check(Path(sys.argv[1]))
    for violation in violations:
        print(violation)
    print(f"{count} files, {len(violations)} violations")
    return 1 if violations or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
