import copy
from pathlib import Path

import pytest
import yaml
from snakemake.utils import update_config

from kronbench.errors import InputError
from kronbench.resources import config_path
from kronbench.solvers import SolverMissing, make_solver
from kronbench.yaml_files import read_yaml
from kronbench_suite.cli import main
from kronbench_suite.resources import paper_folder
from kronbench_suite.runner import job, plans
from kronbench_suite.runner.job import run_job
from kronbench_suite.runner.plans import check_scale, load_plan
from tests.helpers import merged


@pytest.mark.parametrize("scale", [None, "smoke", "paper"])
def test_every_scale_makes_every_item(scale):
    plan = load_plan(merged(scale))
    assert plan.scale == (scale or "default")
    for paper in plan.papers:
        assert {item.name for item in plan.items if item.paper == paper} == set(
            read_yaml(paper_folder(paper).path / "paper.yaml")["items"]
        )


@pytest.mark.parametrize("scale", [None, "smoke", "paper"])
def test_the_name_of_a_scale_is_for_its_own_settings(scale):
    config = merged(scale) | {"data": "real", "mirror": "/a/folder"}
    check_scale(load_plan(config))
    other = config | {"time_cap": 7}
    with pytest.raises(InputError, match=f"time_cap is 7; .* own scale '{config['scale']}' it is"):
        check_scale(load_plan(other))
    check_scale(load_plan(other | {"scale": "mine"}))


@pytest.mark.parametrize(
    ("first", "change", "place"),
    [
        (
            "smoke",
            read_yaml(config_path("paper.yaml")),
            r"^papers\.airola\.figure-3\.folds is \[0\]; .* own scale 'paper' it is not set",
        ),
        (None, {"scale": "smoke"}, "time_cap is 60; in the project's own scale 'smoke' it is 5"),
    ],
)
def test_scales_laid_over_each_other_are_neither(first, change, place):
    config = merged(first)
    update_config(config, change)
    with pytest.raises(InputError, match=place):
        check_scale(load_plan(config))


def change(path, value):
    config = copy.deepcopy(merged())
    place = config
    for key in path[:-1]:
        place = place.setdefault(key, {})
    place[path[-1]] = value
    return config


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        (("sede",), 1, "the configuration: unknown key 'sede'; known are: scale, seed"),
        (("data",), "fake", "data: 'fake' is not one of"),
        (("papers", "airola", "figure-99"), {}, "papers.airola: there is no item 'figure-99'"),
        (
            ("papers", "airola", "figure-3"),
            {"fold": [0]},
            "papers.airola.figure-3: unknown key 'fold'",
        ),
        (("papers", "nobody"), {}, "there is no paper 'nobody'; known are: airola"),
        (
            ("papers", "bach", "figure-2"),
            {"splits": "ten"},
            "papers.bach.figure-2: splits is 'ten'; give a number, such as 10",
        ),
        (
            ("papers", "airola", "figure-3"),
            {"folds": 0},
            "papers.airola.figure-3: folds is 0; give a list or mapping, such as",
        ),
        *(
            (
                ("papers", "airola", item),
                {key: value},
                rf"papers\.airola\.{item}: {key}: there is no fold {told}; known are: \[0, 1, 2, ",
            )
            for item, key, value, told in [
                ("figure-6", "folds", [0, 9], "9"),
                ("figure-1", "fold", 12, "12"),
            ]
        ),
        (
            ("papers", "field", "table-3"),
            {"folds": ["deepdta-1", "deepdta-9"]},
            "there is no fold 'deepdta-9'; known are: .'deepdta-1', 'deepdta-2', 'deepdta-3'",
        ),
        (
            ("papers", "airola", "figure-1"),
            {"n_row_folds": 4},
            "unknown key 'n_row_folds'; this item knows: datasets, fraction, shows, fold$",
        ),
        (
            ("papers", "airola", "figure-3"),
            {"solver": "kronbench.models.KronRigde"},
            "airola figure-3: unknown solver path 'kronbench.models.KronRigde'",
        ),
        (
            ("papers", "airola", "table-6"),
            {"methods": {"A": {"solver": "kronbench.models.KronSVM"}, "B": {"solvr": "x.Y"}}},
            "airola table-6: methods: B has no import path under the key 'solver'; it has 'solvr'",
        ),
        (("user",), {"path": "/no/such/folder"}, "user.path: /no/such/folder is not a folder"),
    ],
)
def test_bad_configuration_is_named(path, value, sentence):
    with pytest.raises(InputError, match=sentence):
        load_plan(change(path, value))


