"""Mutated scenes, robots, meshes and recordings, read and run for a millisecond of simulated time by the
fuzzers under the sanitizers: no crash, none above ten seconds, memory below 2 GB.

usage: mutants.py FUZZERS ROOT

FUZZERS is the folder with the programs scene_fuzz, hdf5_fuzz and log_fuzz. Bytes alone do not reach far:
here numbers go to extremes, elements are removed, doubled, moved and nested, references exchanged. A
thousand mutants; 100 000 with BRISTLE_SOAK=1, or BRISTLE_MUTANTS. BRISTLE_SEED gives others. What fails is kept in
FUZZERS/mutants.
"""

import collections
import copy
import os
import pathlib
import random
import re
import resource
import struct
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as etree

FUZZERS, ROOT = pathlib.Path(), pathlib.Path()
NUMBER = int(os.environ.get("BRISTLE_MUTANTS", 100000 if os.environ.get("BRISTLE_SOAK") == "1" else 1000))
BATCH = 250
SECONDS, MEGABYTES = 10, 2048
WAIT = 600  # by the wall [s]

NUMBERS = (b"0", b"-0.0", b"1", b"-1", b"2", b"0.5", b"1e308", b"-1e308", b"1e309", b"5e-324", b"1e-30", b"1e30",
           b"1e29", b"1e-9", b"1e9", b"1e12", b"1e-12", b"nan", b"-nan", b"inf", b"-inf", b"2147483647",
           b"2147483648", b"-2147483649", b"4294967296", b"9223372036854775807", b"9223372036854775808",
           b"18446744073709551616", b"99999999999999999999999999", b"0x7fffffff", b"1e", b"1e+", b".", b"",
           b"1_000", b"01", b"3.14159265358979", b"1000", b"100000", b"true", b'"x"', b"[1, 2, 3]")
