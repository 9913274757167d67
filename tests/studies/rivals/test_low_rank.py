"""Low-rank factors by their pivots: what they are, what they read, and what is said of them."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.linalg import pinvh

from kronbench.datasets import load
from kronbench.linalg import gram
from kronbench.models import CSILSSVM
from kronbench_suite.studies.rivals.measure import low_rank
from kronbench_suite.studies.rivals.plot import low_rank_table

SPEC = {
    "selection_points": 120,
    "gammas": [0.1, 1.0],
    "regs": [1e-4, 1e-2],
    "lookahead": 10,
    "ranks": [5, 10, 15, 20, 25],
}


@pytest.fixture(scope="module")
def points():
    return np.random.default_rng(0).standard_normal((80, 3))


@pytest.mark.parametrize("pivots", low_rank.PIVOTS)
def test_a_factor_is_the_nystroem_approximation_of_its_pivots(points, pivots):
    K, targets = gram(points, kernel="gaussian", gamma=0.5), points[:, :1] ** 2
    kernel = low_rank.ClockedColumns(points, "gaussian", 0.5)
    factor = low_rank.decompose(pivots, kernel, targets, 12, 6, np.random.RandomState(1))
    C = K[:, factor.pivots]
    dense = C @ pinvh(C[factor.pivots]) @ C.T
    np.testing.assert_allclose(factor.factor @ factor.factor.T, dense, atol=1e-8)
    assert len(set(factor.pivots)) == 12
    # CSI alone has read more columns than it keeps; the last step may do without one
    read = len(kernel.clock)
    assert read in (17, 18) if pivots == "CSI" else read == 12


def test_rpcholesky_draws_in_proportion_to_the_residual_diagonal(points):
    points = points[:6]
    K = gram(points, kernel="gaussian", gamma=0.5)
    residual = 1 - K[:, 0] ** 2  # after pivot 0
    second = []
    for seed in range(3000):
        kernel = low_rank.ClockedColumns(points, "gaussian", 0.5)
        factor = low_rank.decompose("RPCholesky", kernel, None, 2, 0, np.random.RandomState(seed))
        second += [factor.pivots[1]] if factor.pivots[0] == 0 else []
    assert len(second) == pytest.approx(500, abs=80)
    shares = np.bincount(second, minlength=6) / len(second)
    np.testing.assert_allclose(shares, residual / residual.sum(), atol=0.07)


def test_uniform_pivots_leave_out_what_is_spanned(points):
    twice = np.vstack([points[:10], points[:10]])
    kernel = low_rank.ClockedColumns(twice, "gaussian", 0.5)
    factor = low_rank.decompose("uniform", kernel, None, 20, 0, np.random.RandomState(0))
    assert sorted(factor.pivots % 10) == list(range(10))
    assert len(kernel.clock) == 10


def test_uniform_pivots_keep_the_digits_of_their_columns():
    points = np.random.default_rng(1).standard_t(3, (400, 3))
    kernel = low_rank.ClockedColumns(points, "gaussian", 0.03)
    factor = low_rank.decompose("uniform", kernel, None, 160, 0, np.random.RandomState(1))
    K = gram(points, kernel="gaussian", gamma=0.03)
    at_pivots = factor.factor @ factor.factor[factor.pivots].T
    np.testing.assert_allclose(at_pivots, K[:, factor.pivots], atol=1e-13)


def test_the_machine_of_a_rank_is_the_estimator_of_that_rank():
    data = load("liver", policy="surrogate")
    X = data["X"] / data["X"].std(axis=0)
    problem = low_rank._Problem(X, data["y"], np.arange(200), np.arange(200, 260), SPEC)
    rows = {row["rank"]: row for row in problem._of_ranks("CSI", np.random.RandomState(0))}
    for rank in (5, 20):
        machine = CSILSSVM(
            gamma=problem.gamma, reg=problem.reg, max_rank=rank, lookahead=10, tol=0.0
        ).fit(X[:200], data["y"][:200])
        wrong = np.mean(machine.predict(X[200:260]) != data["y"][200:260])
        assert rows[rank]["error"] == pytest.approx(wrong)
        assert rows[rank]["columns"] == rows[rank]["budget"] == rank + 10


def test_responses_are_decoded_as_they_were_coded():
    for y in (np.array([3, 5, 5]), np.array([7, 2, 4]), np.array([0.5, 2.0, -1.0])):
        targets, decide = low_rank.coded_targets(y)
        np.testing.assert_allclose(decide(targets), y)


def test_words_follow_from_the_numbers():
    ways = {"CSI": 10, "RPCholesky": 0, "greedy": 0, "uniform": 0}
    points = product(ways, range(2), (5, 15))
    frame = pd.DataFrame(points, columns=["pivots", "split", "rank"])
    frame["budget"] = frame["rank"] + frame["pivots"].map(ways)
    frame["error"] = np.where(frame["pivots"] == "CSI", 0.1, 0.2) + 0.001 * frame["split"]
    rest = dict.fromkeys(("columns", "trace_left", "cpu_seconds"), 0)
    frame = frame.assign(dataset="liver", source="surrogate", **rest)
    item = SimpleNamespace(plot_options={"rank": [5, 15], "budget": [15]})
    table = low_rank_table.tabulate(frame, item, None)
    words = table[table["line"] == "in words"].set_index(["equal", "at", "pivots"])
    assert words.loc[("rank", 5, "CSI"), "what follows"] == (
        "for a small model: CSI, best or level on 1 of 1, least error on 1"
    )
    assert words["level"].groupby("pivots").sum().tolist() == [3, 0, 0, 0]
    table = low_rank_table.tabulate(frame.assign(error=0.1), item, None)
    assert table["what follows"].dropna().str.endswith("; none surely ahead").all()
