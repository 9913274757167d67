"""Figure 8 of Stock et al. 2016: what each curve has seen, selection and updates."""

import numpy as np
import pytest
from scipy import sparse

from kronbench.datasets.dataset import Dataset
from kronbench.models import IndependentRidge, TwoStepRidge
from kronbench.papers.stock.measure import mini_batches
from kronbench.papers.stock.measure.mini_batches import _Corpus, _selected
from kronbench.runner.job import run_experiment
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
    "time_cap": 1,
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
    frame = run_experiment("stock.mini_batches", SPEC, lshtc(arrays), "lshtc")
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
