#!/usr/bin/env python3
"""Programs include public headers only: those of engine/public_headers.txt.

    public_headers.py ROOT        check examples, the installed package's consumer, docs and the list itself
    public_headers.py --self-test plant violations in a scratch tree and see each one caught
"""

import re
import sys
import tempfile
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]bristle/([^>"]+)[>"]', re.M)
CODE = re.compile(r"^```cpp\n(.*?)^```", re.S | re.M)
API = re.compile(r"^```\{doxygenfile\} (\S+)", re.M)


def public_headers(root):
    lines = (root / "engine/public_headers.txt").read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def includes(root):
    """(file, header) of what programs include."""
    for folder in ("examples", "tests/consumer"):
        for file in sorted((root / folder).rglob("*.?pp")):
            for header in INCLUDE.findall(file.read_text()):
                yield file.relative_to(root), header
    for page in [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").rglob("*.md"))]:
        if page.exists():
            for block in CODE.findall(page.read_text()):
                for header in INCLUDE.findall(block):
                    yield page.relative_to(root), header


def check(root):
    listed = public_headers(root)
    wrong = [f"engine/public_headers.txt: {name} is listed twice" for name in sorted(set(listed))
             if listed.count(name) > 1]
    wrong += [f"engine/public_headers.txt: there is no engine/{name}" for name in listed
              if not (root / "engine" / name).is_file()]
    used = list(includes(root))
    wrong += [f"{file}: bristle/{header} is internal" for file, header in used if header not in listed]
    documented = [name for page in sorted((root / "docs/api").glob("*.md")) for name in API.findall(page.read_text())]
    wrong += [f"docs/api: {name} has no page" for name in listed if name not in documented]
    wrong += [f"docs/api: {name} is not public" for name in documented if name not in listed]
    return wrong, len(used)


def self_test():
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        files = {"engine/public_headers.txt": "# a comment\n\nrun.hpp\n", "engine/run.hpp": "",
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
                 problems(**{"docs__api__run.md": ""})]
        # a header that is gone has no page either
        return 0 if found == [0, 1, 1, 2, 1] else print(f"found {found} problems") or 1


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    wrong, used = check(Path(sys.argv[1]))
    print("\n".join(wrong))
    print(f"{used} includes, {len(wrong)} failures")
    return 1 if wrong or used == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
