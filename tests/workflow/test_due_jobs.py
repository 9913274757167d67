"""What an edit makes due: exactly the jobs whose results it can change, by a dry run."""

import contextlib
import os

import pytest
import yaml

from kronbench_suite.runner.plans import load_plan
from tests import helpers
from tests.helpers import due, merged

pytestmark = pytest.mark.workflow
PLAN = load_plan(merged("smoke"))


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A copy of the checkout, its package included, whose run looks finished."""
    folder = tmp_path_factory.mktemp("checkout")
    helpers.copy_checkout(folder)
    made = [PLAN.report.parent / "compiled.json", PLAN.config_file]
    made += [*PLAN.pages, *(PLAN.report / name for name in ("claims.csv", "summary.txt"))]
    for name in {name for item in PLAN.items for name in item.datasets}:
        made += [PLAN.data_folder(name) / file for file in ("data.npz", "provenance.json")]
    for item in PLAN.items:
        made += [item.output(suffix) for suffix in item.kinds]
        for part in item.parts:
            made += [item.table(part), item.table(part).with_suffix(".json")]
    for file in made:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).touch()
    # all, also what looks up to date: --touch then records inputs, checksums and settings
    smoke = ("--cores", "2", "--configfile", "config/smoke.yaml")
    touched = helpers.snakemake(
        folder, "--touch", "--forceall", *smoke, sources=folder / "src", timeout=300
    )
    assert touched.returncode == 0, touched.stdout
    return folder


def measured(wanted):
    """Jobs of the items that a function of the item picks, with all that rests on them."""
    picked = [item for item in PLAN.items if wanted(item) and item.has_tables]
    tables = {(item.paper, item.name) for item in picked}
    jobs = {f"{item.paper} {item.name}: {part}" for item in picked for part in item.parts}
    return jobs | drawn(lambda item: (item.paper, item.tables_of) in tables)


def drawn(wanted):
    """Renderings of items, of those that take their numbers, and the page."""
    due = [item for item in PLAN.items if any(map(wanted, (item, *item.numbers_of)))]
    return PAGE | {f"draw {item.paper} {item.name}" for item in due}


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
    file.write_text(change(text))  # its date is new in any case
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
        return yaml.safe_dump(content, sort_keys=False)

    return change


def code(text):
    return text + "\nassert True\n"


def comment(text):
    return text + "\n# a comment\n"


PAGE = {"claims and pages"}
AIROLA = "src/kronbench_suite/papers/airola/paper.yaml"
# measurements that take airola's scaling or machines of linalg.lssvm_paths
WITH_THEM = ("scaling", "minimal_rank", "repeated_ranks", "low_rank")
# What is edited, file by file, and the jobs that are then due; one dry run for several edits.
EDITS = {
    "comments, arguments, what runs before the clock; words, claims, template, list of items": (
        {
            "src/kronbench_suite/papers/airola/measure/scaling.py": comment,
            "src/kronbench/cli.py": code,
            "src/kronbench_suite/runner/warm_up.py": code,
            AIROLA: in_yaml("items", "figure-3", "caption", value="Other words."),
            "src/kronbench_suite/papers/bach/claims/claims.yaml": comment,
            "src/kronbench_suite/papers/airola/claims/section-1.yaml": comment,
            "src/kronbench_suite/report/checks.py": code,
            "src/kronbench_suite/report/templates/overview.html.j2": comment,
            "src/kronbench_suite/runner/items.py": code,
        },
        PAGE,
    ),
    "one measurement, and a solver that another one takes": (
        {
            "src/kronbench_suite/papers/airola/measure/scaling.py": code,
            "src/kronbench/linalg/lssvm_paths.py": code,
        },
        measured(lambda item: item.measure in WITH_THEM),
    ),
    "the runner": (
        {"src/kronbench_suite/runner/job.py": code},
        measured(lambda item: True),
    ),
    "a format of data, and a registry entry": (
        {
            "src/kronbench/datasets/uci.py": code,
            "config/datasets.yaml": in_yaml("ringnorm", "options", "n_points", value=900),
        },
        of_data("ionosphere", "satimage", "ringnorm"),
    ),
    "a plot, printed numbers, a parameter, and the plot of another item": (
        {
            "src/kronbench_suite/papers/airola/plot/method_auc.py": code,
            "src/kronbench_suite/papers/airola/printed/table6-auc.csv": lambda text: text + "\n",
            AIROLA: lambda text: in_yaml("items", "figure-2", "plot", value="zero_shot")(
                in_yaml("items", "figure-1", "parameters", "fraction", value=0.5)(text)
            ),
        },
        measured(lambda item: (item.paper, item.name) == ("airola", "figure-1"))
        | drawn(
            lambda item: (
                item.plot == "method_auc"
                or "table6-auc.csv" in (item.printed or ())
                or (item.paper, item.name) == ("airola", "figure-2")
            )
        ),
    ),
}


@pytest.mark.parametrize("what", EDITS)
def test_an_edit_makes_due_what_it_can_change_and_nothing_else(finished, what):
    edits, jobs = EDITS[what]
    with contextlib.ExitStack() as stack:
        for file, change in edits.items():
            stack.enter_context(edited(finished / file, change))
        assert due(finished) == jobs


def test_a_lost_table_is_made_again_before_a_page_that_reads_it(finished):
    lost = PLAN.item("airola", "figure-3")
    table = finished / lost.table(lost.parts[0])
    claims = finished / "src/kronbench_suite/papers/bach/claims/claims.yaml"
    status = table.stat()
    table.unlink()
    try:
        with edited(claims, comment):
            jobs = {f"airola figure-3: {lost.parts[0]}"} | drawn(lambda item: item == lost)
            assert due(finished) == jobs
    finally:
        table.touch()
        os.utime(table, ns=(status.st_atime_ns, status.st_mtime_ns))


def test_a_mirror_of_the_same_files_makes_nothing_due(finished, tmp_path):
    """What was made without it."""
    place = tmp_path / "yamanishi" / "nr_admat_dgc.txt"
    place.parent.mkdir(parents=True)
    place.write_text("the same")
    assert due(finished, KRONBENCH_MIRROR=str(tmp_path)) == set()
