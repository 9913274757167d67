"""Figure 8 of Stock et al. 2016: features, task kernel, selection and updates."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.csgraph import shortest_path
from sklearn.metrics import roc_auc_score

from kronbench.bench.job import run_experiment
from kronbench.datasets.dataset import Dataset
from kronbench.datasets.lshtc import parse_lshtc, surrogate_lshtc
from kronbench.errors import InputError
from kronbench.experiments import mini_batches
from kronbench.experiments.class_tree import TaskRidge, path_features
from kronbench.experiments.correspondence import CanonicalCorrespondence
from kronbench.experiments.mini_batches import _Corpus, _selected, ranking_areas
from kronbench.models import TwoStepRidge
from tests.helpers import in_memory

SPEC = {
    "n_test": 100,
    "components": 12,
    "min_documents": 2,
    "tree_width": 10,
    "start": 80,
    "batch": 30,
    "sizes": [80, 200],
    "regs": [0.01, 1.0, 100.0],
    "seed": 1,
    "time_cap": 1,
}


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
    ridge = TaskRidge(features, reg)
    np.testing.assert_allclose((features @ ridge.weights(F).T).T, F @ H, atol=1e-9)
    columns = np.flatnonzero(rng.random(len(leaves)) < 0.6)
    y = rng.integers(len(leaves), size=4)
    error = np.sum((F[:, columns] @ H[columns] - np.eye(len(leaves))[y]) ** 2)
    assert ridge.squared_error(F[:, columns], columns, y) == pytest.approx(error, abs=1e-9)


@pytest.fixture(scope="module")
def arrays():
    return surrogate_lshtc(
        np.random.default_rng(4),
        n_words=1500,
        n_documents=500,
        levels=[3, 6, 10, 16, 40],
        n_novel=6,
    )


def test_components_are_the_correspondence_analysis_of_the_table_of_classes(arrays):
    X, y = arrays["X"], arrays["y"]
    taken = np.random.default_rng(0).random(len(y)) < 0.8
    model = CanonicalCorrespondence(8, min_documents=3, n_iter=30)
    model.fit(X, np.where(taken, y, -1), np.random.default_rng(0))

    counts = X[taken].toarray().astype(float)
    words = np.flatnonzero((counts > 0).sum(axis=0) >= 3)
    np.testing.assert_array_equal(model.words_, words)
    table = np.array([counts[y[taken] == c][:, words].sum(axis=0) for c in range(y.max() + 1)])
    table = table[table.sum(axis=1) > 0] / table.sum()
    r, c = table.sum(axis=1), table.sum(axis=0)
    U, s, _ = np.linalg.svd((table - np.outer(r, c)) / np.sqrt(np.outer(r, c)))
    np.testing.assert_allclose(model.singular_values_, s[:8], rtol=1e-4)
    # The position of a class, the mean of its words', is its principal coordinate.
    classes = (table / r[:, None]) @ model.positions_
    expected = (U[:, :8] * s[:8]) / np.sqrt(r)[:, None]
    signs = np.sign(np.sum(classes * expected, axis=0))
    np.testing.assert_allclose(classes, signs * expected, atol=1e-2 * np.abs(expected).max())


def test_a_document_lies_at_the_mean_of_its_words(arrays):
    model = CanonicalCorrespondence(5).fit(arrays["X"], arrays["y"], np.random.default_rng(0))
    counts = arrays["X"][[7]].toarray()[0, model.words_]
    expected = counts @ model.positions_ / counts.sum()
    np.testing.assert_allclose(model.transform(arrays["X"][[7]])[0], expected, rtol=1e-4)


def test_more_components_than_classes_are_refused(arrays):
    with pytest.raises(InputError, match="fewer than the 40 classes"):
        CanonicalCorrespondence(40).fit(arrays["X"], arrays["y"], np.random.default_rng(0))


@pytest.mark.parametrize("n_classes", [2, 9, 999, 1000, 1001, 2300])
def test_ranking_areas_in_blocks_are_those_of_all_scores(n_classes):
    rng = np.random.default_rng(n_classes)
    features, coef = rng.normal(size=(12, 3)), rng.normal(size=(3, n_classes))
    y = rng.integers(n_classes, size=12)
    y[:2] = 0, 1
    F = features.astype(np.float32) @ coef.astype(np.float32)
    hit = np.arange(n_classes) == y[:, None]
    found = ranking_areas(features, y, coef)
    instance = np.mean([roc_auc_score(h, f) for h, f in zip(hit, F, strict=True)])
    macro = np.mean([roc_auc_score(hit[:, c], F[:, c]) for c in np.unique(y)])
    assert found["instance_auc"] == pytest.approx(instance, abs=1e-5)
    assert found["macro_auc"] == pytest.approx(macro, abs=1e-5)


def test_equal_scores_count_one_half():
    found = ranking_areas(np.ones((2, 1)), np.array([0, 3]), np.zeros((1, 5)))
    assert found == {"instance_auc": 0.5, "macro_auc": 0.5}


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
    frame = run_experiment("mini_batches", SPEC, lshtc(arrays), "lshtc")
    corpus = corpora[-1][0]
    last = frame[frame["documents"] == len(corpus.train)]
    assert last["documents"].iloc[0] == 400
    reg, reg_cols = last[last["model"] == "two-step"][["reg", "reg_cols"]].iloc[0]
    features, _, Y = corpus.labelled(corpus.train)
    psi, novel = corpus.class_features, corpus.novel_features
    G = (psi @ psi.T).toarray()
    model = TwoStepRidge(reg, reg_cols, row_kernel="linear", col_kernel="precomputed")
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
    corpus = _Corpus(lshtc(arrays), SPEC, np.random.default_rng(1))
    first = corpus.labelled(corpus.train[:80])
    regs, tasks = _selected(corpus, SPEC, *first)
    G = (corpus.class_features @ corpus.class_features.T).toarray()
    Y = first[2].toarray()
    model = TwoStepRidge(1.0, 1.0, row_kernel="linear", col_kernel="precomputed")
    errors = model.fit_matrix(first[0], G, Y).loo_grid(
        "B", SPEC["regs"], SPEC["regs"], score=lambda F: np.sum((F - Y) ** 2)
    )
    i, j = np.unravel_index(np.argmin(errors), errors.shape)
    assert (regs["two-step"], tasks.reg) == (SPEC["regs"][i], SPEC["regs"][j])


def test_files_of_the_challenge_go_the_same_way(arrays):
    def lines(X, labels):
        for i, label in enumerate(labels):
            part = X[[i]]
            words = sorted(zip(part.indices + 1, part.data, strict=True))
            yield f"{label} " + " ".join(f"{word}:{count:g}" for word, count in words)

    parents = arrays["parents"]
    n_inner = len(parents) - arrays["y_novel"].max() - 1
    files = in_memory(
        train="\n".join(lines(arrays["X"], n_inner + arrays["y"])),
        novel="\n".join(lines(arrays["X_novel"], n_inner + arrays["y_novel"])),
        hierarchy="\n".join(f"{parent} {node}" for node, parent in enumerate(parents) if node),
    )
    parsed = parse_lshtc(files, n_words=1500)
    drawn = run_experiment("mini_batches", SPEC, lshtc(arrays), "lshtc")
    read = run_experiment("mini_batches", SPEC, lshtc(parsed, "manual"), "lshtc")
    assert set(read["source"]) == {"manual"}
    np.testing.assert_allclose(read["macro_auc"], drawn["macro_auc"], atol=1e-3)
    np.testing.assert_allclose(read["instance_auc"], drawn["instance_auc"], atol=1e-3)
