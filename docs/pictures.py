"""The pictures of the explanations: ``python docs/pictures.py`` writes them beside the pages.

Each is computed by the package on a small example, so that a picture shows what the code does.
They are committed, since a forge shows the pages without building them.
"""

from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from kronbench import PairData
from kronbench.class_tree import Tree
from kronbench.datasets.generators import checkerboard
from kronbench.evaluation import roc_auc
from kronbench.linalg import csi, gram, incomplete_cholesky
from kronbench.models import CompleteKronRidge, KronRidge
from kronbench_suite.report.style import STYLE, new_figure

FOLDER = Path(__file__).parent / "pictures"


def vec_trick() -> Figure:
    """Coefficients as a sparse matrix, its product with K, and the outputs that are asked for."""
    rng = np.random.default_rng(0)
    pairs, _ = checkerboard(12, rng, q=9, fraction=0.22)
    V = np.full((12, 9), np.nan)
    V[pairs.rows, pairs.cols] = rng.standard_normal(len(pairs))
    K = gram(rng.standard_normal((12, 3)), kernel="gaussian", gamma=0.3)
    G = gram(rng.standard_normal((9, 3)), kernel="gaussian", gamma=0.3)
    KV = K @ np.nan_to_num(V)
    U = np.where(np.isnan(V), np.nan, KV @ G.T)
    figure, axes = new_figure(1, 5, height=2.0, width_ratios=[12, 9, 9, 9, 9])
    shown = [(K, "K"), (V, "V: coefficients"), (KV, "K V"), (G, "G"), (U, "outputs asked for")]
    for axis, (matrix, title) in zip(axes[0], shown, strict=True):
        largest = np.nanmax(np.abs(matrix))
        axis.imshow(matrix, cmap="RdBu", vmin=-largest, vmax=largest)
        axis.set(title=title, xticks=[], yticks=[])
        axis.grid(False)
    return figure


