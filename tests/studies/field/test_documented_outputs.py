from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.sparse.linalg import minres

from kronbench.datasets import Dataset
from kronbench.evaluation import concordance_index
from kronbench.models import TwoStepRidge
from kronbench_suite.studies.field.measure.documented_outputs import random_folds, run
from kronbench_suite.studies.field.plot.documented_outputs import tabulate

KERNELS = {"row_kernel": "precomputed", "col_kernel": "precomputed"}


@pytest.fixture
def data():
    rng = np.random.default_rng(3)
    arrays = {
        "values": rng.normal(size=(9, 12)),
        "drug_similarity": rng.normal(size=(9, 9)),
        "target_similarity": rng.normal(size=(12, 12)),
    }
    return Dataset("small", "generated", "label matrix", arrays)


def lines_of(data, **script):
    spec = {
        "split_seed": {"small": 1},
        "n_train": {"small": [6, 8, 60]},
        "only": None,
        "orders": 2,
    }
    return run(spec | {"scripts": {"one": {"data": "small", **script}}}, data, None)


def held_out(K, G, Y, reg_rows, reg_cols, mask):
    """Predictions of the pairs in a mask from all others: labels that a model of them repeats."""
    left, right = (
        M @ np.linalg.inv(M + reg * np.eye(len(M))) for M, reg in ((K, reg_rows), (G, reg_cols))
    )
    H, out = np.kron(left, right), mask.ravel()
    return np.linalg.solve(np.eye(out.sum()) - H[out][:, out], H[out][:, ~out] @ Y.ravel()[~out])


def edge_left_out(K, S, i, j):
    mask = np.zeros(S.shape, bool)
    mask[[i, j], [j, i]] = True
    within = np.flatnonzero(mask).tolist()
    return held_out(K, K, S, 1.0, 1.0, mask)[within.index(i * len(S) + j)]


def vertices_left_out(K, S, i, j, *vertices):
    rest = np.delete(np.arange(len(K)), vertices)
    model = TwoStepRidge(reg_rows=1.0, reg_cols=1.0, **KERNELS)
    model.fit_matrix(K[np.ix_(rest, rest)], K[np.ix_(rest, rest)], S[np.ix_(rest, rest)])
    return model.predict_matrix(K[[i]][:, rest], K[[j]][:, rest])[0, 0]


LEFT_OUT = {
    "A": edge_left_out,
    "B": lambda K, S, i, j: vertices_left_out(K, S, i, j, j),
    "D": lambda K, S, i, j: vertices_left_out(K, S, i, j, i, j),
}


@pytest.mark.parametrize("setting", LEFT_OUT)
def test_of_a_symmetric_matrix_neither_side_has_what_is_left_out(data, setting):
    S = np.random.default_rng(5).normal(size=(9, 9))
    S = data.arrays["drug_similarity_ecfp4"] = S + S.T
    K = data["drug_similarity"] @ data["drug_similarity"].T
    F = np.array([[LEFT_OUT[setting](K, S, i, j) for j in range(9)] for i in range(9)])
    frame = lines_of(data, model="symmetric", setting=setting, exponents=[[0, 0]])
    described, programmed = frame["value"]
    assert described == concordance_index(S.ravel(), F.ravel())
    # What the program makes of the diagonal: pairs that are left out twice, or zero.
    if setting == "A":
        H = K @ np.linalg.inv(K + np.eye(9))
        twice = 2 * H.diagonal() ** 2
        np.fill_diagonal(F, ((H @ S @ H).diagonal() - twice * S.diagonal()) / (1 - twice))
    elif setting == "D":
        np.fill_diagonal(F, 0.0)
    if setting != "B":
        assert programmed == concordance_index(S.ravel(), F.ravel())


def test_pairs_of_a_fold_are_left_out_together(data):
    frame = lines_of(
        data, model="two-step", setting="A", exponents=[[-1, 0], [1, 1]], folds=3, fold_seeds=[7]
    )
    K, G = (data[side] @ data[side].T for side in ("drug_similarity", "target_similarity"))
    for (_, line), reg in zip(frame.iterrows(), (0.5, 1.0), strict=True):
        F = np.empty(data["values"].shape)
        for fold in random_folds(F.size, 3, 7):
            mask = np.zeros(F.shape, bool)
            mask.ravel()[fold] = True
            F[mask] = held_out(K, G, data["values"], reg, 2.0, mask)
        assert line["value"] == concordance_index(data["values"].ravel(), F.ravel())


@pytest.mark.parametrize("folds", [{}, {"folds": 6, "fold_seeds": [7]}])
def test_rows_left_out_one_by_one_and_by_folds_of_one(data, folds):
    frame = lines_of(data, model="two-step", setting="B", exponents=[[0, 0], [1, 1]], **folds)
    shuffled = list(range(9))
    np.random.RandomState(1).shuffle(shuffled)
    train, test = shuffled[:6], shuffled[6:]
    D, T, Y = (data[name] for name in ("drug_similarity", "target_similarity", "values"))
    model = TwoStepRidge(reg_rows=1.0, reg_cols=2.0).fit_matrix(D[train], T, Y[train])
    found = frame.set_index("score")["value"]
    tested = model.predict_matrix(D[test], T)
    assert found["test"] == concordance_index(Y[test].ravel(), tested.ravel())
    assert found["left out"] == concordance_index(Y[train].ravel(), model.loo("B").ravel())


