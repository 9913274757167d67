"""How Sphinx makes the pages: ``make docs``."""

import inspect
import os
import re
import sys
from pathlib import Path

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sklearn.base import BaseEstimator

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))
sys.path.insert(0, str(Path(__file__).parent))
os.environ["COLUMNS"] = "90"  # usage lines of the commands wrap alike everywhere

import examples
import results

import kronbench

project = "Kronbench"
author = "The Kronbench authors"
copyright = author
version = release = kronbench.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_argparse_cli",
    "sphinx_design",
]
exclude_patterns = [
    "_build",
    "templates",
    "reference/generated/results.md",
    "gallery/generated/cards.md",
]
templates_path = ["templates"]
nitpicky = False  # types in docstrings are words for readers, such as "(n,) array"

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
myst_linkify_fuzzy_links = False

autosummary_generate = True
autodoc_typehints = "none"  # a docstring says shapes, which types do not
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
# A sentence for each name, and no parameter that there is not. That estimators describe all of
# theirs is said by tests/models/test_documentation.py.
numpydoc_validation_checks = {"GL08", "SS02", "SS03", "PR02", "PR10"}
numpydoc_validation_exclude = {
    r"\.newton_dual$"
}  # what ``**options`` takes stands among the others

html_theme = "pydata_sphinx_theme"
html_math_renderer = "mathml"
html_title = f"Kronbench {version}"
html_static_path = ["static"]
html_css_files = ["pages.css"]
html_show_sourcelink = False
html_theme_options = {
    "header_links_before_dropdown": 9,
    "navbar_align": "left",
    "navbar_end": ["run-link", "theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
}


def _is_of_others(app, what, name, obj, skip, options):
    """Leave out what scipy and scikit-learn describe themselves."""
    if (getattr(obj, "__doc__", None) or "").startswith("Alias for field number"):
        return True
    found = getattr(obj, "fget", None) or getattr(obj, "func", None) or obj
    module = getattr(found, "__module__", None)
    return True if what == "class" and module and not module.startswith("kronbench") else skip


# In docstrings a name may end in an underscore, and bars are those of a formula; neither is a
# reference there. Literals are left as they are.
_MARKS = re.compile(r"(``.+?``|`.+?`)|(?<=[A-Za-z0-9])_(?![\w`])|\|")


def _take_marks_as_text(app, what, name, obj, options, lines):
    """Called with the lines that numpydoc has written."""
    for number, line in enumerate(lines):
        if not line.lstrip().startswith((".. ", ":", "=")):
            lines[number] = _MARKS.sub(lambda found: found[1] or f"\\{found[0]}", line)


def _signature(app, what, name, obj, options, signature, returns):
    """The parameters of an estimator, hidden from autodoc by what refuses old names."""
    if what != "class" or not issubclass(obj, BaseEstimator):
        return None
    parameters = inspect.signature(obj).parameters.values()
    bare = [parameter.replace(annotation=parameter.empty) for parameter in parameters]
    return str(inspect.Signature(bare)), returns


def _write_formula(translator, node):
    """A formula as MathML, which browsers read without a script and without the network."""
    is_block = isinstance(node, nodes.math_block)
    formula = tex2mathml(node.astext(), as_block=is_block)
    translator.body.append(f'<div class="formula">{formula}</div>' if is_block else formula)
    raise nodes.SkipNode


def _point_to_pages(app, docname, source):
    """On a forge a page links to the manual of the configuration, here to the page that has it."""
    up = "../" * docname.count("/")
    page = f"({up}reference/configuration.md)"
    source[0] = source[0].replace(f"({up}../config/README.md)", page)


def _write_results(app):
    """What the page of results includes, and the gallery, before pages are read."""
    examples.write()
    results.PAGE.parent.mkdir(exist_ok=True)
    results.PAGE.write_text(results.page(), encoding="utf-8")


def setup(app):
    """Called by Sphinx."""
    app.connect("builder-inited", _write_results)
    app.connect("source-read", _point_to_pages)
    app.add_html_math_renderer("mathml", (_write_formula, None), (_write_formula, None))
    app.connect("autodoc-process-signature", _signature)
    app.connect("autodoc-skip-member", _is_of_others)
    app.connect("autodoc-process-docstring", _take_marks_as_text, priority=900)
