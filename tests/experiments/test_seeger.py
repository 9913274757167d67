"""The experiments of Seeger (2006) on a small class tree: rows and invariants."""

import numpy as np
import pytest
from scipy import sparse

from kronbench.bench.job import run_experiment
from kronbench.datasets.dataset import Dataset
from kronbench.experiments.text_classification import some_subclasses
from kronbench.operators import Tree

# Two children of the root, two subclasses each, three leaves each.
PARENTS = np.array([-1, 0, 0, 1, 1, 2, 2, *np.repeat([3, 4, 5, 6], 3)])
COMMON = {"seed": 1, "time_cap": 60}
TEXTS = COMMON | {
    "methods": ["F1", "H1", "F2", "H2"],
    "splits": 2,
    "folds": 3,
    "start": 5,
    "bias_variances": [0.1, 1],
    "precision": "single",
    "noise": 1e-3,
    "max_evaluations": 10,
    "most_documents": 1000,
    "baselines": True,
    "top_down_weights": [1, 10],
}


def documents(n=240, d=60, dense=False, name="ipc-d"):
    rng = np.random.default_rng(0)
    tree = Tree(PARENTS)
    y = rng.integers(0, tree.n_classes, n)
    topics = rng.random((tree.n_nodes, d)) ** 6
    rates = 0.1 + 8 * tree.scores(topics.T).T[y] / 3
    X = rng.poisson(rates * (0.2 if not dense else 1)).astype(float)
    X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12)
    arrays = {"X": X if dense else sparse.csr_array(X), "y": y, "parents": PARENTS}
    kind = "vectors" if dense else "documents"
    return Dataset(name=name, source="mirror", kind=kind, arrays=arrays)


def pixels(n=260, n_test=80):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, n)
    X = 100 + 30 * rng.standard_normal((3, 4))[y] + 20 * rng.standard_normal((n, 4))
    arrays = {"X": X, "y": y, "is_test": np.arange(n) >= n - n_test}
    return Dataset(name="satimage", source="mirror", kind="vectors", arrays=arrays)


@pytest.fixture(scope="module")
def texts():
    return run_experiment("text_classification", TEXTS, documents(), "ipc-d")


def test_every_method_is_scored_on_the_same_splits(texts):
    learned = texts[texts["variances"] == "learned"]
    assert set(learned["method"]) == {"F1", "H1", "F2", "H2", "LogisticRegression", "top-down"}
    counts = learned.groupby("method")["n_variances"].first()
    assert counts[["F1", "H1", "F2", "H2"]].tolist() == [1, 3, 2, 2]
    assert (learned["psi"].dropna() <= learned["psi_start"].dropna() + 1e-12).all()
    assert set(texts["variances"]) == {"learned", "one", "start"}
    assert texts["bias_variance"].nunique() == 1
    for column in ("acc", "prec", "pacc"):
        assert texts[column].between(0, 1).all()
    assert texts["taxo"].between(0, 3).all()
    assert (learned[learned["method"] != "top-down"]["acc"] > 0.3).all()


def test_another_library_has_the_same_flat_model(texts):
    row = texts[texts["method"] == "LogisticRegression"].iloc[0]
    ours = texts[(texts["method"] == "F1") & (texts["variances"] == "learned")].iloc[0]
    assert row["deviation"] < 1e-3
    assert row["acc"] == pytest.approx(ours["acc"], abs=0.03)


def test_whole_subclasses_are_kept():
    data = documents()
    X, y, parents = some_subclasses(data, 130)
    assert 60 < X.shape[0] <= 130 and X.shape[0] == len(y)
    tree, whole = Tree(parents), Tree(PARENTS)
    assert tree.n_classes == y.max() + 1 == len(np.unique(y))
    assert (np.bincount(tree.parents[tree.leaves])[3:] <= 3).all()
    homes = whole.parents[whole.leaves][data["y"]]
    sizes = np.bincount(homes)[3:]
    ours = np.bincount(tree.parents[tree.leaves][y])
    assert set(ours[ours > 0]) <= set(sizes)
    assert some_subclasses(data, 1000)[0] is data["X"]
    np.testing.assert_array_equal(some_subclasses(data, 130)[1], y)


