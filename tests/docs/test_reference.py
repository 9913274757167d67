"""What pages and files of the project say of the package is what the package has."""

import importlib
import json
import re
import runpy

import pandas as pd
import pytest
import yaml

import kronbench
from kronbench.runner.items import load_scales
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
    written = runpy.run_path(str(DOCS / "results.py"))["page"]()
    accepted = pd.read_csv(ROOT / "results/reference/paper/verdicts.csv", keep_default_na=False)
    for verdict in ("contradicted", "undecided"):
        sections = re.findall(rf"^### {verdict.capitalize()}.*?(?=^##|\Z)", written, re.M | re.S)
        told = sum(len(re.findall("^- ", section, re.M)) for section in sections)
        assert told == (accepted["verdict"] == verdict).sum()
    records = (ROOT / "results/reference/paper").glob("*/tables/**/*.json")
    skipped = {line for file in records for line in json.loads(file.read_text())["skipped"]}
    section = re.search(r"^## What was left out\n\n((?:- .*\n)+)", written, re.M)
    assert len(re.findall("^- ", section[1], re.M)) == len(skipped) > 0


def test_the_readme_gets_the_matrix_of_the_accepted_verdicts(tmp_path):
    rows = [
        ("a", "airola", "paper", "holds"),
        ("b", "airola", "paper", "contradicted"),
        ("c", "airola", "paper", "undecided"),
        ("d", "airola", "ours", "undecided"),
        ("e", "airola", "ours", "holds"),
        ("f", "performance", "ours", "undecided"),
        ("g", "field", "field", "contradicted"),
    ]
    verdicts = pd.DataFrame(rows, columns=["id", "paper", "whose", "verdict"])
    verdicts["asks"] = ["new data" if name in "cd" else "these data" for name in verdicts["id"]]
    verdicts = verdicts.assign(item="figure-1", timing=False, cause="", measured="1")
    verdicts.to_csv(tmp_path / "verdicts.csv", index=False)
    machine = {"cpu": "a cpu", "cores": 2, "last": "2026-11-21T20:00:00"}
    (tmp_path / "machine.json").write_text(json.dumps(machine))
    script = runpy.run_path(str(DOCS / "results.py"))
    begin, end = script["BEGIN"], script["END"]
    text = f"before\n{begin}\nprevious\n{end}\nafter\n"
    for _ in range(2):
        text = script["with_matrix"](text, tmp_path)
    heads = "| paper | asks of | holds | undecided | contradicted | not tested | our own |"
    assert text.startswith(f"before\n{begin}\n{heads}\n")
    assert "| `airola` | these data | 1 | 0 | 1 | 0 | 1 of 1 |" in text
    assert "| `airola` | new data | 0 | 1 | 0 | 0 | 0 of 1 |" in text
    assert "| `performance` | these data | 0 | 0 | 0 | 0 | 0 of 1 |" in text
    assert "| `field` | these data | 0 | 0 | 1 | 0 | 0 |" in text
    assert text.endswith(f"2026-11-21, a cpu, 2 cores.\n{end}\nafter\n")


def test_the_terms_name_each_repository_that_a_data_set_comes_from():
    """Where it comes from several; of one the terms may say: the copy."""
    unknown = "terms of the pinned copies not known"
    registry = yaml.safe_load((ROOT / "config" / "datasets.yaml").read_text(encoding="utf-8"))
    several = 0
    for name, entry in registry.items():
        urls = json.dumps(entry.get("files", {}))
        found = set(re.findall(r"githubusercontent\.com/[^/]+/([^/]+)/", urls))
        if len(found) > 1 and unknown not in " ".join(entry["licence"].split()):
            several += 1
            assert all(repository in entry["licence"] for repository in found), (name, found)
    assert several >= 3


def test_each_picture_is_drawn_by_a_function():
    source = (DOCS / "pictures.py").read_text(encoding="utf-8")
    drawn = re.search(r"^PICTURES = \((.*)\)$", source, re.MULTILINE)[1].split(", ")
    found = {path.stem.replace("-", "_") for path in (DOCS / "pictures").iterdir()}
    assert {*drawn} == found


def plain(text):
    """A title or name without braces and accents' commands, in small letters."""
    return re.sub(r"\\\W|[{}]", "", text).lower()


def bibliography():
    """Fields of each entry of the paper's bibliography, by its key."""
    text = (ROOT / "paper" / "paper.bib").read_text(encoding="utf-8")
    entries = re.findall(r"^@\w+\{([\w-]+),\n(.*?)^\}", text, re.MULTILINE | re.DOTALL)
    field = re.compile(r"^  (\w+) *= (?:\{(.*)\}|(\w+)),?$", re.MULTILINE)
    return {key: {name: a or b for name, a, b in field.findall(body)} for key, body in entries}


def test_the_version_is_told_and_the_papers_are_cited_alike():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    codemeta = json.loads((ROOT / "codemeta.json").read_text(encoding="utf-8"))
    assert citation["version"] == codemeta["version"] == kronbench.__version__
    assert citation["title"] == codemeta["name"]
    entries = {plain(entry["title"]): entry for entry in bibliography().values()}
    for paper, other in zip(citation["references"], codemeta["citation"], strict=True):
        assert paper["title"] == other["name"]
        entry = entries[plain(paper["title"])]
        names = [author["family-names"] for author in paper["authors"]]
        assert [name.split(",")[0] for name in entry["author"].split(" and ")] == names
        assert [author["familyName"] for author in other["author"]] == names
        assert entry["year"] == str(paper["year"]) == other["datePublished"]
        assert entry.get("doi") == paper.get("doi")
        if "doi" in paper:
            assert other["identifier"] == f"https://doi.org/{paper['doi']}"
        if "start" in paper:
            assert entry["pages"] == f"{paper['start']}--{paper['end']}"
    cited = {plain(paper["title"]) for paper in citation["references"]}
    for paper in ("airola", "stock", "seeger", "bach"):
        item = yaml.safe_load((ROOT / "src/kronbench/papers" / paper / "paper.yaml").read_text())
        assert plain(item["title"]) in cited


def test_the_paper_cites_what_its_bibliography_has():
    paper = (ROOT / "paper" / "paper.md").read_text(encoding="utf-8")
    assert set(re.findall(r"@([\w-]+\d{4}[\w-]*)", paper)) == set(bibliography())
    body = paper.split("---\n")[2]
    assert 750 <= len(body.split()) <= 1750  # words and sections that the journal asks for
    assert re.findall(r"^# (.+)$", body, re.MULTILINE) == [
        "Summary",
        "Statement of need",
        "State of the field",
        "Software design",
        "Research impact statement",
        "AI usage disclosure",
        "Acknowledgements",
        "References",
    ]


def test_the_readme_is_a_first_page():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120
