"""Two folders of results: each kind of difference is found, and no other is made up."""

import json

import pandas as pd
import pytest

from kronbench.cli import main
from kronbench.errors import InputError
from kronbench.runs.compare import compare, read_run, read_tolerances

FRAME = {
    "method": ["A", "A", "B", "B"],
    "fold": [0, 1, 0, 1],
    "auc": [0.5, 0.6, 0.7, 0.8],
    "products": [10, 12, 20, 22],
    "seconds": [1.0, 2.0, 3.0, 4.0],
    "busy": [False, False, True, False],
    "note": ["", "", "a text", ""],
}


def folder(path, *, frame=None, verdicts=("holds", "holds"), revision="abc", sha="0f", name="t"):
    """A finished run of one table and two claims."""
    table = path / "airola" / f"{name}.csv"
    table.parent.mkdir(parents=True)
    pd.DataFrame(frame or FRAME).to_csv(table, index=False)
    (path / "report").mkdir()
    rows = [(f"claim-{i}", "airola", False, v, "0.5") for i, v in enumerate(verdicts)]
    columns = ["id", "paper", "timing", "verdict", "measured"]
    pd.DataFrame(rows, columns=columns).to_csv(path / "report" / "claims.csv", index=False)
    sidecar = path / "airola" / "tables" / name / "all.json"
    sidecar.parent.mkdir(parents=True)
    (sidecar.parent / "all.csv").write_text("not,shown\n1,2\n")
    environment = {"revision": revision, "cpu": "a cpu", "cores": 2, "threads": 2}
    data = {"name": "Ki", "source": "mirror", "files": [{"sha256": sha}]}
    sidecar.write_text(json.dumps({"environment": environment, "data": data}))
    return path


def differences(a, b, **options):
    return [(d.kind, d.place) for d in compare(read_run(a), read_run(b), **options)]


def changed(column, values):
    return {**FRAME, column: values}


def test_equal_runs_and_other_seconds_are_no_difference(tmp_path):
    a = folder(tmp_path / "a")
    slow = changed("seconds", [9.0] * 4) | {"busy": [True] * 4}
    b = folder(tmp_path / "b", frame=slow)
    assert differences(a, b) == []
    assert main(["compare", str(a), str(b)]) == 0


@pytest.mark.parametrize("name", ["learning_waiting", "shortcut, ms", "retraining, s", "high"])
def test_clocks_by_other_names_are_not_compared(tmp_path, name):
    a, b = (
        folder(tmp_path / str(value), frame=FRAME | {name: [value] * 4}) for value in (1.5, 2.5)
    )
    assert differences(a, b) == []


def test_a_last_bit_is_found_and_a_tolerance_lets_it_pass(tmp_path, capsys):
    a = folder(tmp_path / "a")
    b = folder(tmp_path / "b", frame=changed("auc", [0.5, 0.6, 0.7, 0.8000000000000002]))
    assert differences(a, b) == [("number", "airola/t, auc")]
    assert main(["compare", str(a), str(b)]) == 1
    assert "1 of 4 moved, most: 0.8 -> 0.8 (B, 1)" in capsys.readouterr().out
    file = tmp_path / "tolerances.yaml"
    file.write_text("tolerances:\n- {table: airola/*, column: auc, relative: 1.0e-12}\n")
    assert differences(a, b, tolerances=read_tolerances(file)) == []
    assert main(["compare", str(a), str(b), "--tolerances", str(file)]) == 0


def test_order_of_rows_does_not_matter_and_lost_rows_do(tmp_path):
    a = folder(tmp_path / "a")
    back = {key: values[::-1] for key, values in FRAME.items()}
    assert differences(a, folder(tmp_path / "b", frame=back)) == []
    less = {key: values[:3] for key, values in FRAME.items()}
    assert differences(a, folder(tmp_path / "c", frame=less)) == [("rows", "airola/t")]


@pytest.mark.parametrize(
    ("column", "values"),
    [("auc", [None, 0.6, 0.7, 0.8]), ("products", [10, 12, 20, 23]), ("auc", [0, 0.6, 0.7, 0.8])],
)
def test_missing_values_counts_and_zeros(tmp_path, column, values):
    a = folder(tmp_path / "a")
    b = folder(tmp_path / "b", frame=changed(column, values))
    assert differences(a, b) == differences(b, a) == [("number", f"airola/t, {column}")]


def test_the_most_telling_comes_first(tmp_path):
    a = folder(tmp_path / "a", verdicts=("holds", "differs"))
    b = folder(
        tmp_path / "b",
        verdicts=("fails", "holds"),
        frame=changed("auc", [0.4, 0.6, 0.7, 0.8]),
        revision="def",
        sha="1e",
    )
    assert differences(a, b) == [
        ("verdict", "claim-0"),
        ("verdict", "claim-1"),
        ("number", "airola/t, auc"),
        ("surroundings", "data ki"),
        ("surroundings", "revision"),
    ]


def test_surroundings_alone_do_not_fail(tmp_path):
    a, b = folder(tmp_path / "a"), folder(tmp_path / "b", revision="def")
    assert main(["compare", str(a), str(b)]) == 0


def test_an_accepted_run_may_lack_large_tables_and_what_it_does_not_tell_is_no_difference(
    tmp_path,
):
    run, reference = folder(tmp_path / "a"), tmp_path / "reference"
    reference.mkdir()
    (run / "report" / "claims.csv").rename(reference / "verdicts.csv")
    assert differences(reference, folder(tmp_path / "b")) == []
    (reference / "machine.json").write_text('{"cpu": "another", "revision": "abc", "last": "now"}')
    assert differences(reference, tmp_path / "b") == [("surroundings", "cpu")]
    assert ("table", "airola/t") in differences(
        folder(tmp_path / "c", name="u"), folder(tmp_path / "d")
    )


def test_what_else_is_not_the_same_is_told_by_name(tmp_path):
    a, b = folder(tmp_path / "a"), folder(tmp_path / "b")
    for run, core, numpy in ((a, "Haswell", "2.0"), (b, "SkylakeX", "2.1")):
        sidecar = run / "airola" / "tables" / "t" / "all.json"
        content = json.loads(sidecar.read_text())
        pools = [
            {"internal_api": "openblas", "version": version, "architecture": core}
            for version in ("0.3.31", "0.3.30")
        ]
        packages = {"numpy": numpy, "scipy": "1.17"}
        content["environment"] |= {"blas": pools, "packages": packages}
        sidecar.write_text(json.dumps(content))
    found = compare(read_run(a), read_run(b))
    assert [(d.place, d.text) for d in found] == [
        ("packages numpy", "2.0 | 2.1"),
        (
            "blas",
            "openblas 0.3.30 Haswell, openblas 0.3.31 Haswell | "
            "openblas 0.3.30 SkylakeX, openblas 0.3.31 SkylakeX",
        ),
    ]


def test_a_folder_without_results_is_named(tmp_path):
    with pytest.raises(InputError, match="is no folder of results"):
        read_run(tmp_path)
    assert main(["compare", str(tmp_path), str(tmp_path)]) == 2
