"""Two folders of results: each kind of difference is found, and no other is made up."""

import json

import pandas as pd
import pytest

from kronbench.errors import InputError
from kronbench_suite.accepted.compare import compare, read_run
from kronbench_suite.cli import main

FRAME = {
    "method": ["A", "A", "B", "B"],
    "fold": [0, 1, 0, 1],
    "auc": [0.5, 0.6, 0.7, 0.8],
    "products": [10, 12, 20, 22],
    "seconds": [1.0, 2.0, 3.0, 4.0],
    "busy": [False, False, True, False],
    "note": ["", "", "a text", ""],
}
LABELS = {"paper": "airola", "item": "t", "kind": "evidence", "whose": "paper", "cause": "",
          "asks": "these data"}  # fmt: skip
COLUMNS = {
    "key": ["method", "fold", "row"],
    "clock": ["seconds"],
    "counts": ["products"],
    "numbers": ["auc", "psi", "deviation", "x"],
    "texts": ["note"],
    "conditions": ["busy"],
}


def folder(
    path, *, frame=None, verdicts=("holds", "holds"), revision="abc", sha="0f", name="t",
    columns=COLUMNS, measured="0.5", timing=(False, False),
):  # fmt: skip
    """A finished run of one table and two claims."""
    table = path / "airola" / f"{name}.csv"
    table.parent.mkdir(parents=True)
    pd.DataFrame(frame or FRAME).to_csv(table, index=False)
    table.with_suffix(".json").write_text(json.dumps({"columns": columns}))
    (path / "report").mkdir()
    rows = [
        {"id": f"claim-{i}", **LABELS, "timing": clock, "verdict": verdict, "measured": measured}
        for i, (verdict, clock) in enumerate(zip(verdicts, timing, strict=True))
    ]
    pd.DataFrame(rows).to_csv(path / "report" / "claims.csv", index=False)
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


NONE = "No verdict moved, and no number."
REVERSED = {key: values[::-1] for key, values in FRAME.items()}
LESS = {key: values[:3] for key, values in FRAME.items()}


@pytest.mark.parametrize(
    ("frame", "found", "text"),
    [
        (changed("seconds", [9.0] * 4) | {"busy": [True] * 4}, [], NONE),
        (REVERSED, [], NONE),
        (LESS, [("rows", "airola/t")], "1 of 4 rows of A have no counterpart (B, 1)"),
        (
            changed("auc", [0.5, 0.6, 0.7, 0.8000000000000002]),
            [("number", "airola/t, auc")],
            "1 of 4 moved, most: 0.8 -> 0.8 (B, 1)",
        ),
        (changed("auc", [None, 0.6, 0.7, 0.8]), [("number", "airola/t, auc")], ""),
        (changed("auc", [0, 0.6, 0.7, 0.8]), [("number", "airola/t, auc")], ""),
        (changed("products", [10, 12, 20, 23]), [("number", "airola/t, products")], ""),
        (
            changed("note", [""] * 4),
            [("number", "airola/t, note")],
            "1 of 4 moved, most: 'a text' -> '' (B, 0)",
        ),
    ],
)
def test_a_difference_of_a_table_is_found_and_no_other(tmp_path, capsys, frame, found, text):
    a, b = folder(tmp_path / "a"), folder(tmp_path / "b", frame=frame)
    assert differences(a, b) == differences(b, a) == found
    assert main(["compare", str(a), str(b)]) == bool(found)
    assert text in capsys.readouterr().out


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        ("clock", []),
        ("ratios_of_clock", []),
        ("conditions", []),
        ("numbers", [("number", "airola/t, seconds of it")]),
    ],
)
def test_the_declaration_says_what_a_clock_has_touched_and_not_the_name(tmp_path, kind, found):
    columns = {**COLUMNS, kind: [*COLUMNS.get(kind, ()), "seconds of it"]}
    a, b = (
        folder(
            tmp_path / str(value), frame=FRAME | {"seconds of it": [value] * 4}, columns=columns
        )
        for value in (1.5, 2.5)
    )
    assert differences(a, b) == found


def test_a_table_of_which_neither_run_says_the_columns_is_refused(tmp_path):
    a, b = (folder(tmp_path / name, columns=None) for name in "ab")
    with pytest.raises(InputError, match="says what the columns of airola/t are"):
        differences(a, b)
    assert differences(a, folder(tmp_path / "c")) == []


