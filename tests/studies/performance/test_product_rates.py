"""Performance figures 1 and 2: rates of the product beside the machine's."""

import importlib.metadata
import importlib.util

import numpy as np

from kronbench_suite.runner.job import run_measurement

SPEC = {
    "methods": {"matrix product": [128], "sparse": [60, 90], "dense": [60], "scipy": [60]},
    "order": 128,
    "dtypes": ["float64"],
    "threads": [1],
    "fraction": 0.25,
    "seed": 7,
}


def test_rates_count_the_operations_of_algorithm_1():
    frame = run_measurement("performance.product_rates", SPEC, None, "all")
    assert len(frame) == 5
    products = frame[frame["method"] != "matrix product"]
    assert products["deviation"].max() < 1e-12
    operations = 4e-9 * products["m"] * products["n"]
    np.testing.assert_allclose(products["gflops"], operations / products["seconds"])
    assert (products["blas_share"] > 0).all()
    sparse = products.query("method == 'sparse'")
    np.testing.assert_allclose(sparse["speed_up"], 1)
    ours, theirs = (
        products.query(f"method == '{name}' and m == 60").iloc[0] for name in ("sparse", "scipy")
    )
    assert theirs["speed_up"] == ours["seconds"] / theirs["seconds"]


def test_the_product_of_rlscore_is_the_same_or_left_out_with_a_reason():
    spec = SPEC | {"methods": {"sparse": [60], "RLScore": [60, 90]}}
    frame = run_measurement("performance.product_rates", spec, None, "all")
    if not importlib.util.find_spec("rlscore"):
        assert list(frame["method"]) == ["sparse"]
        (reason,) = frame.attrs["skipped"]
        assert reason.endswith("sampled_vec_trick was skipped: rlscore is not installed")
        return
    assert frame.attrs["skipped"] == []
    theirs = frame[frame["method"] == "RLScore"]
    assert list(theirs["m"]) == [60, 90]
    assert theirs["deviation"].max() < 1e-12
    assert (theirs["chosen"] == importlib.metadata.version("rlscore")).all()