@pytest.mark.parametrize("setting", ["A", "B", "C", "D"])
def test_iterates_are_those_on_all_features(data, setting):
    frame = lines_of(data, model="iterations", setting=setting, max_iter=10, reordered=10)
    D, T, Y = (data[name] for name in ("drug_similarity", "target_similarity", "values"))
    shuffled = np.random.RandomState(1)
    rows, cols = np.indices(Y.shape).reshape(2, -1)
    if setting == "A":
        order = list(range(Y.size))
        shuffled.shuffle(order)
        train, test = np.array(order[:60]), np.array(order[60:])
    else:
        new = []
        for side, size, n_train, of in ((rows, 9, 6, "BD"), (cols, 12, 8, "CD")):
            if setting in of:
                order = list(range(size))
                shuffled.shuffle(order)
                new.append(np.isin(side, order[n_train:]))
        train, test = (~np.any(new, axis=0)).nonzero()[0], np.all(new, axis=0).nonzero()[0]
    F = np.einsum("na,nb->nab", D[rows], T[cols]).reshape(Y.size, -1)
    w = minres(F[train].T @ F[train], F[train].T @ Y.ravel()[train], rtol=0, maxiter=10)[0]
    assert frame["value"].tolist() == [concordance_index(Y.ravel()[test], F[test] @ w)]
    # which no order of sums changes in ten iterations, whatever is made of the pairs
    assert frame["order_mean"].tolist() == pytest.approx(frame["value"].tolist(), abs=1e-14)
    assert frame["order_deviation"].tolist() == pytest.approx([0.0], abs=1e-14)


def test_equal_predictions_count_half_whatever_rounding_makes_of_them(data):
    data.arrays["target_similarity"][11] = data["target_similarity"][10]  # a twin
    (line,) = lines_of(data, model="ridge", setting="B", exponents=[[2, 2]]).to_dict("records")
    comparable = 36 * 35 / 2  # 3 test drugs, 12 targets
    assert line["ties"] == pytest.approx(3 / comparable / 2)


ITEM = SimpleNamespace(parameters={"orders": 4}, plot_options={"what": {"one": "a script"}})


def summary(values, printed, **columns):
    """The row of a file with these lines."""
    n = len(values)
    frame = pd.DataFrame(
        {
            "dataset": "Ki", "source": "mirror", "file": "one", "reading": "as described",
            "line": np.arange(n) + 1, "score": "test", "at": "1", "exponent": np.arange(n),
            "second_exponent": np.nan, "iteration": np.nan, "value": values, "ties": 0.0,
            "order_mean": np.nan, "order_deviation": np.nan, **columns,
        }
    )  # fmt: skip
    said = frame[["file", "line", "score", "at"]].assign(printed=printed)
    return tabulate(frame[frame["value"] > 0], ITEM, said).iloc[0]


def test_a_line_comes_out_where_its_last_printed_digit_does():
    ours, printed, ties = [0.5000004, 0.6000006, 0.7000006], [0.5, 0.6, 0.7], [0, 0, 1e-6]
    first = summary(ours, printed, ties=ties)
    assert (first["lines"], first["come out"], first["beyond ties"]) == (3, 1, 1)
    assert (first["best at"], first["printed best at"]) == (2, 2)
    assert first["lines that differ"] == 2
    # nor does one that ours lack
    assert summary([0.0, *ours[1:]], printed, ties=ties)["lines that differ"] == 3


@pytest.mark.parametrize(
    ("last", "increases"),
    [
        (np.linspace(0, 1e-3, 11), True),
        (np.minimum(np.arange(11), 9) * 1e-4, False),  # the last line adds nothing
        (np.append(np.arange(10), 5) * 1e-4, False),  # past its peak
    ],
)
def test_still_increasing_is_no_flat_line(last, increases):
    values = 0.7 + np.concatenate([np.zeros(89), last])
    found = summary(values, 0.7, iteration=np.arange(10, 1010, 10))
    assert (found["smallest last step"] > 1e-6) == increases


def test_printed_lines_are_judged_by_the_interval_of_one_more_order():
    """Five values of one normal law and a sixth: 95 % of the sixths lie in the interval."""
    draws = np.random.default_rng(0).normal(0.7, 0.01, (4000, 6))
    five, sixth = draws[:, :5], draws[:, 5]
    moments = {"order_mean": five.mean(axis=1), "order_deviation": five.std(axis=1, ddof=1)}
    assert 0.94 < summary(draws[:, 0], sixth, **moments)["share within"] < 0.96
    assert summary(draws[:, 0], sixth + 0.05, **moments)["share within"] < 0.2


def test_a_share_that_hangs_on_few_orders_is_known_up_to_an_interval(rng):
    """Five orders of sums do not tell their deviation well: other processors draw other ones."""
    shares = []
    for _ in range(40):
        deviation = 10.0 ** rng.uniform(-6, -3, size=(10, 1))
        draws = 0.7 + deviation * rng.normal(size=(10, 6))
        five, sixth = draws[:, :5], draws[:, 5]
        moments = {"order_mean": five.mean(axis=1), "order_deviation": five.std(axis=1, ddof=1)}
        shares.append(summary(draws[:, 0], sixth, **moments))
    shares = pd.DataFrame(shares)
    assert (shares["share within_low"] <= shares["share within"]).all()
    assert (shares["share within"] <= shares["share within_high"]).all()
    # printed lines that are one more order: one of 40 says otherwise by the share itself, and none
    # where its whole interval must lie on a side
    assert (shares["share within"] < 0.9).any()
    assert (shares["share within_high"] >= 0.9).all()
    # printed lines that are none
    apart = summary(draws[:, 0], sixth + 20 * deviation[:, 0], **moments)
    assert apart["share within_high"] < 0.9