def test_curves_end_at_the_test_error_and_start_at_zero():
    spec = COMMON | {
        "methods": ["mc-tied", "mc-sep", "1rest"],
        "partitions": [0, 1],
        "folds": 3,
        "start": 10,
        "bias_variance": 1.0,
        "precision": "single",
        "noise": 1e-3,
        "max_evaluations": 6,
        "coarse": 60,
        "points": 11,
    }
    frame = run_experiment("reject_curves", spec, pixels(), "satimage")
    assert len(frame) == 2 * 3 * 11
    counts = frame.groupby("method")["hyperparameters"].first()
    assert counts[["mc-tied", "mc-sep", "1rest"]].tolist() == [2, 6, 6]
    for _, curve in frame.groupby(["partition", "method"]):
        assert curve["error"].iloc[0] == 0 and curve["error"].is_monotonic_increasing
        assert curve["predicted"].iloc[-1] == 80 and curve["error"].iloc[-1] < 0.5
    rest = frame[frame["method"] == "1rest"]
    assert (rest["advantage"] == 0).all()
    tied = frame[frame["method"] == "mc-tied"]
    np.testing.assert_allclose(
        tied["advantage"].to_numpy(), rest["error"].to_numpy() - tied["error"].to_numpy()
    )


def test_fits_evaluations_and_searches_are_timed():
    spec = COMMON | {
        "variances": {"F1": 5, "H1": [3, 4, 5], "H2": 4},
        "folds": 3,
        "bias_variance": 0.1,
        "precision": "single",
        "tol": 1e-6,
        "noise": 1e-4,
    }
    frame = run_experiment("final_fits", spec, documents(), "ipc-d")
    final = frame[frame["quantity"] == "final fit"]
    assert final["method"].tolist() == ["F1", "H1", "H2"]
    assert (final["gap"] <= 1e-6).all() and (final["seconds"] > 0).all()
    evaluations = frame[frame["quantity"] == "evaluation"]
    assert (evaluations.groupby("method")["stage"].first() == "first").all()
    assert set(frame["quantity"]) == {"final fit", "learning", "evaluation", "cv fold"}
    capped = run_experiment("final_fits", spec | {"time_cap": 0}, documents(), "ipc-d")
    assert set(capped["quantity"]) == {"final fit"} and len(capped.attrs["skipped"]) == 3


@pytest.mark.parametrize("dense", [True, False])
def test_iterations_come_down_to_the_same_mode(dense):
    spec = COMMON | {
        "variances": [5],
        "bias_variance": 0.1,
        "k2": {"flat": 12, "tree": 17},
        "max_iter": 30,
        "accuracy": 1e-6,
    }
    frame = run_experiment("newton_iterations", spec, documents(dense=dense), "ipc-d")
    ours = frame[frame["iteration"] == "ours"]
    assert ours.groupby("model")["reached"].sum().tolist() == [1, 1]
    known = ours.dropna(subset=["gap"])
    assert (known["excess"] <= known["gap"] * (1 + 1e-6) + 1e-9).all()
    assert (ours["fall"].dropna() > 0).all()
    assert frame[frame["iteration"] == "printed"].groupby("model")["reached"].any().all()
    names = {"printed", "printed, k2 = 4", "ours"}
    assert set(frame["iteration"]) == names | ({"ours, tree preconditioner"} if dense else set())


def test_ways_to_multiply_agree_and_are_timed():
    spec = COMMON | {"classes": [4, 8], "precision": "single", "gamma": 0.5, "stored": 100}
    frame = run_experiment("kernel_products", spec, documents(), "ipc-d")
    ways = frame.groupby("comparison")["way"].apply(set)
    assert ways["tree"] == {"flat", "tree"}
    assert ways["folds"] == {"contiguous", "looked up", "copied", "zero-padded"}
    assert (frame[frame["comparison"] == "tree"]["bound"] == 18 / 12).all()


