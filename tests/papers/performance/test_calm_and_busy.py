"""Performance table 3: ways in turn, alone and beside other programs."""

import numba
import numpy as np
import pytest

from kronbench.papers.performance.measure import calm_and_busy
from kronbench.runner.job import run_experiment

PRODUCT = {"vertices": 90, "pairs": 900}
GAUSSIAN = {"row_kernel": "gaussian", "col_kernel": "gaussian", "row_gamma": 1.0, "col_gamma": 1.0}
LINES = {
    "a product": {"work": "product", **PRODUCT, "ways": ["dense", "sparse", "auto"]},
    "threads": {
        "work": "threads", "method": "sparse", **PRODUCT, "ways": {"as given": 0, "five": 5},
    },
    "a fit": {
        "work": "fit", "solver": "kronbench.models.KronSVM", "vertices": 40,
        "parameters": GAUSSIAN, "ways": {"QMR": {}, "CG": {"solver": "cg"}},
    },
    "a factor": {
        "work": "factor", "points": 300, "rank": 10, "ways": ["incomplete Cholesky", "CSI"],
    },
    "imports": {"work": "import", "method": "lowrank", **PRODUCT, "ways": ["numpy"]},
}  # fmt: skip


@pytest.fixture(scope="module")
def frame():
    return run_experiment(
        "performance.calm_and_busy",
        {"lines": LINES, "seed": 7, "time_cap": 10},
        None,
        "all",
    )


def test_each_way_of_each_line_is_measured_alone_and_beside_programs(frame):
    ways = [(name, way) for name, line in LINES.items() for way in line["ways"]]
    assert list(zip(frame["line"], frame["way"], strict=True)) == ways
    for _, line in frame.groupby("line"):
        plain = line.iloc[0]
        np.testing.assert_allclose(line["times_faster"], plain["seconds"] / line["seconds"])
        np.testing.assert_allclose(
            line["beside_times_faster"], plain["beside_seconds"] / line["beside_seconds"]
        )
    np.testing.assert_allclose(frame["slow_down"], frame["beside_seconds"] / frame["seconds"])
    beside = frame[frame["work"] != "import"]  # which is measured alone
    assert (beside["beside_low"] <= beside["beside_seconds"]).all()
    assert frame["programs"].isna().tolist() == (frame["work"] == "import").tolist()
    assert frame.loc[frame["way"] == "five", "threads"].tolist() == [5]


def test_products_of_all_ways_are_the_same(frame):
    products = frame["work"].isin(["product", "threads"])
    assert frame.loc[products, "deviation"].max() < 1e-12
    assert frame.loc[~products, "deviation"].isna().all()


def test_threads_of_a_way_are_those_of_its_product_alone():
    seen, given = [], numba.get_num_threads()
    problem = {"method": "sparse", **PRODUCT, "ways": {"one": 1, "as given": 0}}
    ways = calm_and_busy._threads(problem, np.random.default_rng(0))
    for product in ways.values():
        product()
        seen.append(numba.get_num_threads())
    assert seen == [given, given]
