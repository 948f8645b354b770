# Configuration of the site: Sphinx reads docs/*.md with MyST, and what Doxygen says of the public headers.
# tools/site calls it.

import os
import pathlib
import re

folder = pathlib.Path(__file__).resolve().parent
version_header = (folder.parent / "engine/core/version.hpp").read_text()

project = "Bristle"
author = "the Bristle authors"
copyright = "the Bristle authors, BSD 3-clause"
release = version = re.search(r'"(\d+\.\d+\.\d+)"', version_header)[1]

extensions = ["myst_parser", "sphinx.ext.mathjax", "breathe"]
exclude_patterns = ["theory/prose"]
root_doc = "index"

myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 4
# Equations are marked for MathJax by Sphinx itself.
myst_update_mathjax = False

breathe_projects = {"bristle": os.environ.get("BRISTLE_API_XML", str(folder.parent / "build/docs/.xml"))}
breathe_default_project = "bristle"
breathe_default_members = ("members",)
cpp_id_attributes = ["BRISTLE_INLINE", "BRISTLE_HOST_DEVICE"]
primary_domain = "cpp"
highlight_language = "text"
# Code in the pages may leave something out (…), which no lexer knows.
suppress_warnings = ["misc.highlighting_failure"]

html_theme = "furo"
html_title = f"Bristle {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
pygments_style = "default"  # its colours have enough contrast on white
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"sidebar_hide_name": False}
# The site needs no network: tools/site puts MathJax beside the pages.
mathjax_path = "mathjax/MathJax.js?config=TeX-AMS_SVG"
mathjax_options = {"defer": "defer"}
mathjax2_config = {
    "tex2jax": {"inlineMath": [["\\(", "\\)"]], "displayMath": [["\\[", "\\]"]],
                "processClass": "tex2jax_process|mathjax_process|math"},
    "SVG": {"linebreaks": {"automatic": True, "width": "container"}},
    "showMathMenu": False,
    "messageStyle": "none",
}

# Folders whose README.md lists their pages: in the site's tree of contents, these hang below it.
SECTIONS = {"theory/README", "papers/README", "decisions/README"}


def adapt(app, name, source):
    """The pages are written to be read in the repository as well; here is what differs on the site."""
    if name in SECTIONS:
        source[0] += "\n\n```{toctree}\n:hidden:\n:glob:\n\n*\n```\n"
    if name == "contributing":
        source[0] = (folder.parent / "CONTRIBUTING.md").read_text().replace("](docs/", "](")
    else:
        source[0] = re.sub(r"\]\((\.\./)*CONTRIBUTING\.md", lambda link: f"]({link[1] or ''}contributing.md", source[0])
        source[0] = source[0].replace("](../contributing.md", "](contributing.md") if "/" not in name else source[0]
    # Files and folders outside docs/ are no pages.
    source[0] = re.sub(r"\[([^]]+)\]\((?:\.\./)*(?:examples|scenes|engine|LICENSE|README)[^)]*\)", r"\1", source[0])


def say_levels(app, name, template, context, tree):
    """Captions of the sidebar are headings; readers of screens need their level."""
    sidebar = context.get("furo_navigation_tree", "")
    context["furo_navigation_tree"] = sidebar.replace('role="heading"', 'role="heading" aria-level="2"')


def setup(app):
    app.connect("source-read", adapt)
    app.connect("html-page-context", say_levels, priority=900)