def test_levels_are_counted_and_shares_add_up():
    spec = COMMON | {
        "folds": 3,
        "start": 5,
        "bias_variance": 0.1,
        "precision": "single",
        "max_evaluations": 4,
    }
    frame = run_experiment("reductions", spec, documents(), "ipc-d")
    calls = frame[frame["kind"] == "level"].set_index("name")["calls"]
    assert calls["fits of a fold"] == 3 * calls["Psi and its gradient"]
    assert calls["hyperparameters"] == 3
    # every product with the Hessian makes one with the kernel
    assert calls["kernel products"] > calls["products with the Hessian"] > 0
    times = frame[frame["kind"] == "time"]
    assert times["share"].sum() == pytest.approx(1) and (times["seconds"] > 0).all()


def test_parts_of_the_model_belong_together():
    spec = COMMON | {"variances": [3.0, 4.0, 5.0], "bias_variance": 0.1}
    frame = run_experiment("model_structure", spec, documents(), "ipc-d")
    parts = {part: _matrix(rows) for part, rows in frame.groupby("part")}
    np.testing.assert_allclose(parts["mixing"] @ parts["functions"], parts["scores"], atol=1e-3)
    np.testing.assert_allclose(parts["probabilities"].sum(axis=0), 1, atol=1e-3)
    np.testing.assert_allclose(parts["coupling"].sum(axis=0), 0, atol=1e-3)
    assert frame["deviation"].iloc[0] < 1e-9


def _matrix(rows):
    shape = tuple(int(size) for size in rows["shape"].iloc[0].split(" x "))
    out = np.zeros(shape)
    out[rows["row"], rows["column"]] = rows["value"]
    return out


def test_extensions():
    spec = COMMON | {
        "repetitions": 1,
        "gamma": 0.5,
        "variance": 20,
        "exact_points": 60,
        "points": 120,
        "new_points": 80,
        "ranks": [20, 60],
        "folds": 3,
        "max_evaluations": 5,
        "vague": 0.5,
        "tree_variances": [4, 4, 4],
        "bias_variance": 0.1,
    }
    frame = run_experiment("model_extensions", spec, pixels(), "satimage")
    exact = frame[frame["extension"] == "exact"].iloc[0]
    assert exact["deviation"] < 1e-6 and exact["excess"] < 1e-9
    low_rank = frame[frame["extension"] == "low rank"]
    assert (low_rank["smallest_gap"] > -1e-10).all()
    corrected = low_rank[low_rank["variant"] == "corrected"]
    assert corrected["deviation"].is_monotonic_decreasing
    coupling = frame[frame["extension"] == "coupling"].set_index("variant")["psi"]
    assert coupling["learned"] <= coupling["none"] + 1e-6
    frame = run_experiment("model_extensions", spec, documents(), "ipc-d")
    assert frame["variant"].tolist() == ["left out", "EM", "all known"]
    assert frame["posterior_fall"].dropna().iloc[0] <= 1e-7


def test_sizes_of_sections():
    parents = np.array([-1, 0, 0, 1, 1, 2, 3, 3, 4, 5, 5, 5])
    y = np.array([0, 0, 1, 2, 3, 4, 5, 5])
    data = Dataset("index", source="mirror", kind="classes", arrays={"y": y, "parents": parents})
    frame = run_experiment("collection_sizes", COMMON, data, "index").set_index("section")
    assert frame.loc["all", ["documents", "classes", "nodes"]].tolist() == [8, 6, 11]
    assert frame.loc["A", ["documents", "classes", "nodes", "children"]].tolist() == [4, 3, 5, 2]
    assert frame.loc["B", ["documents", "classes", "nodes", "children"]].tolist() == [4, 3, 4, 1]
    assert (frame["training"] == [6, 3, 3]).all() and frame.loc["A", "levels"] == 2