NUMBER_PATTERN = re.compile(rb"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
STRING_PATTERN = re.compile(rb'"([^"\n]*)"')
REPEATS = (2, 2, 2, 5, 50, 700)
DEPTHS = (2, 10, 63, 64, 65, 101, 3000)

ROBOT_SCENE = b"""[clock]
duration_s = 0.01
[[robots]]
file = "%s"
%sposition_m = [0, 0, 1]
[[bodies]]
name = "floor"
fixed = true
[[bodies.shapes]]
type = "plane"
position_m = [0, 0, -3]
"""
MESH_SCENE = b"""[clock]
duration_s = 0.01
[[bodies]]
name = "body"
mass_kg = 1
inertia_kg_m2 = [1, 1, 1]
[[bodies.shapes]]
type = "%s"
file = "%s"
[[bodies]]
name = "ball"
mass_kg = 1
position_m = [0, 0, 0.5]
[[bodies.shapes]]
type = "sphere"
radius_m = 0.3
"""


def container(files):
    """Several files as scene_fuzz takes them."""
    return b"".join(b"=== " + name.encode() + b"\n" + text + b"\n" for name, text in files.items())


# Text of any format.

def numbers(text, chance):
    found = list(NUMBER_PATTERN.finditer(text))
    for match in sorted(chance.sample(found, min(len(found), chance.choice((1, 1, 1, 2, 5)))),
                        key=lambda match: -match.start()):
        text = text[:match.start()] + chance.choice(NUMBERS) + text[match.end():]
    return text


def references(text, chance):
    """One string in the place of another: names, kinds and files become each other."""
    found = list(STRING_PATTERN.finditer(text))
    if len(found) < 2:
        return text
    at, other = chance.sample(found, 2)
    return text[:at.start(1)] + other.group(1) + text[at.end(1):]


def lines(text, chance):
    every = text.split(b"\n")
    at, to = chance.randrange(len(every)), chance.randrange(len(every))
    how = chance.randrange(4)
    if how == 0:
        del every[at]
    elif how == 1:
        every[at:at] = [every[at]] * chance.choice(REPEATS)
    elif how == 2:
        every[at], every[to] = every[to], every[at]
    else:
        every.insert(to, every.pop(at))
    return b"\n".join(every)


def some_bytes(text, chance):
    changed = bytearray(text)
    for _ in range(chance.choice((1, 2, 8))):
        at = chance.randrange(len(changed) + 1)
        how = chance.randrange(4)
        if how == 0 and at < len(changed):
            changed[at] ^= 1 << chance.randrange(8)
        elif how == 1:
            changed[at:at] = bytes(chance.randrange(256) for _ in range(chance.choice((1, 4, 40))))
        elif how == 2:
            del changed[at:at + chance.choice((1, 8, 200))]
        else:
            piece = changed[at:at + chance.choice((4, 50, 500))]
            to = chance.randrange(len(changed) + 1)
            changed[to:to] = piece
    return bytes(changed[:chance.randrange(len(changed))] if chance.random() < 0.05 and changed else changed)


# TOML.

def tables(text, chance):
    """Whole tables removed, repeated, exchanged or moved."""
    parts = re.split(rb"(?m)^(?=\[)", text)
    at, to = chance.randrange(len(parts)), chance.randrange(len(parts))
    how = chance.randrange(4)
    if how == 0:
        del parts[at]
    elif how == 1:
        parts[at:at] = [parts[at]] * chance.choice(REPEATS)
    elif how == 2:
        parts[at], parts[to] = parts[to], parts[at]
    else:
        parts.insert(to, parts.pop(at))
    return b"".join(parts)


def many_bodies(text, chance):
    """A table hundreds of times, each with a name of its own."""
    parts = re.split(rb"(?m)^(?=\[\[(?:bodies|joints|motors|probes|loads|loops|constraints|contacts)\]\])", text)
    at = chance.randrange(len(parts))
    copies = [STRING_PATTERN.sub(b'"\\g<1> %d"' % i, parts[at], count=1) for i in range(chance.choice((3, 40, 300)))]
    parts[at:at] = copies
    return b"".join(parts)


def keys(text, chance):
    """A key or a value in the place of another."""
    found = list(re.finditer(rb"(?m)^(\w+)(\s*=\s*)(.+)$", text))
    if len(found) < 2:
        return text
    one, other = chance.sample(found, 2)
    group = chance.choice((1, 3))
    return text[:one.start(group)] + other.group(group) + text[one.end(group):]


def nested(text, chance):
    depth = chance.choice(DEPTHS)
    found = list(re.finditer(rb"(?m)^(\w+)\s*=\s*(.+)$", text))
    if not found:
        return text
    at = chance.choice(found)
    value = chance.choice((b"[" * depth + at.group(2) + b"]" * depth,
                           b"{a=" * depth + at.group(2) + b"}" * depth))
    line = chance.choice((at.group(1) + b" = " + value, b".".join([at.group(1)] * depth) + b" = 1",
                          b"[" + b".".join([at.group(1)] * depth) + b"]"))
    return text[:at.start()] + line + text[at.end():]


def includes(text, chance):
    names = [b'"%s"' % chance.choice((b"scene.toml", b"more.toml", b"robot.xml", b".", b"/dev/zero", b"mesh.stl"))
             for _ in range(chance.choice((1, 2, 20)))]
    return b"include = [" + b", ".join(names) + b"]\n" + text


# XML: of elements, then as text.

def elements(text, chance):
    if text.count(b"</") > 500 and re.search(rb"(<\w+>){50}", text):  # too deep for etree
        return some_bytes(text, chance)
    try:
        root = etree.fromstring(text)
    except (etree.ParseError, ValueError, LookupError):  # of an encoding
        return some_bytes(text, chance)
    parents = [e for e in root.iter() if len(e)]
    every = list(root.iter())
    if not parents or len(every) > 5000:
        return text
    parent = chance.choice(parents)
    child = chance.choice(list(parent))
    how = chance.randrange(6)
    if how == 0:
        parent.remove(child)
    elif how == 1:
        for _ in range(chance.choice(REPEATS)):
            parent.append(copy.deepcopy(child))
    elif how == 2:
        chance.choice(every).append(copy.deepcopy(child))
    elif how == 3:
        child.tag = chance.choice(every).tag
    elif how == 4:
        other = chance.choice(every)
        child.attrib, other.attrib = dict(other.attrib), dict(child.attrib)
    else:
        # The same attribute of two elements: parents, children and targets become cycles.
        name = chance.choice([key for e in every for key in e.attrib] or ["name"])
        have = [e for e in every if name in e.attrib]
        if len(have) > 1:
            one, other = chance.sample(have, 2)
            one.set(name, other.get(name))
    return etree.tostring(root)


def attributes(text, chance):
    found = list(re.finditer(rb'([\w:]+)="([^"]*)"', text))
    if not found:
        return text
    at, other = chance.choice(found), chance.choice(found)
    value = chance.choice((b"", at.group(0) * 2, at.group(1) + b'="' + other.group(2) + b'"',
                           other.group(1) + b'="' + at.group(2) + b'"',
                           at.group(1) + b'="' + at.group(2) * chance.choice((2, 50, 5000)) + b'"',
                           b" ".join(b'a%d="1"' % i for i in range(chance.choice((3, 300))))))
    return text[:at.start()] + value + text[at.end():]


def deep(text, chance):
    found = list(re.finditer(rb"<(\w+)[^<>]*/>", text))
    if not found:
        return text
    at, depth = chance.choice(found), chance.choice(DEPTHS)
    tag = chance.choice((at.group(1), b"body", b"node", b"link", b"default"))
    return (text[:at.start()] + (b"<" + tag + b">") * depth + at.group(0) + (b"</" + tag + b">") * depth +
            text[at.end():])


def cycles(text, chance):
    end = text.rfind(b"</")
    inside = chance.choice((b'<include file="robot.xml"/>', b'<include file="mesh.stl"/>',
                            b'<node id="c"><instance_node url="#c"/></node>',
                            b'<joint name="jj" type="fixed"><parent link="base"/><child link="base"/></joint>'))
    found = list(re.finditer(rb"<\w+[^<>/]*>", text))
    at = chance.choice(found).end() if found and chance.random() < 0.7 else end
    return text[:at] + inside + text[at:] if at >= 0 else text


# Binary meshes: words of four bytes.

WORDS = tuple(struct.pack("<I", n) for n in (0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0x10000000, 1000000)) + \
    tuple(struct.pack("<f", x) for x in (float("nan"), float("inf"), 3e38, -3e38, 1e-45, 1e-20, 1e9, 2e9))


def words(data, chance):
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 3, 12))):
        at = chance.choice((80, chance.randrange(len(changed) + 1)))
        changed[at:at + 4] = chance.choice(WORDS)
    return bytes(changed)


