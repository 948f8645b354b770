#!/usr/bin/env python3
"""Links within the repository lead somewhere: files, and anchors of headings.

    links_test.py ROOT         check README.md, CONTRIBUTING.md and docs/
    links_test.py --self-test  plant dead links in a scratch tree and see each one caught
"""

import re
import sys
import tempfile
from pathlib import Path
from urllib.parse import unquote

FENCE = re.compile(r"^(```|~~~).*?^\1", re.S | re.M)
CODE = re.compile(r"`+[^`\n]*`+")
LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$", re.M)
TEXT_OF_LINK = re.compile(r"!?\[([^]]*)\]\([^)]*\)")


def slug(heading):
    """The anchor that hosted repositories and MyST make of a heading."""
    text = TEXT_OF_LINK.sub(r"\1", heading).replace("`", "").replace("*", "").lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors(page):
    seen, found = {}, set()
    for heading in HEADING.findall(FENCE.sub("", page.read_text())):
        name = slug(heading)
        found.add(name if name not in seen else f"{name}-{seen[name]}")
        seen[name] = seen.get(name, 0) + 1
    return found


def links(page):
    """Targets outside of code; the text of a link may be code."""
    text = FENCE.sub("", page.read_text())
    # Code that holds a whole link is no link; code within its text is.
    return LINK.findall(CODE.sub(lambda code: "" if LINK.search(code[0]) else code[0].replace("[", ""), text))


def pages(root):
    # docs/theory/prose has parts of pages.
    return [page for page in [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").rglob("*.md"))]
            if page.exists() and page.parent.name != "prose"]


def check(root):
    wrong, count = [], 0
    for page in pages(root):
        for target in links(page):
            if re.match(r"[a-z]+:", target):
                continue
            count += 1
            path, _, anchor = unquote(target).partition("#")
            file = (page.parent / path) if path else page
            place = f"{page.relative_to(root)}: {target}"
            if not file.exists():
                wrong.append(f"{place}: there is no such file")
            elif root.resolve() not in [file.resolve(), *file.resolve().parents]:
                wrong.append(f"{place}: outside the repository")
            elif anchor and anchor not in anchors(file):
                wrong.append(f"{place}: no heading has this anchor")
    return wrong, count


def self_test():
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        (root / "docs").mkdir()
        (root / "docs/other.md").write_text("# One `two` (three)\n\n# Same\n\n# Same\n\n```sh\n# no heading\n```\n")
        cases = {
            "[a](docs/other.md)": 0, "[a](docs/gone.md)": 1, "![a](docs/gone.svg)": 1,
            "[`a`](docs/other.md#one-two-three)": 0, "[a](docs/other.md#one)": 1,
            "[a](docs/other.md#same-1)": 0, "[a](docs/other.md#same-2)": 1, "[a](docs/other.md#no-heading)": 1,
            "# Here\n[a](#here)": 0, "[a](#there)": 1, "`[a](docs/gone.md)`": 0,
            "```\n[a](docs/gone.md)\n```": 0, "[a](../outside.md)": 1, "[a](https://example.org/x)": 0,
        }
        bad = 0
        for text, expected in cases.items():
            (root / "README.md").write_text(text + "\n")
            found = len(check(root)[0])
            if found != expected:
                bad += 1
                print(f"{text!r}: {found} dead links instead of {expected}")
        return 1 if bad else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    wrong, count = check(Path(sys.argv[1]))
    print("\n".join(wrong))
    print(f"{count} links, {len(wrong)} dead")
    return 1 if wrong or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
