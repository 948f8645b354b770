"""The commands `bristle material …` and the tuned impacts of `bristle law …`.

usage: material_test.py BRISTLE REPOSITORY
"""

import json
import math
import pathlib
import subprocess
import sys
import unittest

BRISTLE, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])


def bristle(*arguments):
    return subprocess.run([BRISTLE, *arguments], capture_output=True, text=True)


def output(*arguments):
    done = bristle(*arguments)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "", done.stderr
    return done.stdout


def answer(*arguments):
    return json.loads(output(*arguments, "--json"))


STEEL_ON_BRASS = ("--materials", "steel,brass", "--radius", "0.0127")


class Materials(unittest.TestCase):
    def test_list_names_every_material(self):
        names = [m["name"] for m in answer("material", "list")["materials"]]
        self.assertEqual(len(names), 14)
        text = output("material", "list")
        for name in names:
            self.assertIn(name, text)
            self.assertEqual(answer("material", "show", name)["name"], name)

    def test_show_has_ranges_and_sources(self):
        steel = answer("material", "show", "steel")
        self.assertEqual(steel["youngs_modulus_Pa"]["value"], 200e9)
        self.assertLess(steel["youngs_modulus_Pa"]["low"], 200e9)
        for key in ("youngs_modulus_Pa", "poissons_ratio", "density_kg_per_m3"):
            self.assertTrue(steel[key]["source"])
            self.assertIn(steel[key]["source"], output("material", "show", "steel"))

    def test_pair_gives_moduli_stiffness_mass_and_friction(self):
        pair = answer("material", "pair", "steel", "brass", "--radius_m", "0.0127")
        modulus = 1 / ((1 - 0.29**2) / 200e9 + (1 - 0.33**2) / 110e9)
        self.assertAlmostEqual(pair["equivalent_modulus_Pa"] / modulus, 1, 12)
        stiffness = 4 / 3 * modulus * math.sqrt(0.0127)
        bodies = pair["bodies"]
        self.assertAlmostEqual(bodies["hertz_stiffness_N_per_m1.5"] / stiffness, 1, 12)
        self.assertAlmostEqual(pair["clutch_stiffness_N_per_m1.5"] / stiffness, 1.5, 12)
        mass = 4 / 3 * math.pi * 0.0127**3 * 7850
        self.assertAlmostEqual(bodies["mass_kg"] / mass, 1, 12)
        self.assertEqual(pair["friction"]["static"]["value"], 0.51)
        self.assertIn("78.8618 GPa", output("material", "pair", "steel", "brass"))

    def test_two_balls_have_an_equivalent_radius_and_a_reduced_mass(self):
        pair = answer("material", "pair", "brass", "brass", "--radius_m", "0.015",
                      "--radius2_m", "0.015")
        self.assertAlmostEqual(pair["bodies"]["equivalent_radius_m"], 0.0075, 15)
        self.assertAlmostEqual(pair["bodies"]["mass_kg"] / pair["ball_mass_kg"], 0.5, 12)

    def test_a_pair_without_friction_says_so(self):
        pair = answer("material", "pair", "lead", "brass")
        self.assertIsNone(pair["friction"])
        self.assertIn("not tabulated", pair["friction_missing"])
        self.assertIn("not tabulated", output("material", "pair", "lead", "brass"))

    def test_bristles_under_a_load_warn_of_a_small_stribeck_speed(self):
        common = ("material", "pair", "steel", "brass", "--radius_m", "0.0127", "--load_N", "10")
        good = answer(*common)["bristles"]
        self.assertEqual(good["warning"], "")
        self.assertAlmostEqual(good["breakaway_force_N"], 5.1, 12)
        bad = answer(*common, "--stribeck_speed_m_per_s", "1e-6")["bristles"]
        self.assertIn("is too small", bad["warning"])
        self.assertLess(bad["breakaway_force_N"], 5.1)

    def test_bad_input_is_refused_with_the_nearest_name(self):
        for arguments, message in (
            (("material", "show", "stel"), 'did you mean "steel"?'),
            (("material", "pair", "steel", "bras"), 'did you mean "brass"?'),
            (("material", "pair", "steel", "brass", "--radius_m", "-1"), "above 0 m"),
            (("material", "pair", "steel", "brass", "--load_N", "3"), "--radius_m is needed"),
            (("law", "compare", "--materials", "steel,bras", "--radius", "1"), '"brass"?'),
            (("law", "compare", "--materials", "steel", "--radius", "1"), "name two"),
            (("law", "compare", "--materials", "steel,brass"), "needs --radius"),
            (("law", "compare", "--radius", "1"), "needs --materials"),
            (("law", "compare", "--restitution", "1.4"), "must lie in (0, 1]"),
            (("law", "impact", "gonthier", "--restitution", "0"), "must lie in (0, 1]"),
            (("law", "impact", "gonthier", "--restitution", "0.0001"), "reaches [0.001, 1]"),
            (("law", "impact", "gonthier", "--restitution", "0.5", "--set", "restitution=0.4"),
             "tunes restitution"),
        ):
            done = bristle(*arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(message, done.stderr)
            self.assertEqual(done.stdout, "")


class TunedImpacts(unittest.TestCase):
    def test_which_law_gives_0_7_for_steel_on_brass(self):
        compared = answer("law", "compare", *STEEL_ON_BRASS, "--restitution", "0.7",
                          "--set", "speed=1")
        self.assertEqual(compared["restitution_asked"], 0.7)
        self.assertGreaterEqual(len(compared["impacts"]), 3)
        for run in compared["impacts"]:
            self.assertAlmostEqual(run["results"]["restitution"], 0.7, 9)
            self.assertEqual(run["parameters"][run["tuned"]["name"]], run["tuned"]["value"])
            self.assertGreater(run["results"]["peak_force_N"], 1000)
            self.assertLess(run["results"]["contact_time_s"], 2e-4)
        for law in compared["without_answer"]:
            self.assertIn("cannot give restitution", law["reason"])
        hunt = next(r for r in compared["impacts"] if r["law"] == "hunt-crossley")
        V = hunt["tuned"]["value"]  # at 1 m/s
        self.assertAlmostEqual(V - math.log1p(V), -0.7 * V - math.log1p(-0.7 * V), 12)
        text = output("law", "compare", *STEEL_ON_BRASS, "--restitution", "0.7")
        self.assertIn("dissipation = 0.634828 s/m", text)

    def test_impact_is_tuned_first(self):
        run = answer("law", "impact", "azad-featherstone", "--restitution", "0.6",
                     *STEEL_ON_BRASS, "--set", "speed=3")
        self.assertAlmostEqual(run["results"]["restitution"], 0.6, 9)
        self.assertEqual(run["tuned"]["name"], "damping")
        self.assertEqual(run["bodies"]["ball"], "steel")
        self.assertAlmostEqual(run["parameters"]["mass"], run["bodies"]["mass_kg"], 15)

    def test_what_is_set_wins_over_the_materials(self):
        run = answer("law", "impact", "gonthier", *STEEL_ON_BRASS, "--set", "mass=1",
                     "--set", "stiffness=1e9")
        self.assertEqual(run["parameters"]["mass"], 1)
        self.assertEqual(run["parameters"]["stiffness"], 1e9)

    def test_without_the_new_options_nothing_changes(self):
        compared = answer("law", "compare")
        self.assertEqual(list(compared), ["impacts"])
        self.assertEqual(list(compared["impacts"][0]), ["law", "parameters", "results"])


class Documentation(unittest.TestCase):
    def test_the_tables_in_the_docs_are_those_of_the_program(self):
        page = (ROOT / "docs" / "materials.md").read_text(encoding="utf-8")
        for block in output("material", "list", "--markdown").strip().split("\n\n"):
            self.assertIn(block, page, "update with: bristle material list --markdown")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