TOML = (numbers, numbers, references, lines, tables, many_bodies, keys, keys, nested, includes, some_bytes)
XML = (numbers, numbers, elements, elements, elements, attributes, references, deep, cycles, some_bytes)
PLAIN = (numbers, numbers, lines, lines, some_bytes)
BINARY = (words, words, some_bytes)


def mutated(text, ways, chance):
    for _ in range(chance.choice((1, 1, 1, 2, 3, 6))):
        if len(text) < 2000000:
            text = chance.choice(ways)(text, chance)
    return text


# Recordings, as hdf5_fuzz and log_fuzz take them: how, then changes.

def recording(chance):
    offset = lambda: struct.pack(">I", chance.choice((chance.randrange(1 << 24), chance.randrange(8192))))[1:]
    how = chance.choice((1, 2, 2, 2, 3, 3, 3))
    if how < 3:
        return "hdf5", bytes([how]) + b"".join(offset() + bytes([chance.choice((1, 128, 255, chance.randrange(256)))])
                                               for _ in range(chance.choice((1, 1, 2, 5))))
    return "hdf5", bytes([3]) + bytes(chance.choice((0, 1, 2, 3, 255, chance.randrange(256)))
                                      for _ in range(chance.randrange(2, 60)))


def log(chance):
    return "log", bytes([chance.randrange(4)]) + chance.randbytes(chance.randrange(1, 200))


class Seeds:
    def __init__(self):
        read = lambda *folders: [file.read_bytes() for folder in folders
                                 for file in sorted(ROOT.glob(folder)) if file.is_file()]
        corpus = "tests/fuzz/corpus"
        self.scenes = read("scenes/*.toml", f"{corpus}/toml/*")
        self.urdf = read("tests/scene/robots/*.urdf", f"{corpus}/urdf/*")
        self.mjcf = read("tests/scene/robots/*.xml", f"{corpus}/mjcf/*")
        meshes = [file for folder in (f"{corpus}/mesh/*", "tests/scene/robots/meshes/*")
                  for file in sorted(ROOT.glob(folder))]
        # A file of the corpus begins with a byte that says which sort it is.
        self.meshes = [(file.suffix[1:], file.read_bytes()[1 if "corpus" in file.parts else 0:]) for file in meshes]
        for found in (self.scenes, self.urdf, self.mjcf, self.meshes):
            assert found

    def mesh(self, ending, chance):
        return chance.choice([data for sort, data in self.meshes if sort == ending])

    def beside(self, robot, chance):
        """The meshes that a robot names, under the names that there are."""
        files = {}
        for ending in ("stl", "obj", "dae", "ply"):
            robot, found = re.subn(rb'"[^"]*\.%s"' % ending.encode(), b'"mesh.%s"' % ending.encode(), robot)
            if found:
                files[f"mesh.{ending}"] = self.mesh(ending, chance)
        return robot, files

    def mutant(self, chance):
        """The sort, the fuzzer that reads it, and its input."""
        sort = chance.choices(("scene", "urdf", "mjcf", "mesh", "hdf5", "log"), (30, 20, 15, 20, 10, 5))[0]
        if sort == "scene":
            files = {"scene.toml": mutated(chance.choice(self.scenes), TOML, chance)}
            if b"more.toml" in files["scene.toml"]:
                files["more.toml"] = mutated(chance.choice(self.scenes), TOML, chance)
        elif sort in ("urdf", "mjcf"):
            name = "robot.urdf" if sort == "urdf" else "robot.xml"
            robot, files = self.beside(chance.choice(self.urdf if sort == "urdf" else self.mjcf), chance)
            base = b'base = "free"\n' if sort == "urdf" else b""
            files |= {"scene.toml": ROBOT_SCENE % (name.encode(), base), name: mutated(robot, XML, chance)}
        elif sort == "mesh":
            ending, data = chance.choice(self.meshes)
            ways = XML if ending == "dae" else PLAIN
            if b"\0" in data:
                ways = BINARY
            name = f"mesh.{ending}"
            kind = chance.choice((b"hull", b"mesh"))
            files = {"scene.toml": MESH_SCENE % (kind, name.encode()), name: mutated(data, ways, chance)}
        else:
            return (sort, *(recording(chance) if sort == "hdf5" else log(chance)))
        return sort, "scene", container(files)