def test_rows_are_paired_by_the_numbers_that_tell_them_apart(tmp_path):
    """Of a curve over weights one point is missing: the later ones stay beside their own."""
    regs = [0.001, 0.1, 1, 10.0]
    curve = {"method": ["A"] * 4, "reg": regs, "auc": [0.5, 0.6, 0.7, 0.8]}
    less = {name: values[:1] + values[2:] for name, values in curve.items()}
    columns = {"key": ["method", "reg"], "numbers": ["auc"]}
    a, b = (
        folder(tmp_path / name, frame=frame, columns=columns)
        for name, frame in (("a", curve), ("b", less))
    )
    (found,) = compare(read_run(a), read_run(b))
    assert (found.kind, found.text) == ("rows", "1 of 4 rows of A have no counterpart (A, 0.1)")


def test_rows_that_the_key_does_not_tell_apart_have_no_counterpart(tmp_path):
    columns = {**COLUMNS, "key": ["method"]}
    a, b = (folder(tmp_path / name, columns=columns) for name in "ab")
    assert differences(a, b) == [("rows", "airola/t")] * 2


WORDS = ["holds", "undecided", "contradicted", "not tested"]


@pytest.mark.parametrize("before", WORDS)
@pytest.mark.parametrize("now", WORDS)
def test_a_verdict_on_times_is_no_move_and_another_is(tmp_path, before, now, capsys):
    a, b = (
        folder(tmp_path / name, verdicts=(verdict, verdict), timing=(True, False))
        for name, verdict in (("a", before), ("b", now))
    )
    moved = [("verdict", "claim-1"), ("clock", "claim-0")]
    assert differences(a, b) == ([] if before == now else moved)
    assert main(["compare", str(a), str(b)]) == (before != now)
    told = "### Not compared: verdicts on times" in capsys.readouterr().out
    assert told == (before != now)


@pytest.mark.parametrize("timing", [True, False])
def test_new_and_lost_claims_are_moves_also_on_times(tmp_path, timing):
    a = folder(tmp_path / "a", verdicts=["holds"], timing=[timing])
    b = folder(tmp_path / "b", timing=[timing] * 2)
    for one, other, text in (
        (a, b, "no such claim -> holds (0.5)"),
        (b, a, "holds -> no such claim"),
    ):
        (found,) = compare(read_run(one), read_run(other))
        assert (found.kind, found.place, found.text) == ("verdict", "claim-1", text)
        assert main(["compare", str(one), str(other)]) == 1


def test_a_claim_that_was_not_on_times_before_is_a_move(tmp_path):
    a = folder(tmp_path / "a")
    b = folder(tmp_path / "b", timing=(True, False), verdicts=("contradicted", "holds"))
    assert differences(a, b) == differences(b, a) == [("verdict", "claim-0")]


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
    with pytest.raises(InputError, match="is not a folder of results"):
        read_run(tmp_path)
    assert main(["compare", str(tmp_path), str(tmp_path)]) == 2


@pytest.mark.parametrize(
    "reason", ["B ended: 9 s, over the cap of 5 s", "B was skipped: rlscore is not installed"]
)
def test_rows_that_a_run_says_it_lacks_are_no_move_nor_what_rests_on_them(tmp_path, reason):
    """In both directions; the verdict on other rows still is one."""
    a = folder(tmp_path / "a", verdicts=("holds", "holds"))
    b = folder(tmp_path / "b", frame=LESS, verdicts=("not tested", "contradicted"))
    moves = [("verdict", "claim-1"), ("verdict", "claim-0"), ("rows", "airola/t")]
    assert differences(a, b) == moves
    record = tmp_path / "b" / "airola" / "t.json"
    said = json.loads(record.read_text()) | {"skipped": [reason]}
    record.write_text(json.dumps(said))
    expected = [("verdict", "claim-1"), ("clock", "claim-0"), ("clock", "airola/t")]
    assert differences(a, b) == expected
    assert differences(b, a) == expected


CURVE = {
    "method": ["A", "A", "B", "B"],
    "fold": [0, 1, 0, 1],
    "auc": [0.5, 0.6, 0.7, 0.8],
    "auc_reversed": [None, 0.65, None, None],
    "x": [1.0] * 4,
    "x_reversed": [None, None, 2.0, None],
    "deviation": [1e-2] * 4,
    "left": [1e-13, 0.0, 1e-14, 0.0],
    "products": [10, 12, 20, 22],
}
ROUNDING = COLUMNS | {"rounding": ["auc_reversed", "x_reversed", "deviation"]}


