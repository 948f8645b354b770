#!/usr/bin/env python3
"""Fails when a function of the engine is longer than a reader can keep in mind.

    functions.py ROOT         check the source tree
    functions.py ROOT --list  print all functions, longest first
    functions.py --self-test  see long functions of every form found, and short ones passed

The length counts the lines from the signature to the closing brace; lambdas count as part
of the function around them.
"""

import re
import sys
import tempfile
from pathlib import Path

LONGEST = 80

# Functions that are longer, and why: "engine/room/file.cpp name": "reason".
ALLOWED = {}

SUFFIXES = {".hpp", ".cpp"}

# What does not hold code: comments, literals, and preprocessor lines with their continuations.
BLANKED = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<d>[^()\s]*)\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-zA-Z_])'(?:\\.|[^'\\\n])+'|^[ \t]*#(?:\\\n|[^\n])*",
    re.DOTALL | re.MULTILINE)
TYPE = re.compile(r"\b(class|struct|union|enum)\b")
# After a block these go on with the declaration that it is part of: brace initialisers of members,
# default arguments, lambdas that are called where they stand.
GOES_ON = set(",;().[=+-*/<>?:&|")


def blanked(text):
    """The text with everything but code replaced by spaces; lines stay where they are."""
    return BLANKED.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def name_of(head):
    """The name of a function, from what stands before its body."""
    head = re.sub(r"\[\[.*?\]\]", " ", head, flags=re.DOTALL)
    found = re.search(r"((?:\w+\s*::\s*)*(?:operator\s*\S+|~?\w+))\s*(?:<[^()]*>)?\s*\(", head)
    if found is None:  # a lambda with a name
        found = re.search(r"(\w+)\s*=", head)
    return re.sub(r"\s+", "", found.group(1)) if found else "?"


def declares_type(head):
    """Whether the brace after it opens a class, and not a function that mentions one."""
    head = re.sub(r"alignas\s*\([^)]*\)|\[\[.*?\]\]", " ", head, flags=re.DOTALL)
    return TYPE.search(re.sub(r"<[^<>]*>", " ", head)) is not None and "(" not in head


def functions(text):
    """(name, first line, length) of every function in a file, those of classes included."""
    code = blanked(text)
    found = []
    scopes = []  # of open braces: what they hold, where their declaration begins, its head
    begin = 0  # of the declaration that is being read

    def next_code(i):
        while i < len(code) and code[i].isspace():
            i += 1
        return i

    for i, c in enumerate(code):
        inside = any(kind == "code" for kind, _, _ in scopes)
        if c == "{":
            head = code[begin:i]
            if inside or any(k == "inner" for k, _, _ in scopes):
                kind = "inner"
            elif re.search(r"\bnamespace\b", head) or head.strip() == "extern":
                kind = "scope"
            elif declares_type(head):
                kind = "scope"
            elif ("(" in head or "[" in head) and not head.rstrip().endswith("="):
                kind = "code"
            else:
                kind = "inner"  # of an initialiser
            scopes.append((kind, begin, head))
            if kind == "scope":
                begin = i + 1
        elif c == "}" and scopes:
            kind, start, head = scopes.pop()
            follows = next_code(i + 1)
            ends = follows == len(code) or code[follows] not in GOES_ON
            if kind == "code":
                first = code.count("\n", 0, next_code(start)) + 1
                found.append((name_of(head), first, code.count("\n", 0, i) + 2 - first))
            if kind == "scope" or (ends and not any(k == "code" for k, _, _ in scopes)):
                begin = i + 1
        elif c == ";" and not inside and not any(k == "inner" for k, _, _ in scopes):
            begin = i + 1
        elif c == ":" and code[begin:i].strip() in ("public", "private", "protected"):
            begin = i + 1
    return found


def measure(root):
    """(length, file, name, line) of every function of the engine, longest first."""
    all_of_them = []
    for path in sorted((root / "engine").rglob("*")):
        if path.suffix not in SUFFIXES:
            continue
        for name, line, length in functions(path.read_text(encoding="utf-8")):
            all_of_them.append((length, str(path.relative_to(root)), name, line))
    return sorted(all_of_them, key=lambda f: (-f[0], f[1:]))


