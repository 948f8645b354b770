"""The `bristle law` commands: exit status, what goes to which stream, messages.

usage: law_test.py PROGRAM [LawCommands | StoppedImpacts]
"""

import json
import math
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

PROGRAM = ""
FINE, BAD_INPUT, CANNOT_GO_ON = 0, 2, 3


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=200)


class Commands(unittest.TestCase):
    def fine(self, *arguments):
        result = run(*arguments)
        self.assertEqual(result.returncode, FINE, result.stderr)
        self.assertEqual(result.stderr, "")
        return result.stdout

    def json(self, *arguments):
        """Standard output is one JSON value and nothing else."""
        return json.loads(self.fine(*arguments, "--json"))

    def refused(self, *arguments, status=BAD_INPUT):
        """Nothing on standard output, a message on standard error."""
        result = run(*arguments)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertNotEqual(result.stderr.strip(), "")
        return result.stderr


class LawCommands(Commands):
    def laws(self, family=None):
        return [
            law["name"]
            for law in self.json("law", "list")["laws"]
            if family in (None, law["family"])
        ]

    # help

    def test_help_works_everywhere(self):
        for words in [[], ["law"]] + [
            ["law", command] for command in ("list", "show", "impact", "compare")
        ]:
            for flag in ("--help", "-h"):
                text = self.fine(*words, flag)
                self.assertIn("Usage", text)
        self.assertIn("Exit status", self.fine("--help"))
        self.assertRegex(self.fine("--version"), r"^bristle \d+\.\d+\.\d+\n$")

    def test_incomplete_or_unknown_commands_are_refused(self):
        for words in (
            [],
            ["law"],
            ["law", "show"],
            ["law", "impact"],
            ["nonsense"],
            ["law", "nonsense"],
            ["law", "list", "--nonsense"],
        ):
            self.refused(*words)

    # list and show

    def test_list_names_every_law(self):
        text = self.fine("law", "list")
        self.assertGreater(len(self.laws("normal")), 0)
        self.assertGreater(len(self.laws("friction")), 0)
        for name in self.laws():
            self.assertIn(name, text)

    def test_show_describes_every_law(self):
        for name in self.laws():
            text = self.fine("law", "show", name)
            law = self.json("law", "show", name)
            self.assertEqual(law["name"], name)
            for key in ("title", "formula", "source", "limits", "energy"):
                self.assertTrue(law[key], f"{name}: {key}")
            for p in law["parameters"]:
                self.assertIn(p["name"], text)
                for key in ("symbol", "unit", "default", "low", "high", "meaning"):
                    self.assertIn(key, p)
                if p["unit"] == "flag":
                    self.assertIsInstance(p["default"], bool)
                elif "choices" in p:
                    self.assertIn(p["default"], p["choices"])
                else:
                    self.assertLessEqual(p["low"], p["default"])
                    self.assertLessEqual(p["default"], p["high"])

    def test_an_unknown_law_gets_the_nearest_name(self):
        for command in ("show", "impact", "compare"):
            message = self.refused("law", command, "gonthire")
            self.assertIn('"gonthire"', message)
            self.assertIn('did you mean "gonthier"?', message)
            self.assertIn("hunt-crossley", message)
        message = self.refused("law", "show", "zzzzzzzzzzzz")
        self.assertNotIn("did you mean", message)
        self.assertIn("Known laws", message)

    # impact

    def test_impact_gives_the_same_numbers_in_words_and_in_json(self):
        arguments = ("law", "impact", "gonthier", "--set", "restitution=0.3", "--set", "speed=2")
        report = self.json(*arguments)
        self.assertEqual(report["law"], "gonthier")
        self.assertEqual(report["parameters"]["restitution"], 0.3)
        self.assertEqual(report["parameters"]["speed"], 2)
        self.assertAlmostEqual(report["results"]["restitution"], 0.3, delta=1e-9)
        text = self.fine(*arguments)
        for key, value in report["results"].items():
            self.assertTrue(math.isfinite(value), key)
            self.assertIn(key, text)

    def test_impact_runs_every_normal_law_at_its_defaults(self):
        for name in self.laws("normal"):
            report = self.json("law", "impact", name)
            self.assertEqual(report["law"], name)
            self.assertGreaterEqual(report["results"]["restitution"], 0)
            self.assertLessEqual(report["results"]["restitution"], 1 + 1e-9)

    def test_impact_needs_a_normal_law(self):
        message = self.refused("law", "impact", self.laws("friction")[0])
        self.assertIn("is a friction law", message)
        self.assertIn(self.laws("normal")[0], message)

    def test_flags_are_words_or_numbers(self):
        for text, value in (("true", True), ("no", False), ("0", False), ("on", True)):
            report = self.json("law", "impact", "azad-featherstone", "--set", f"clamp={text}")
            self.assertIs(report["parameters"]["clamp"], value)
        message = self.refused("law", "impact", "azad-featherstone", "--set", "clamp=maybe")
        self.assertIn("true or false", message)

    def test_an_unknown_parameter_gets_the_nearest_name(self):
        for command in ("impact", "compare"):
            message = self.refused("law", command, "gonthier", "--set", "restituton=0.3")
            self.assertIn('"restituton"', message)
            self.assertIn('did you mean "restitution"?', message)

    def test_a_value_out_of_range_is_named_with_its_range(self):
        for command in ("impact", "compare"):
            message = self.refused("law", command, "gonthier", "--set", "restitution=1.4")
            self.assertIn("gonthier", message)
            self.assertIn("restitution = 1.4 must lie in [0.001, 1]", message)
        for value in ("-1", "0", "nan", "inf", "1e99", "fast", "", "2x"):
            message = self.refused("law", "impact", "gonthier", "--set", f"speed={value}")
            self.assertIn("speed", message)

    def test_a_setting_without_equals_is_explained(self):
        for command in ("impact", "compare"):
            message = self.refused("law", command, "gonthier", "--set", "speed")
            self.assertIn("--set speed", message)
            self.assertIn("name=value", message)

    def test_every_problem_is_reported_at_once(self):
        message = self.refused(
            "law", "impact", "gonthier",
            "--set", "restitution=7", "--set", "nonsense=1", "--set", "speed",
        )
        for part in ("restitution = 7", '"nonsense"', "--set speed"):
            self.assertIn(part, message)

    # compare

    def test_compare_takes_all_normal_laws_or_those_named(self):
        everything = self.json("law", "compare")["impacts"]
        self.assertEqual([impact["law"] for impact in everything], self.laws("normal"))
        two = self.json("law", "compare", "gonthier", "hunt-crossley", "--set", "speed=0.5")
        self.assertEqual([i["law"] for i in two["impacts"]], ["gonthier", "hunt-crossley"])
        for impact in two["impacts"]:
            self.assertEqual(impact["parameters"]["speed"], 0.5)
        text = self.fine("law", "compare")
        for name in self.laws("normal"):
            self.assertIn(name, text)

    def test_compare_passes_a_parameter_to_the_laws_that_have_it(self):
        both = self.json("law", "compare", "gonthier", "hunt-crossley", "--set", "restitution=0.7")
        by_name = {i["law"]: i for i in both["impacts"]}
        self.assertAlmostEqual(by_name["gonthier"]["results"]["restitution"], 0.7, delta=1e-9)
        self.assertNotIn("restitution", by_name["hunt-crossley"]["parameters"])

    def test_compare_writes_a_plot(self):
        with tempfile.TemporaryDirectory() as folder:
            plot = pathlib.Path(folder) / "new" / "impact.svg"
            self.assertIn("impact.svg", self.fine("law", "compare", "-o", str(plot)))
            self.assertIn("<svg", plot.read_text(encoding="utf-8"))
            self.json("law", "compare", "-o", str(plot))
            blocked = pathlib.Path(folder) / "file"
            blocked.write_text("", encoding="utf-8")
            result = run("law", "compare", "-o", str(blocked / "impact.svg"))
            self.assertEqual(result.returncode, CANNOT_GO_ON)
            self.assertIn("cannot write", result.stderr)

    # plot

    def test_plot_writes_what_the_file_name_says(self):
        with tempfile.TemporaryDirectory() as folder:
            plot = pathlib.Path(folder) / "laws"
            for names in ("hertz,gonthier", "gonthier-friction"):
                for ending in ("svg", "html", "png"):
                    path = f"{plot}.{ending}"
                    self.assertIn(path, self.fine("law", "plot", names, "-o", path))
                root = xml.etree.ElementTree.parse(f"{plot}.svg").getroot()
                self.assertTrue(root.tag.endswith("svg"))
                page = pathlib.Path(f"{plot}.html").read_text(encoding="utf-8")
                self.assertIn("<!doctype html>", page)
                image = pathlib.Path(f"{plot}.png").read_bytes()
                self.assertEqual(image[:8], b"\x89PNG\r\n\x1a\n")
                width, height = struct.unpack(">II", image[16:24])
                self.assertEqual(width, 2 * int(root.get("width")))
                self.assertEqual(height, 2 * int(root.get("height")))

    def test_a_plot_of_another_kind_is_refused(self):
        for command in (["law", "plot", "hertz"], ["law", "compare", "hertz"]):
            message = self.refused(*command, "-o", "laws.pdf")
            self.assertIn("-o laws.pdf: give a file name that ends in .svg, .html or .png", message)


class StoppedImpacts(Commands):
    def test_an_impact_that_cannot_be_followed_stops_with_its_own_status(self):
        message = self.refused(
            "law", "impact", "azad-featherstone",
            "--set", "clamp=false", "--set", "damping=1e12",
            status=CANNOT_GO_ON,
        )
        self.assertIn("azad-featherstone: the bodies did not separate", message)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PROGRAM = sys.argv.pop(1)
    unittest.main()
