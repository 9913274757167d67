"""Tolerances from runs: they let all the evidence pass, and nothing that is ten times as far."""

import json

import pytest
import yaml
from hypothesis import given, settings, strategies as st

from kronbench.cli import main
from kronbench.errors import InputError
from kronbench.reference.compare import compare, read_run, read_tolerances
from kronbench.reference.tolerances import FACTOR, derive, rounded_up
from tests.reference.test_compare import FRAME, changed, folder


def runs(path, *frames, **options):
    """Finished runs with these tables: each on another processor, unless it is said."""
    folders = []
    for number, frame in enumerate(frames):
        run = folder(path / f"run-{number}", frame=frame)
        sidecar = run / "airola" / "tables" / "t" / "all.json"
        content = json.loads(sidecar.read_text())
        content["environment"] |= {"cpu": number, "instructions": "numba znver5"} | options
        sidecar.write_text(json.dumps(content))
        (run / "config.yaml").write_text("scale: small\n")
        folders.append(run)
    return folders


def written(path, folders):
    """The entries of the file that the command writes, by column."""
    file = path / "tolerances.yaml"
    status = main(["tolerances", *map(str, folders), "-o", str(file)])
    return status, {entry["column"]: entry for entry in read_tolerances(file)}


EVIDENCE = [
    FRAME,
    changed("auc", [0.5, 0.6, 0.70003, 0.8]),
    changed("auc", [0.5, 0.6001, 0.7, 0.8]) | {"seconds": [9.0] * 4, "busy": [True] * 4},
]


def test_a_column_that_moved_has_an_entry_and_others_have_none(tmp_path):
    folders = runs(tmp_path, *EVIDENCE)
    status, entries = written(tmp_path, folders)
    assert status == 0
    assert list(entries) == ["auc"]
    assert entries["auc"]["absolute"] == 0.0005  # 3 times 0.0001, rounded up
    assert entries["auc"]["because"].startswith(f"0.0001 at most, {folders[0]} and {folders[2]}")
    comments = [
        line
        for line in (tmp_path / "tolerances.yaml").read_text().splitlines()
        if line.startswith("#")
    ]
    assert any("scale small" in line for line in comments)
    assert any(f"{folders[1]}: revision abc" in line for line in comments)


def test_wrong_results_are_told_beside_it(tmp_path):
    folders = runs(tmp_path, *EVIDENCE)
    _, entries = written(tmp_path, folders)
    tolerances, run = list(entries.values()), read_run(folders[0])
    for other in folders:
        assert all(d.kind == "surroundings" for d in compare(run, read_run(other), tolerances))
    for column, by in (("auc", 10 * entries["auc"]["absolute"]), ("products", 1)):
        for row in range(4):
            values = [*FRAME[column]]
            values[row] += by
            wrong = folder(tmp_path / f"{column}-{row}", frame=changed(column, values))
            found = compare(run, read_run(wrong), tolerances)
            assert ("number", f"airola/t, {column}") in [(d.kind, d.place) for d in found]
    moved = folder(tmp_path / "moved", verdicts=("holds", "contradicted"))
    found = compare(run, read_run(moved), tolerances)
    assert [d.place for d in found if d.kind == "verdict"] == ["claim-1"]


def test_orders_of_size_get_a_relative_tolerance_and_rounding_an_absolute_one(
    tmp_path,
):
    sizes, rounding = [1e-3, 1.0, 1e3, 1e6], [1e-16, 3e-15, 0.0, 2e-16]
    frames = [
        FRAME | {"psi": sizes, "deviation": rounding},
        FRAME | {"psi": [x * (1 + 1e-12) for x in sizes], "deviation": rounding[::-1]},
    ]
    _, entries = written(tmp_path, runs(tmp_path, *frames))
    assert entries["psi"]["relative"] == pytest.approx(5e-12)
    assert entries["deviation"]["absolute"] == pytest.approx(1e-14)


def test_two_runs_of_one_machine_are_equal_to_the_bit(tmp_path, capsys):
    last_bit = changed("auc", [0.5, 0.6, 0.7, 0.8000000000000002])
    status, _ = written(tmp_path, runs(tmp_path, FRAME, last_bit, cpu="one"))
    assert status == 1
    assert "airola/t, auc: differs between" in capsys.readouterr().out


def test_rows_and_numbers_of_one_run_alone_are_told_and_get_no_tolerance(tmp_path, capsys):
    less = {key: values[:3] for key, values in FRAME.items()}
    status, entries = written(tmp_path, runs(tmp_path, FRAME, less))
    assert (status, entries) == (1, {})
    assert "have different rows" in capsys.readouterr().out
    missing = changed("auc", [None, 0.6, 0.7, 0.8001])
    status, entries = written(tmp_path, runs(tmp_path / "again", FRAME, missing))
    assert status == 1
    assert entries["auc"]["absolute"] == 0.0005
    assert "lacks a number" in capsys.readouterr().out


def test_runs_that_cannot_be_evidence(tmp_path):
    first, second = runs(tmp_path, FRAME, FRAME)
    with pytest.raises(InputError, match="two finished runs or more"):
        derive([first])
    (second / "config.yaml").write_text("scale: small\ntime_cap: 5\n")
    with pytest.raises(InputError, match="different configurations"):
        derive([first, second])


@given(st.floats(1e-300, 1e300))
def test_rounding_up_goes_to_the_next_step(value):
    rounded = rounded_up(value)
    assert value <= rounded <= 2.5 * value * (1 + 1e-12)
    assert f"{rounded:.0e}"[0] in "125"


numbers = st.floats(-1e6, 1e6).map(lambda x: x if abs(x) > 1e-6 else 0.0)


@settings(max_examples=15)
@given(st.lists(st.lists(numbers, min_size=3, max_size=3), min_size=2, max_size=4))
def test_all_pairs_of_the_evidence_pass(tmp_path_factory, columns):
    path = tmp_path_factory.mktemp("runs")
    frames = [{"row": list("abc"), "x": column} for column in columns]
    folders = runs(path, *frames)
    text, complaints = derive(folders)
    tolerances = yaml.safe_load(text)["tolerances"]
    assert not complaints
    for a in map(read_run, folders):
        for b in map(read_run, folders):
            assert all(d.kind == "surroundings" for d in compare(a, b, tolerances))
    largest = max(abs(x - y) for a in columns for b in columns for x, y in zip(a, b, strict=True))
    for entry in tolerances:
        assert entry.get("absolute", 0.0) <= 2.5 * FACTOR * largest * (1 + 1e-9)


def test_other_instructions_on_one_machine_are_other_surroundings(tmp_path):
    kinds = [{"instructions": name} for name in ("numba znver5", "numba haswell")]
    folders = [
        runs(tmp_path / str(number), frame, cpu="one", **kind)[0]
        for number, (frame, kind) in enumerate(zip(EVIDENCE[:2], kinds, strict=True))
    ]
    assert written(tmp_path, folders)[0] == 0
