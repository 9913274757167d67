"""Figure 8 of Stock et al. 2016: what each curve has seen, selection, updates, second step."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import sparse
from scipy.sparse.csgraph import shortest_path

from kronbench.datasets.dataset import Dataset
from kronbench.models import IndependentRidge, TwoStepRidge
from kronbench_suite.papers.stock.measure import mini_batches
from kronbench_suite.papers.stock.measure.mini_batches import (
    SecondStep,
    _Corpus,
    _selected,
    path_features,
)
from kronbench_suite.runner.job import run_measurement
from tests.small_corpus import small_lshtc

SPEC = {
    "n_test": 100,
    "components": 12,
    "min_documents": 2,
    "tree_width": 10,
    "start": {"lshtc": 80},
    "batch": 30,
    "left_out": 80,
    "sizes": {"lshtc": [80, 200]},
    "regs": [0.01, 1.0, 100.0],
    "regs_cols": [0.001, 0.1, 10.0],
    "seed": 1,
}


@pytest.fixture(scope="module")
def arrays():
    return small_lshtc()


def lshtc(arrays, source="surrogate"):
    return Dataset(name="lshtc", source=source, kind="documents", arrays=arrays)


def test_batches_end_where_one_fit_to_all_documents_does(arrays, monkeypatch):
    corpora, scored = [], []

    def spy(name, calls):
        original = getattr(mini_batches, name)
        monkeypatch.setattr(
            mini_batches, name, lambda *given: (calls.append(given), original(*given))[1]
        )

    spy("_evaluated", corpora)
    spy("ranking_areas", scored)
    frame = run_measurement("stock.mini_batches", SPEC, lshtc(arrays), "lshtc")
    corpus = corpora[-1][0]
    last = frame[frame["documents"] == len(corpus.train)]
    assert last["documents"].iloc[0] == 400
    reg, reg_cols = last[last["model"] == "two-step"][["reg", "reg_cols"]].iloc[0]
    ends = frame["reg"].isin([0.01, 100.0]).astype(int) + frame["reg_cols"].isin([0.001, 10.0])
    assert (frame["on_edge"] == ends).all()
    features, _, Y = corpus.labelled(corpus.train)
    psi, novel = corpus.class_features, corpus.novel_features
    G = (psi @ psi.T).toarray()
    model = TwoStepRidge(
        reg_rows=reg, reg_cols=reg_cols, row_kernel="linear", col_kernel="precomputed"
    )
    model.fit_matrix(features, G, Y.toarray())
    known, new = scored[-2:]
    scale = np.abs(known[0] @ known[2]).max()
    np.testing.assert_allclose(
        known[0] @ known[2], model.predict_matrix(corpus.test[0], G), atol=1e-8 * scale
    )
    np.testing.assert_allclose(
        new[0] @ new[2],
        model.predict_matrix(corpus.novel[0], (novel @ psi.T).toarray()),
        atol=1e-8 * scale,
    )


def test_weights_are_those_of_the_least_leave_one_out_error(arrays):
    corpus = _Corpus(lshtc(arrays), SPEC, 80, np.random.default_rng(1))
    first = corpus.labelled(corpus.train[:80])
    regs, tasks = _selected(corpus, SPEC, *first)
    G = (corpus.class_features @ corpus.class_features.T).toarray()
    Y = first[2].toarray()
    model = TwoStepRidge(reg_rows=1.0, reg_cols=1.0, row_kernel="linear", col_kernel="precomputed")
    errors = model.fit_matrix(first[0], G, Y).loo_grid(
        "B", SPEC["regs"], SPEC["regs_cols"], score=lambda F: np.sum((F - Y) ** 2)
    )
    i, j = np.unravel_index(np.argmin(errors), errors.shape)
    assert (regs["two-step"], tasks.reg) == (SPEC["regs"][i], SPEC["regs_cols"][j])
    # or of some of the documents alone
    regs, _ = _selected(corpus, SPEC | {"left_out": 15}, *first)
    errors = (
        IndependentRidge()
        .fit_matrix(first[0], None, Y)
        .loo_grid("B", SPEC["regs"], score=lambda F: np.sum((F - Y)[:15] ** 2))
    )
    assert regs["independent-task"] == SPEC["regs"][np.argmin(errors)]


def test_features_know_no_document_that_comes_later(arrays):
    before = _Corpus(lshtc(arrays), SPEC, 80, np.random.default_rng(1))
    later = before.train[SPEC["start"]["lshtc"] :]
    turned = np.random.default_rng(2).permutation(later)
    X, y = arrays["X"].tolil(), arrays["y"].copy()
    X[later] = 3 * X[turned]
    y[later] = y[turned[::-1]]
    changed = arrays | {"X": sparse.csr_array(X), "y": y}
    after = _Corpus(lshtc(changed), SPEC, 80, np.random.default_rng(1))
    np.testing.assert_array_equal(after.train, before.train)
    np.testing.assert_array_equal(after.test[0], before.test[0])
    np.testing.assert_array_equal(after.novel[0], before.novel[0])
    first = before.train[: SPEC["start"]["lshtc"]]
    np.testing.assert_array_equal(after.labelled(first)[0], before.labelled(first)[0])


def random_tree(seed, size):
    rng = np.random.default_rng(seed)
    parents = np.array([-1, *(rng.integers(node) for node in range(1, size))])
    return parents, np.setdiff1d(np.arange(size), parents)


@given(st.integers(0, 10**6), st.integers(2, 30), st.floats(0.5, 20))
def test_inner_products_are_the_kernel_of_dijkstras_distances(seed, size, width):
    parents, leaves = random_tree(seed, size)
    edges = (np.ones(size - 1), (np.arange(1, size), parents[1:]))
    graph = sparse.csr_array(edges, shape=(size, size))
    distance = shortest_path(graph, directed=False, method="D")[np.ix_(leaves, leaves)]
    features = path_features(parents, leaves, width)
    np.testing.assert_allclose(
        (features @ features.T).toarray(), np.exp(-distance / width), atol=1e-12
    )


@given(st.integers(0, 10**6), st.integers(3, 30), st.floats(0.01, 10))
def test_the_second_step_on_a_tree_is_that_of_the_dense_kernel(seed, size, reg):
    parents, leaves = random_tree(seed, size)
    rng = np.random.default_rng(seed)
    features = path_features(parents, leaves, 10)
    G = (features @ features.T).toarray()
    H = np.linalg.solve(G + reg * np.eye(len(G)), G)
    F = rng.normal(size=(4, len(leaves)))
    step = SecondStep(features, reg)
    np.testing.assert_allclose((features @ step.weights(F).T).T, F @ H, atol=1e-9)
    columns = np.flatnonzero(rng.random(len(leaves)) < 0.6)
    y = rng.integers(len(leaves), size=4)
    error = np.sum((F[:, columns] @ H[columns] - np.eye(len(leaves))[y]) ** 2)
    assert step.squared_error(F[:, columns], columns, y) == pytest.approx(error, abs=1e-9)