class Mutants(unittest.TestCase):
    def seconds_of(self, fuzzer, file):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([FUZZERS / f"{fuzzer}_fuzz", file], capture_output=True, cwd=self.folder)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        self.slowest = max(self.slowest, took)
        return took

    def read_batch(self, fuzzer, files):
        """Reads all files, and returns those that ended the fuzzer, with what it said."""
        failures = []
        while files:
            done = subprocess.run(
                [FUZZERS / f"{fuzzer}_fuzz", f"-timeout={WAIT}", f"-rss_limit_mb={MEGABYTES}",
                 f"-malloc_limit_mb={MEGABYTES}", *files],
                capture_output=True, text=True, errors="replace", cwd=self.folder,
                env=dict(os.environ, TMPDIR=str(self.folder),
                         ASAN_OPTIONS=f"allocator_may_return_null=1:log_path={self.reports}/asan",
                         UBSAN_OPTIONS=f"print_stacktrace=1:log_path={self.reports}/asan"))
            for name, took in re.findall(r"Executed (\S+) in (\d+) ms", done.stderr):
                # The wall clock counts others, too: by itself, of the processor's time.
                if int(took) > 1000 * self.slowest and self.seconds_of(fuzzer, name) > SECONDS:
                    failures.append((name, "it took too long"))
            if done.returncode == 0:
                break
            guilty = re.findall(r"Running: (\S+)", done.stderr)[-1]
            failures.append((guilty, done.stderr[-3000:]))
            files = files[[str(file) for file in files].index(guilty) + 1:]
        # Also of child processes, whose end is only a file that cannot be read; their memory is limited. What
        # libhdf5 does there is what they are for.
        for report in self.reports.iterdir():
            said = report.read_text(errors="replace")
            if re.search("ERROR: AddressSanitizer|runtime error", said) and "out of memory" not in said:
                if re.search(r"^ *#[01] .*/libhdf5", said, re.M):
                    self.contained += 1
                else:
                    failures.append((str(report), said[:3000]))
            report.unlink()
        return failures

    def test_none_does_harm(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.reports = self.folder / "reports"
        self.reports.mkdir()
        self.slowest = 0
        self.contained = 0
        kept = FUZZERS / "mutants"
        chance = random.Random(os.environ.get("BRISTLE_SEED", "1"))
        seeds, counts, failures = Seeds(), collections.Counter(), []
        for begin in range(0, NUMBER, BATCH):
            batches = collections.defaultdict(list)
            for number in range(begin, min(begin + BATCH, NUMBER)):
                sort, fuzzer, data = seeds.mutant(chance)
                counts[sort] += 1
                file = self.folder / f"{sort}-{number}"
                file.write_bytes(data)
                batches[fuzzer].append(file)
            for fuzzer, files in batches.items():
                for guilty, said in self.read_batch(fuzzer, files):
                    kept.mkdir(exist_ok=True)
                    name = pathlib.Path(guilty).name
                    if os.path.exists(guilty):
                        (kept / name).write_bytes(pathlib.Path(guilty).read_bytes())
                    (kept / f"{name}.txt").write_text(said)
                    failures.append(name)
                for file in files:
                    file.unlink()
            if sum(counts.values()) % 10000 == 0:
                print(f"{sum(counts.values())} mutants, {len(failures)} failed", file=sys.stderr, flush=True)
        memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
        print(f"{sum(counts.values())} mutants ({', '.join(f'{n} {sort}' for sort, n in sorted(counts.items()))}): "
              f"{len(failures)} failed, the slowest took {self.slowest:.1f} s of the processor, "
              f"at most {memory} MB; {self.contained} times libhdf5 ended a child process", file=sys.stderr)
        self.assertEqual(failures, [], f"kept in {kept}")
        self.assertLess(memory, MEGABYTES)


if __name__ == "__main__":
    FUZZERS, ROOT = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