def check(root, allowed):
    """What is wrong, and how many functions were looked at."""
    problems = []
    measured = measure(root)
    long_ones = set()
    for length, file, name, line in measured:
        if length <= LONGEST:
            continue
        long_ones.add(f"{file} {name}")
        if f"{file} {name}" not in allowed:
            problems.append(f"{file}:{line}: {name} has {length} lines, {LONGEST} at most: "
                            "take it apart by meaning, or list it with a reason")
    for entry in allowed:
        if entry not in long_ones:
            problems.append(f"{entry} is listed as longer than {LONGEST} lines, and is not")
    return problems, len(measured)


def self_test():
    def body(lines):
        return "{\n" + "  x = 1;  // { \"(\n" * (lines - 2) + "}\n"

    long_one = body(LONGEST + 1)
    forms = {  # a file with one function that is too long, and its name
        "int f() " + long_one: "f",
        "namespace a::b {\nstatic int f(int x) noexcept\n" + body(LONGEST) + "}\n": "f",
        "struct S {\n  int m() const " + long_one + "};\n": "m",
        "struct S {\n  S();\n};\nS::S() : a{1}, b(2) " + long_one: "S::S",
        "template <class T>\nauto C<T>::f(T x) -> int " + body(LONGEST): "f",
        "template <class T>\nint f(T x)\n  requires(T::fine)\n" + body(LONGEST - 2): "f",
        "const auto table = [] " + long_one.rstrip() + "();\n": "table",
        "enum class E { a, b };\nint f(E e) " + long_one: "f",
        'const char* s = R"(} { (")";\nint f() ' + long_one: "f",
        "#define M(x) {\nint f() " + long_one: "f",
        "int g() {\n  return 1;\n}\nbool operator==(A a, A b) " + long_one: "operator==",
        "int f(int (*g)(int), S s = {}) " + long_one: "f",
    }
    fine = [
        "int f() " + body(LONGEST),
        "namespace a {\n" + "int f() { return 1; }\n" * 200 + "}\n",
        "struct S {\n" + "  int a{1};\n" * 100 + "  int f() { return a; }\n};\n",
        "constexpr int table[] = {\n" + "    1, 2, 3,\n" * 100 + "};\n",
        "enum class E {\n" + "  a,  // (\n" * 100 + "};\n",
    ]
    failures = 0

    def expect(text, allowed, words):
        nonlocal failures
        with tempfile.TemporaryDirectory() as scratch:
            file = Path(scratch) / "engine" / "room" / "file.cpp"
            file.parent.mkdir(parents=True)
            file.write_text(text, encoding="utf-8")
            problems, _ = check(Path(scratch), allowed)
        if len(problems) != len(words) or any(w not in p for p, w in zip(problems, words)):
            print(f"{text[:60]!r}: expected {words}, got {problems}")
            failures += 1

    for text, name in forms.items():
        expect(text, {}, [f" {name} has {LONGEST + 1} lines"])
        expect(text, {f"engine/room/file.cpp {name}": "one long table"}, [])
    for text in fine:
        expect(text, {}, [])
    expect("int f() {\n}\n", {"engine/room/file.cpp f": "once it was long"}, ["and is not"])
    print(f"{2 * len(forms) + len(fine) + 1} files, {failures} wrong answers")
    return failures


def main():
    if sys.argv[1:] == ["--self-test"]:
        return 1 if self_test() else 0
    if len(sys.argv) == 3 and sys.argv[2] == "--list":
        for length, file, name, line in measure(Path(sys.argv[1])):
            print(f"{length:4}  {file}:{line}  {name}")
        return 0
    if len(sys.argv) != 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    problems, count = check(Path(sys.argv[1]), ALLOWED)
    for problem in problems:
        print(problem)
    print(f"{count} functions, {len(problems)} problems")
    return 1 if problems or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