@pytest.mark.parametrize(
    "mirror", ["https://me:secret@example.org/data", "http://example.org/data?key=secret"]
)
def test_a_password_does_not_get_beside_the_results(mirror, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("own.yaml").write_text(yaml.safe_dump(change(("mirror",), mirror)))
    assert main(["run", "airola", "figure-1", "GPCR", "--config", "own.yaml"]) == 2
    said = capsys.readouterr().err
    assert "mirror: " in said
    assert "KRONBENCH_MIRROR" in said
    assert "secret" not in said
    assert [path.name for path in tmp_path.rglob("*")] == ["own.yaml"]


@pytest.mark.parametrize("mirror", ["/a/folder", "https://example.org/data", "odd?name", None])
def test_a_mirror_without_a_password_is_kept(mirror):
    assert load_plan(change(("mirror",), mirror)).config["mirror"] == mirror


def test_a_solver_of_another_package_may_be_missing():
    load_plan(change(("papers", "airola", "figure-3"), {"solver": "elsewhere.Solver"}))


def test_an_item_may_draw_the_tables_of_another():
    config = change(("papers", "airola", "table-6"), {"datasets": ["GPCR"]})
    plan = load_plan(config)
    source, second = plan.item("airola", "table-6"), plan.item("airola", "table-7")
    assert second.table("GPCR") == source.table("GPCR")
    assert second.output("csv") != source.output("csv")
    assert (second.parts, second.parameters) == (("GPCR",), source.parameters)
    with pytest.raises(
        InputError, match="table-7 draws the tables of table-6: set these keys there"
    ):
        load_plan(change(("papers", "airola", "table-7"), {"folds": [0]}))


def test_an_item_may_bring_the_numbers_of_others_together(monkeypatch):
    plan = load_plan(merged())
    item = plan.item("performance", "figure-3")
    assert not item.has_tables
    assert item.parts == ()
    assert plan.item("airola", "table-7") in item.numbers_of
    numbers = tuple(other.output("csv") for other in item.numbers_of)
    assert tuple(file for file in item.drawn_from if file.suffix == ".csv") == numbers
    first = item.numbers_of[0]
    table = first.table(first.parts[0])
    assert {numbers[0].with_suffix(".json"), table.with_suffix(".json")} < {*item.drawn_from}
    with pytest.raises(InputError, match=r"set these keys there \(airola/figure-7, "):
        load_plan(change(("papers", "performance", "figure-3"), {"datasets": ["Ki"]}))

    alone = load_plan(merged() | {"papers": {"performance": {}}})
    taken = {other.paper for other in alone.item("performance", "figure-3").numbers_of}
    assert taken == {"performance"}

    def read(path):
        content = read_yaml(path)
        if path.parent.name == "performance":
            content["items"]["figure-3"]["numbers_of"].append(wrong)
        return content

    monkeypatch.setattr(plans, "read_yaml", read)
    for wrong in ("airola/figure-70", "performance/figure-3"):
        with pytest.raises(InputError, match=f"figure-3 takes the numbers of '{wrong}': give an"):
            load_plan(merged())


def test_the_counterparts_of_another_version_are_items():
    found = 0
    for paper in load_plan(merged()).papers.values():
        for shown in paper.get("counterparts", {"items": {}})["items"].values():
            assert set(shown) <= set(paper["items"])
            found += 1
    assert found


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("scale: [default", r"config.yaml is not valid YAML"),
        ("", r"config\.yaml holds no settings; give results/<scale>/"),
        ("[]", r"config\.yaml holds no settings; give results/<scale>/"),
        (
            config_path("smoke.yaml").read_text(),
            r"config\.yaml only has settings that differ from config/config\.yaml",
        ),
    ],
)
def test_a_file_that_is_no_configuration_is_named(tmp_path, content, sentence):
    file = tmp_path / "config.yaml"
    file.write_text(content)
    with pytest.raises(InputError, match=sentence):
        load_plan(file)


def test_numbers_that_come_as_texts_are_numbers():
    # as Snakemake hands on --config 'papers={airola: {figure-3: {iterations: 7, regs: [1e-3]}}}'
    given = {"iterations": "7", "regs": ["1e-3", "2"]}
    item = load_plan(change(("papers", "airola", "figure-3"), given)).item("airola", "figure-3")
    assert (item.parameters["iterations"], item.parameters["regs"]) == (7, [1e-3, 2])


def solver_entries(parameters):
    """Every mapping below that names a solver."""
    if isinstance(parameters, dict):
        if isinstance(parameters.get("solver"), str):
            yield parameters  # what it has below is the solver's own
        else:
            for value in parameters.values():
                yield from solver_entries(value)
    elif isinstance(parameters, list):
        for value in parameters:
            yield from solver_entries(value)


@pytest.mark.parametrize("scale", [None, "smoke", "paper"])
def test_no_solver_of_an_item_leaves_the_way_of_its_products_open(scale):
    pinned = 0
    for item in load_plan(merged(scale)).items:
        for entry in solver_entries(item.parameters):
            try:
                known = make_solver(entry["solver"]).get_params()
            except SolverMissing:
                continue
            if "product" not in known:
                continue
            given = entry.get("parameters", entry.get("solver_parameters", {}))
            on_board = given | entry.get("checkerboard", {})
            for way in {given.get("product"), on_board.get("product")}:
                assert way in ("sparse", "dense", "lowrank"), f"{item.paper} {item.name}"
                pinned += 1
    assert pinned > 8


def test_an_item_that_measures_nothing_is_not_run(tmp_path):
    """Its job would overwrite the tables of another, with a sidecar of the wrong name."""
    plan = load_plan(merged("smoke"))
    gathering = next(item for item in plan.items if item.numbers_of)
    for item, part in ((plan.item("airola", "table-7"), "Ki"), (gathering, "all")):
        said = f"{item.name} measures nothing itself; make it with: snakemake {item.target}"
        with pytest.raises(InputError, match=said):
            run_job(plan, item, part, 1)


def test_an_unknown_item_is_answered_with_all():
    with pytest.raises(InputError, match=r"it has: airola figure-1, .*"):
        load_plan(merged("smoke")).item("nobody", "knows")


def test_a_job_is_told_all_that_its_item_depends_on():
    plan = load_plan(merged("smoke"))
    first = {item.paper: item for item in reversed(plan.items) if item.parameters}
    own = [plan.item("airola", "table-7"), *first.values()]  # the first draws another's tables
    for item in [*own, *(item for item in plan.items if item.numbers_of)]:
        assert load_plan(plan.settings_of(item)).item(item.paper, item.name) == item
    assert list(load_plan(plan.settings_of()).papers) == list(plan.papers)


@pytest.mark.parametrize("plain", [False, True])
def test_the_record_says_whether_a_table_was_measured_with_plain_loops(monkeypatch, plain):
    monkeypatch.setattr(job, "SWITCHED_OFF", plain)
    assert ("plain loops" in job.describe(1)["instructions"]) == plain
