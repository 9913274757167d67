import csv

import numpy as np
import pytest

from kronbench import InputError, datasets
from kronbench.datasets import registry
from kronbench.datasets.uci import parse_table
from kronbench_suite.resources import paper_folder
from tests.helpers import in_memory

TABLES = [name for name, entry in registry.entries().items() if entry.loader == "table"]


def parse(layout, text, n_points, n_features, **options):
    sizes = {"n_points": n_points, "n_features": n_features}
    files = in_memory(**text if isinstance(text, dict) else {"data": text})
    return parse_table(files, layout=layout, **sizes, **options)


def registered(entry):
    """Points and features: of a table those that its parser is told, else its shape."""
    options = entry.options
    return entry.shape.get("X") or (options["n_points"], options["n_features"])


def test_every_row_of_the_paper_is_registered_with_its_points_and_features():
    with paper_folder("bach").printed("figure2-ranks.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 38
    for row in rows:
        entry = registry.find(row["key"])
        assert registered(entry) == (int(row["n_points"]), int(row["n_features"]))
        assert entry.agreement
        assert entry.notes
        if row["n_classes"] and entry.agreement == "exact":
            assert len(entry.surrogate["class_counts"]) == int(row["n_classes"])
        if entry.loader == "table":
            assert bool(row["n_classes"]) == ("class_counts" in entry.surrogate)


@pytest.mark.parametrize("policy", ["real", "surrogate"])
@pytest.mark.parametrize("name", TABLES)
def test_tables_have_the_registered_shape_classes_and_indicators(name, policy, real):
    entry = registry.find(name)
    data = real(name) if policy == "real" else datasets.load(name, policy=policy)
    assert (data.source == "surrogate") == (policy == "surrogate")
    X, y = data["X"], data["y"]
    assert X.shape == registered(entry)
    assert X.dtype == np.float64
    assert np.isfinite(X).all()
    assert np.isfinite(y).all()
    assert len(np.unique(y)) > 1
    counts = entry.surrogate.get("class_counts")
    if counts is not None:
        assert np.bincount(y, minlength=len(counts)).tolist() == counts
    if n_test := entry.surrogate.get("n_test"):
        assert data["is_test"].sum() == n_test
    blocks = entry.surrogate.get("blocks", [])
    start = X.shape[1] - sum(blocks)
    for size in blocks:
        assert (X[:, start : start + size].sum(axis=1) == 1).all()
        start += size


def test_numbers_first_then_indicators_in_alphabetical_order():
    layout = {"n_columns": 4, "delimiter": ",", "categorical": [0], "labels": ["no", "yes"]}
    arrays = parse(layout, "b, 1, 2.5, yes\na, 3, 4, no\n\nc,5,6,no\n", 3, 5)
    expected = [[1, 2.5, 0, 1, 0], [3, 4, 1, 0, 0], [5, 6, 0, 0, 1]]
    np.testing.assert_array_equal(arrays["X"], expected)
    np.testing.assert_array_equal(arrays["y"], [1, 0, 0])


def test_several_files_follow_each_other_and_one_is_the_test_part():
    texts = {"first": "1 10\n2 20\n", "second": "3 30\n"}
    arrays = parse({"n_columns": 2}, texts, 3, 1, test="second")
    np.testing.assert_array_equal(arrays["X"], [[1], [2], [3]])
    np.testing.assert_array_equal(arrays["y"], [10.0, 20.0, 30.0])
    np.testing.assert_array_equal(arrays["is_test"], [False, False, True])


def test_headers_codes_and_records_with_unknown_values():
    layout = {"n_columns": 3, "delimiter": "\x1f", "record_end": "\x1e", "header": 1}
    layout |= {"codes": {"M": "1"}, "labels": ["a"]}
    text = "x\x1fy\x1fz\x1e1\x1fM\x1fa\x1e?\x1fM\x1fa\x1e2\x1fM\x1fa\x1e"
    arrays = parse(layout, text, 2, 2)
    np.testing.assert_array_equal(arrays["X"], [[1, 1], [2, 1]])
    # What is unknown in a column that is not used does not matter.
    arrays = parse(layout, text, 3, 1, columns=[1])
    np.testing.assert_array_equal(arrays["X"], [[1], [1], [1]])


WEKA = """% a note, with commas
@relation small
@attribute age numeric
@attribute 'on drug' {f, t}
@attribute class {sick, well}
@data
0.1, t, sick
?, f, well
30, ?, well
1e-3, f, well
"""


def test_files_of_weka_keep_the_records_that_are_known():
    layout = {"n_columns": 3, "arff": True, "labels": ["sick", "well"]}
    layout |= {"missing": ["?", "nan"], "codes": {"f": "0", "t": "1"}}
    arrays = parse(layout, WEKA, 2, 2)
    np.testing.assert_array_equal(arrays["X"], [[0.1, 1], [1e-3, 0]])
    np.testing.assert_array_equal(arrays["y"], [0, 1])


def test_columns_are_left_out_by_variance_of_all_records(rng):
    table = rng.standard_normal((506, 14)) * rng.permutation(np.arange(1.0, 15.0))
    table[:, 3] = 7.0
    text = "\n".join(" ".join(map(repr, row.tolist())) for row in table)
    arrays = parse({"n_columns": 14}, text, 506, 10, largest_variance=True)
    kept = np.sort(np.argsort(table[:, :13].var(axis=0))[3:])
    np.testing.assert_array_equal(arrays["X"], table[:, kept])
    arrays = parse({"n_columns": 14}, text, 506, 12, drop_constant=True)
    np.testing.assert_array_equal(arrays["X"], np.delete(table[:, :13], 3, axis=1))


def test_a_draw_is_seeded_and_the_median_is_that_of_all_records():
    layout = {"n_columns": 2}
    values = np.random.default_rng(1).permutation(101)
    text = "\n".join(f"{v} {v}" for v in values)
    first, again = (parse(layout, text, 40, 1, seed=5) for _ in range(2))
    np.testing.assert_array_equal(first["X"], again["X"])
    drawn = first["X"].ravel()
    order = {v: k for k, v in enumerate(values)}
    assert len(set(drawn)) == 40
    assert np.all(np.diff([order[v] for v in drawn]) > 0)
    split = parse(layout, text, 40, 1, seed=5, median_split=True)
    np.testing.assert_array_equal(split["y"], drawn > 50)
    other = parse(layout, text, 40, 1, seed=6)
    assert set(other["X"].ravel()) != set(drawn)


def test_another_number_of_points_than_registered_is_refused():
    layout = {"n_columns": 3, "delimiter": ",", "labels": ["a"]}
    with pytest.raises(InputError, match="1 points with 2 features are left, 2 with 2 are"):
        parse(layout, "1,2,a\n", 2, 2)