def runs_on(tmp_path, instructions, *frames):
    """Two runs of a table, with the instructions of each."""
    runs = []
    for name, frame, used in zip("ab", frames, instructions, strict=True):
        runs.append(folder(tmp_path / name, frame=frame, columns=ROUNDING))
        sidecar = runs[-1] / "airola" / "tables" / "t" / "all.json"
        content = json.loads(sidecar.read_text())
        content["environment"]["instructions"] = used
        sidecar.write_text(json.dumps(content))
    return runs


@pytest.mark.parametrize(
    ("change", "kinds"),
    [
        ({}, {}),
        # the second row is another one in another order of sums: all of its numbers
        ({"auc": [0.5, 0.62, 0.7, 0.8], "products": [10, 13, 20, 22]},
         {"auc": "rounding", "products": "rounding"}),
        ({"auc": [0.51, 0.6, 0.7, 0.8]}, {"auc": "number"}),
        # of a number with another order of sums of its own this decides alone
        ({"x": [9.0, 2.0, 1.0, 1.0]}, {"x": "number"}),
        ({"x": [1.0, 1.0, 9.0, 1.0]}, {"x": "rounding"}),
        ({"auc": [0.5, 0.6, 0.7, 0.8 + 1e-8]}, {"auc": "rounding"}),
        ({"auc": [0.5, 0.6, 0.7 + 1e-5, 0.8]}, {"auc": "number"}),
        ({"products": [10, 12, 20, 23]}, {"products": "number"}),
        ({"auc": [None, 0.6, 0.7, 0.8]}, {"auc": "number"}),
        ({"deviation": [2e-2] * 4}, {"deviation": "rounding"}),
        ({"left": [3e-15, 0.0, 1e-14, 1e-13]}, {"left": "rounding"}),
        ({"left": [1e-11, 0.0, 1e-14, 0.0]}, {"left": "number"}),
        ({"auc_reversed": [None] * 4}, {"auc_reversed": "rounding"}),
    ],
)  # fmt: skip
def test_what_rounding_moved_on_another_processor_is_told_apart(tmp_path, change, kinds, capsys):
    a, b = runs_on(tmp_path, ("numba znver4", "numba haswell"), CURVE, CURVE | change)
    for one, other in ((a, b), (b, a)):
        found = {d.place: d.kind for d in compare(read_run(one), read_run(other))}
        assert found.pop("instructions") == "surroundings"
        assert found == {f"airola/t, {name}": kind for name, kind in kinds.items()}
        assert main(["compare", str(one), str(other)]) == ("number" in kinds.values())
        told = "### Moved by rounding, since the instructions differ" in capsys.readouterr().out
        assert told == ("rounding" in kinds.values())


def test_both_kinds_in_one_column_are_counted_apart(tmp_path):
    moved = CURVE | {"auc": [0.5, 0.62, 0.7 + 1e-9, 0.9]}
    a, b = runs_on(tmp_path, ("numba znver4", "numba haswell"), CURVE, moved)
    found = [(d.kind, d.text) for d in compare(read_run(a), read_run(b)) if "auc" in d.place]
    assert found == [
        ("number", "1 of 4 moved, most: 0.8 -> 0.9 (B, 1)"),
        ("rounding", "2 of 4 moved, most: 0.6 -> 0.62 (A, 1)"),
    ]


def test_with_the_same_instructions_rounding_moves_nothing(tmp_path):
    moved = CURVE | {"auc": [0.5, 0.62, 0.7, 0.8], "deviation": [2e-12] * 4}
    a, b = runs_on(tmp_path, ("numba haswell", "numba haswell"), CURVE, moved)
    assert {d.kind for d in compare(read_run(a), read_run(b))} == {"number"}
    assert main(["compare", str(a), str(b)]) == 1


@pytest.mark.parametrize(("lost", "kind"), [(1, "rounding"), (2, "rounding"), (3, "rows")])
def test_a_row_in_which_rounding_decides_may_be_one_that_another_processor_lacks(
    tmp_path, lost, kind
):
    less = {key: values[:lost] + values[lost + 1 :] for key, values in CURVE.items()}
    a, b = runs_on(tmp_path, ("numba znver4", "numba haswell"), CURVE, less)
    assert (kind, "airola/t") in differences(a, b)
    assert main(["compare", str(a), str(b)]) == (kind == "rows")
