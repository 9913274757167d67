"""What pages and files of the project say of the package is what the package has."""

import ast
import importlib
import inspect
import json
import operator
import re
import runpy
from dataclasses import fields

import pandas as pd
import pytest
import yaml

import kronbench
from kronbench import PairData
from kronbench.models import KronRidge
from kronbench_suite.report.checks import CHECKS
from kronbench_suite.resources import package_path
from kronbench_suite.runner import clock, seeds
from kronbench_suite.runner.plans import load_scales
from tests.docs.pages import DOCS, ROOT

ROOMS = ("models", "pairs", "linalg", "class_tree", "evaluation", "datasets")


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_name_is_in_the_reference_once(room):
    text = (DOCS / "reference" / f"{room}.md").read_text(encoding="utf-8")
    listed = re.findall(r"^   ([A-Za-z]\w*)$", text, re.MULTILINE)
    assert sorted(listed) == sorted(importlib.import_module(f"kronbench.{room}").__all__)


def test_the_models_that_the_table_recommends_exist():
    text = (DOCS / "which-model.md").read_text(encoding="utf-8")
    names = set(re.findall(r"`([A-Z]\w+)", text))
    assert len(names) > 10
    assert names <= {*importlib.import_module("kronbench.models").__all__}
    rows = re.findall(r"^\| .* \|$", text, re.MULTILINE)[1:]  # without the names of the columns
    items = {f"{item.paper} {item.name}" for item in load_scales()[0].items}
    for row in rows:
        shown_by = re.findall(r"`([a-z]+ [a-z0-9./-]+)`", row.rsplit("|", 2)[1])
        assert shown_by, row
        assert items.issuperset(shown_by)


def test_the_page_of_measurements_has_all_that_papers_take_of_the_runner():
    script = runpy.run_path(str(DOCS / "measurements.py"))
    written = (DOCS / "reference" / "measurements.md").read_text(encoding="utf-8")
    assert written == script["page"](), "write it with: python docs/measurements.py"
    listed = {
        (module.__name__, name) for module, names in script["SECTIONS"].values() for name in names
    }
    modules = {module for module, _ in listed if module.startswith("kronbench_suite.")}
    taken = set()
    for file in package_path().glob("[ps]*/*/[mp]*/*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module in modules:
                taken |= {(node.module, alias.name) for alias in node.names}
    assert len(taken) > 8
    assert taken <= listed, taken - listed
    # Of the clock and the seeds all that is public, taken or not.
    for module in (clock, seeds):
        public = {name for name, thing in vars(module).items() if name[0] != "_"}
        own = {
            name
            for name in public
            if getattr(getattr(module, name), "__module__", module.__name__) == module.__name__
            and not inspect.ismodule(getattr(module, name))
        }
        assert {(module.__name__, name) for name in own - {"annotations"}} <= listed


def test_the_page_of_checks_has_each_of_them_as_its_docstring_says():
    script = runpy.run_path(str(DOCS / "checks.py"))
    written = (DOCS / "reference" / "checks.md").read_text(encoding="utf-8")
    assert written == script["page"](), "write it with: python docs/checks.py"
    assert all(f"\n## {kind}\n" in written for kind in CHECKS)


def test_the_notebook_has_the_blocks_of_its_page(monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    script = runpy.run_path(str(DOCS / "notebook.py"))
    assert script["PAGE"].with_suffix(".ipynb").read_text("utf-8") == script["notebook"]()


def test_the_list_of_data_sets_is_that_of_the_registry():
    script = runpy.run_path(str(DOCS / "data_sets.py"))
    written = (DOCS / "data-sets.md").read_text(encoding="utf-8")
    assert written == script["page"](), "write it with: python docs/data_sets.py"
    registry = yaml.safe_load((ROOT / "config" / "datasets.yaml").read_text(encoding="utf-8"))
    assert all(f"`{name}`" in written for name in registry)


def test_the_results_tell_every_claim_that_the_accepted_run_leaves_open_or_contradicts(
    monkeypatch,
):
    monkeypatch.chdir(ROOT)
    script = runpy.run_path(str(DOCS / "results.py"))
    written, plan = script["page"](), script["plan_of_scale"]("paper")
    accepted = pd.read_csv(ROOT / "results/reference/paper/verdicts.csv", keep_default_na=False)
    claims = {claim["id"] for claim in script["load_statements"](plan).claims}
    accepted = accepted[accepted["id"].isin(claims)]  # others have gone since
    for verdict in ("contradicted", "undecided"):
        sections = re.findall(rf"^### {verdict.capitalize()}.*?(?=^##|\Z)", written, re.M | re.S)
        told = sum(len(re.findall("^- ", section, re.M)) for section in sections)
        assert told == (accepted["verdict"] == verdict).sum()
    records = (ROOT / "results/reference/paper").glob("*/tables/**/*.json")
    skipped = {line for file in records for line in json.loads(file.read_text())["skipped"]}
    section = re.search(r"^## What was left out\n\n((?:- .*\n)+)", written, re.M)
    assert len(re.findall("^- ", section[1], re.M)) == len(skipped) > 0


def test_the_version_to_cite_is_that_of_the_package():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    codemeta = json.loads((ROOT / "codemeta.json").read_text(encoding="utf-8"))
    assert citation["version"] == codemeta["version"] == kronbench.__version__


def test_authors_and_address_are_those_of_the_citation_file():
    for name, text in runpy.run_path(str(DOCS / "owners.py"))["files"]().items():
        assert (ROOT / name).read_text(encoding="utf-8") == text, "write it: python docs/owners.py"


def test_what_a_path_returns_is_in_the_reference_with_all_that_it_holds():
    text = (DOCS / "reference" / "models.md").read_text(encoding="utf-8")
    directive = re.search(r"^\.\. autoclass:: (\S+\.RidgePath)\n   :members:$", text, re.MULTILINE)
    module, name = directive[1].rsplit(".", 1)
    path = getattr(importlib.import_module(module), name)
    assert isinstance(KronRidge().path(PairData.complete([[1.0]], [[2.0]]), [3.0], [1.0]), path)
    described = re.findall(r"^ +(\w+) : ", path.__doc__, re.MULTILINE)
    assert described == [field.name for field in fields(path)]


def test_the_ten_names_to_begin_with_are_there():
    names = re.findall(r"`kronbench\.([\w.]+)`", kronbench.__doc__)
    assert len(names) == 10
    assert all(operator.attrgetter(name)(kronbench) is not None for name in names)
