"""What an edit makes due: exactly the jobs whose results it can change, by a dry run."""

import contextlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from kronbench.bench.items import load_plan
from tests.helpers import merged

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.workflow
PLAN = load_plan(merged("smoke"))


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A copy of the checkout, its package included, whose run looks finished."""
    folder = tmp_path_factory.mktemp("checkout")
    shutil.copy(ROOT / "Snakefile", folder)
    for name in ("workflow", "config", "src"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "profiles").symlink_to("workflow/profiles")
    made = [PLAN.report.parent / "compiled.json"]
    made += [PLAN.report / name for name in ("index.html", "claims.csv", "summary.txt")]
    for name in PLAN.datasets:
        made += [PLAN.data_folder(name) / file for file in ("data.npz", "provenance.json")]
    for item in PLAN.items:
        made += [item.output(suffix) for suffix in ("csv", "pdf", "png", "json")]
        for part in item.parts:
            made += [item.table(part), item.table(part).with_suffix(".json")]
    for file in made:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).touch()
    # all, also what looks up to date: --touch then records inputs, checksums and settings
    touched = snakemake(folder, "--touch", "--forceall")
    assert touched.returncode == 0, touched.stdout
    return folder


def snakemake(folder, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "snakemake", "--cores", "2", *arguments]
        + ["--configfile", "config/smoke.yaml"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder / "src"), "KRONBENCH_MIRROR": ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )


def due(folder):
    """Messages of the jobs that a run would start, without the target that has no shell."""
    run = snakemake(folder, "--dry-run")
    assert run.returncode == 0, run.stdout
    jobs = set(re.findall(r"^due: (.*?)  \(", run.stdout, re.MULTILINE)) - {"all"}
    assert jobs or "Nothing to be done" in run.stdout, run.stdout
    return jobs


def measured(wanted):
    """Jobs of the items that a function of the item picks, with all that rests on them."""
    picked = [item for item in PLAN.items if wanted(item) and item.tables_of == item.name]
    tables = {(item.paper, item.name) for item in picked}
    jobs = {f"{item.paper} {item.name}: {part}" for item in picked for part in item.parts}
    return jobs | drawn(lambda item: (item.paper, item.tables_of) in tables)


def drawn(wanted):
    return PAGE | {f"draw {item.paper} {item.name}" for item in PLAN.items if wanted(item)}


def of_data(*names):
    """Data sets with every job that reads one of them, at whatever item."""
    jobs, drawings = {f"data {name}" for name in names}, set()
    for item in PLAN.items:
        parts = [part for part in item.datasets if part.lower() in names]
        if parts:
            drawings |= drawn(lambda other, item=item: other == item)
            jobs |= {f"{item.paper} {item.tables_of}: {part}" for part in parts}
    return jobs | drawings


@contextlib.contextmanager
def edited(file, change):
    """A file with another text; the text and the date of before come back."""
    text, status = file.read_text(), file.stat()
    file.write_text(change(text))
    try:
        yield
    finally:
        file.write_text(text)
        os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))


def in_yaml(*keys, value):
    """An edit that sets one entry of a YAML file."""

    def change(text):
        content = place = yaml.safe_load(text)
        for key in keys[:-1]:
            place = place[key]
        assert place.get(keys[-1]) != value
        place[keys[-1]] = value
        return yaml.safe_dump(content)

    return change


PAGE = {"claims and page"}
COMMENT = "\n# a comment\n"
EVERYTHING = measured(lambda item: True)
EDITS = {
    # one experiment, and no other
    "src/kronbench/experiments/scaling.py": measured(lambda item: item.experiment == "scaling"),
    # a solver: the items that name it or whose experiment takes it
    "src/kronbench/models/csi_lssvm.py": measured(lambda item: item.experiment == "minimal_rank"),
    "src/kronbench/models/pair_rlscore.py": measured(
        lambda item: "RLScore" in str(item.parameters)
    ),
    # the runner, its clock, the settings of threads
    "src/kronbench/bench/job.py": EVERYTHING,
    "src/kronbench/bench/environment.py": EVERYTHING,
    "src/kronbench/__init__.py": EVERYTHING,
    # names, arguments, and what runs before the clock
    "src/kronbench/bench/items.py": PAGE,
    "src/kronbench/cli.py": set(),
    "src/kronbench/bench/warm_up.py": set(),
    # a format of data: its data sets, and what is measured on them
    "src/kronbench/datasets/uci.py": of_data("boston", "cmc", "ionosphere"),
    "src/kronbench/datasets/fetch.py": of_data(*PLAN.datasets),
    # pictures
    "src/kronbench/report/drawings/zero_shot.py": drawn(
        lambda item: item.drawing in ("zero_shot", "ninefold")  # ninefold takes its colours
    ),
    "src/kronbench/report/style.py": drawn(lambda item: True),
    "config/paper_values/airola-2018-table6-auc.csv": drawn(
        lambda item: "airola-2018-table6-auc.csv" in (item.printed or ())
    ),
    # the page
    "src/kronbench/report/checks.py": PAGE,
    "src/kronbench/report/templates/page.html.j2": PAGE,
}


SETTINGS = {
    "a caption": ("papers/airola.yaml", ("items", "figure-3", "caption"), "Other words.", PAGE),
    "a parameter": (
        "papers/airola.yaml",
        ("items", "figure-1", "parameters", "fraction"),
        0.5,
        measured(lambda item: (item.paper, item.name) == ("airola", "figure-1")),
    ),
    "another drawing": (
        "papers/airola.yaml",
        ("items", "figure-1", "drawing"),
        "ninefold",
        drawn(lambda item: (item.paper, item.name) == ("airola", "figure-1")),
    ),
    "a registry entry": (
        "datasets.yaml",
        ("ringnorm", "options", "n_points"),
        900,
        of_data("ringnorm"),
    ),
}


def test_nothing_is_due_after_a_run(finished):
    assert due(finished) == set()


def test_a_new_date_alone_makes_nothing_due(finished):
    (finished / "src/kronbench/experiments/scaling.py").touch()
    assert due(finished) == set()


@pytest.mark.parametrize("file", EDITS)
def test_an_edit_makes_due_what_it_can_change(finished, file):
    with edited(finished / file, lambda text: text + COMMENT):
        assert due(finished) == EDITS[file]


@pytest.mark.parametrize("what", SETTINGS)
def test_a_setting_makes_due_what_it_can_change(finished, what):
    file, keys, value, jobs = SETTINGS[what]
    with edited(finished / "config" / file, in_yaml(*keys, value=value)):
        assert due(finished) == jobs


def test_claims_are_judged_again(finished):
    file, *_ = sorted((finished / "config").glob("claims*/*.yaml")) or [
        finished / "config/claims.yaml"
    ]
    with edited(file, lambda text: text + COMMENT):
        assert due(finished) == PAGE
