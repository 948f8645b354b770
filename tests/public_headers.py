#!/usr/bin/env python3
"""Programs include public headers only: those of engine/public_headers.txt and cmake/library_headers.txt.

    public_headers.py ROOT        check examples, the installed package's consumer, docs and the list itself
    public_headers.py --self-test plant violations in a scratch tree and see each one caught
"""

import re
import sys
import tempfile
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"](bristle|scene|recording|report)/([^>"]+)[>"]', re.M)
CODE = re.compile(r"^```cpp\n(.*?)^```", re.S | re.M)
API = re.compile(r"^```\{doxygenfile\} (\S+)", re.M)


ENGINE, LIBRARIES = "engine/public_headers.txt", "cmake/library_headers.txt"


def listed_in(file):
    return [line for line in file.read_text().splitlines() if line and not line.startswith("#")]


def includes(root):
    """(file, header) of what programs include."""
    for folder in ("examples", "tests/consumer"):
        for file in sorted((root / folder).rglob("*.?pp")):
            for folder_of, header in INCLUDE.findall(file.read_text()):
                yield file.relative_to(root), f"{folder_of}/{header}"
    for page in [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").rglob("*.md"))]:
        if page.exists():
            for block in CODE.findall(page.read_text()):
                for folder_of, header in INCLUDE.findall(block):
                    yield page.relative_to(root), f"{folder_of}/{header}"


def check(root):
    listed = listed_in(root / ENGINE)
    of_libraries = listed_in(root / LIBRARIES)
    wrong = []
    for file, folder, names in ((ENGINE, "engine/", listed), (LIBRARIES, "", of_libraries)):
        wrong += [f"{file}: {name} is listed twice" for name in sorted(set(names)) if names.count(name) > 1]
        wrong += [f"{file}: there is no {folder}{name}" for name in names if not (root / folder / name).is_file()]
    public = {f"bristle/{name}" for name in listed} | set(of_libraries)
    used = list(includes(root))
    wrong += [f"{file}: {header} is internal" for file, header in used if header not in public]
    documented = [name for page in sorted((root / "docs/api").glob("*.md")) for name in API.findall(page.read_text())]
    wrong += [f"docs/api: {name} has no page" for name in listed if name not in documented]
    wrong += [f"docs/api: {name} is not public" for name in documented if name not in listed]
    return wrong, len(used)


def self_test():
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        files = {ENGINE: "# a comment\n\nrun.hpp\n", "engine/run.hpp": "",
                 LIBRARIES: "# a comment\n\nscene/scene.hpp\n", "scene/scene.hpp": "",
                 "docs/other.md": "```cpp\n#include \"scene/scene.hpp\"\n```\n",
                 "engine/inner.hpp": "", "examples/one/main.cpp": "#include <bristle/run.hpp>\n",
                 "docs/page.md": "```cpp\n#include <bristle/run.hpp>\n```\n",
                 "docs/api/run.md": "```{doxygenfile} run.hpp\n```\n"}

        def problems(**change):
            for name, text in {**files, **{key.replace("__", "/"): text for key, text in change.items()}}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            return len(check(root)[0])

        inner = "#include <bristle/inner.hpp>\n"
        found = [problems(), problems(**{"examples__one__main.cpp": inner}),
                 problems(**{"docs__page.md": f"```cpp\n{inner}```\n"}),
                 problems(**{"engine__public_headers.txt": "run.hpp\ngone.hpp\n"}),
                 problems(**{"docs__api__run.md": ""}),
                 problems(**{"docs__other.md": "```cpp\n#include \"scene/keys.hpp\"\n```\n"}),
                 problems(**{LIBRARIES.replace("/", "__"): "scene/scene.hpp\nreport/gone.hpp\n"})]
        # a header that is gone has no page either
        return 0 if found == [0, 1, 1, 2, 1, 1, 1] else print(f"found {found} problems") or 1


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    wrong, used = check(Path(sys.argv[1]))
    print("\n".join(wrong))
    print(f"{used} includes, {len(wrong)} failures")
    return 1 if wrong or used == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