def margins() -> Figure:
    """Weights of a random part of all pairs, and the product of their margins."""
    rng = np.random.default_rng(1)
    busy_rows, busy_cols = rng.uniform(0.2, 1, 30), rng.uniform(0.2, 1, 40)
    weights = (rng.random((30, 40)) < 0.6 * np.outer(busy_rows, busy_cols)).astype(float)
    product = np.outer(weights.sum(1), weights.sum(0)) / weights.sum()
    figure, axes = new_figure(1, 2, width=5.4, height=2.3)
    shown = [(weights, "weights of the pairs"), (product, "product of their margins")]
    for axis, (matrix, title) in zip(axes[0], shown, strict=True):
        axis.imshow(matrix, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        axis.set(
            title=title, xlabel="column vertices", ylabel="row vertices", xticks=[], yticks=[]
        )
        axis.grid(False)
    return figure


def shortcuts() -> Figure:
    """Left-out predictions in settings B, C and D beside those of retraining."""
    rng = np.random.default_rng(2)
    D, T = rng.standard_normal((12, 4)), rng.standard_normal((10, 4))
    Y = np.sign(D @ rng.standard_normal((4, 4)) @ T.T + rng.standard_normal((12, 10)))
    model = CompleteKronRidge(reg=1.0).fit_matrix(D, T, Y)
    figure, axes = new_figure(1, 3, height=2.3, sharex=True, sharey=True)
    for axis, setting in zip(axes[0], "BCD", strict=True):
        again = np.empty_like(Y)
        for i, j in np.ndindex(*Y.shape):
            rows = np.delete(np.arange(12), i if setting in "BD" else [])
            cols = np.delete(np.arange(10), j if setting in "CD" else [])
            other = CompleteKronRidge(reg=1.0).fit_matrix(D[rows], T[cols], Y[np.ix_(rows, cols)])
            again[i, j] = other.predict_matrix(D[[i]], T[[j]])[0, 0]
        axis.plot([-2, 2], [-2, 2], color="#BBBBBB", lw=0.8)
        axis.plot(again.ravel(), model.loo(setting).ravel(), ".", ms=3)
        axis.set(title=f"setting {setting}", xlabel="retraining")
    axes[0, 0].set_ylabel("shortcut")
    return figure


def krylov() -> Figure:
    """Test AUC by iteration for several weights, all from one Krylov space."""
    rng = np.random.default_rng(3)
    decay = np.arange(1, 11) ** -1.5
    D, T = decay * rng.standard_normal((150, 10)), decay * rng.standard_normal((120, 10))
    rows, cols = rng.integers(150, size=4000), rng.integers(120, size=4000)
    truth = D @ rng.standard_normal((10, 10)) @ T.T
    y = np.sign(truth[rows, cols] + rng.standard_normal(4000))
    pairs = PairData(D, T, rows, cols)
    train, test = (rows < 100) & (cols < 80), (rows >= 100) & (cols >= 80)
    regs = [1e-3, 1.0, 30.0, 1000.0]
    path = KronRidge(max_iter=60, tol=0).path(pairs[train], y[train], regs, pairs[test])
    figure, axes = new_figure(1, 1, width=4.6, height=2.6)
    for j, reg in enumerate(regs):
        areas = [roc_auc(y[test], scores) for scores in path.test_scores(j)]
        axes[0, 0].plot(np.arange(1, len(areas) + 1), areas, label=f"reg = {reg:g}")
    axes[0, 0].set(xlabel="iteration", ylabel="AUC, both vertices new")
    axes[0, 0].legend()
    return figure


def look_ahead() -> Figure:
    """What the columns of a factor leave of the targets, by their number."""
    rng = np.random.default_rng(4)
    X = rng.standard_normal((400, 6))
    X[:, 5] *= 0.5
    y = np.sin(3 * X[:, 5])
    K = gram(X, kernel="gaussian", gamma=0.1)
    factors = {
        "for the kernel alone": incomplete_cholesky(K, 60, 0.0),
        "for kernel and targets": csi(K, y, 60, tol=0.0),
    }
    figure, axes = new_figure(1, 1, width=4.6, height=2.6)
    ranks = np.arange(1, 61)
    for name, factor in factors.items():
        left = []
        for rank in ranks:
            G = np.column_stack([np.ones(400), factor.factor[:, :rank]])
            left.append(np.mean((y - G @ np.linalg.lstsq(G, y, rcond=None)[0]) ** 2) / y.var())
        axes[0, 0].plot(ranks, left, label=f"pivots {name}")
    axes[0, 0].set(xlabel="columns", ylabel="part of the targets left")
    axes[0, 0].legend()
    return figure


def class_tree() -> Figure:
    """A tree of classes, and what its nodes add to the covariance between classes."""
    tree = Tree(np.array([-1, 0, 0, 1, 1, 1, 2, 2]))
    position = {3: 0, 4: 1, 5: 2, 6: 3, 7: 4}
    position |= {1: 1.0, 2: 3.5, 0: 2.25}
    figure, axes = new_figure(1, 2, width=5.6, height=2.4)
    left, right = axes[0]
    for node, parent in enumerate(tree.parents):
        if parent >= 0:
            left.plot(
                [position[node], position[parent]],
                [-tree.depths[node], -tree.depths[parent]],
                color="#888888",
                lw=0.8,
            )
        left.plot(
            position[node], -tree.depths[node], "o", ms=9, color="#0072B2" if node else "#D5D5D5"
        )
    left.set(title="functions on the nodes below the root", xticks=[], yticks=[])
    left.axis("off")
    covariance = tree.couple(np.eye(tree.n_classes), np.ones(tree.n_nodes))
    right.imshow(covariance, cmap="Blues", vmin=0, vmax=2)
    for (i, j), value in np.ndenumerate(covariance):
        right.text(j, i, f"{value:.0f}", ha="center", va="center", fontsize=8)
    right.set(title="their sum over shared paths", xlabel="class", ylabel="class")
    right.grid(False)
    return figure


PICTURES = (vec_trick, margins, shortcuts, krylov, look_ahead, class_tree)


def main() -> None:
    """Write all pictures."""
    matplotlib.rcParams.update(STYLE | {"svg.fonttype": "none"})
    for picture in PICTURES:
        figure = picture()
        path = FOLDER / f"{picture.__name__.replace('_', '-')}.svg"
        figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main()
