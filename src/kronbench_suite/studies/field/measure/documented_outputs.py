"""What the scripts of RLScore's documentation print, by our own estimators.

Parameters
----------
scripts : data set, model and setting of each script
only : scripts that are run, where not all are
orders : number of other orders of the pairs
split_seed : seed of the documented split, by data set
n_train : sizes of the training sets, by data set
"""

import itertools
import random

import numpy as np
import pandas as pd
from scipy.sparse.linalg import LinearOperator
from tqdm import tqdm

from kronbench.errors import InputError
from kronbench.evaluation import concordance_index
from kronbench.linalg import gram, minres
from kronbench.linalg.eigen import kernel_spectrum
from kronbench.models import CompleteKronRidge, TwoStepRidge
from kronbench_suite.runner.columns import Columns

COLUMNS = Columns(
    key=("file", "reading", "line"),
    rounding=("value_reversed", "order_mean", "order_deviation"),
)

_EXPONENTS = ("exponent", "second_exponent")
_NUMBERS = ("iteration", *_EXPONENTS, "value", "ties", *COLUMNS.rounding)

_TIE = 1e-9  # of the median size of a prediction: what rounding leaves between equal ones


def run(spec, data, rng):
    """One row for each line that a script prints: the concordance index at one weight or iterate.

    ``scripts`` says of each the ``setting`` of its test set or of what is left out, the first and
    the last of the ``exponents`` of two of each weight, ``gammas`` of Gaussian kernels, ``folds``
    where more than one pair or vertex is left out. ``only`` names those that are run, None all.

    "as described" leaves out what the documentation says; "as programmed" repeats departures of
    the program from that. ``ties`` is half the share of comparable pairs with equal predictions:
    rounding decides what a program that does not count them half makes of these. ``order_mean``
    and ``order_deviation`` are of this value and ``spec["orders"]`` others, with their sums in
    orders that are drawn, for the first ``reordered`` iterations; ``value_reversed`` is the first
    of the others.
    """
    frames = []
    names = [name for name, script in spec["scripts"].items() if script["data"] == data.name]
    only = spec["only"] or names
    for name in tqdm([name for name in names if name in only], desc=data.name, unit="file"):
        script = dict(spec["scripts"][name])
        ends = script.get("exponents", ())
        script["exponents"] = [np.arange(first, last + 1) for first, last in ends]
        # The lines of a script in the order in which it prints them, by reading.
        lines = _LINES[script["model"]](data, script, spec)
        frame = pd.DataFrame(lines).assign(file=name)
        frame["line"] = frame.groupby("reading").cumcount() + 1
        frames.append(frame)
    if not frames:
        raise InputError(f"no script of {data.name} is to be run: give some in only")
    # every column, whichever scripts are run
    columns = [*COLUMNS.key, *_NUMBERS, "score", "at"]
    return pd.concat(frames, ignore_index=True).reindex(columns=columns)


def _line(labels, predictions, score, exponents=(), reading="as described", **at):
    """A row: the concordance index, equal predictions counted half, and what they could move."""
    y, p = np.ravel(labels), np.ravel(predictions)
    order = np.argsort(p, kind="stable")
    steps = np.diff(p[order]) > _TIE * np.median(np.abs(p))
    levels = np.empty(len(p))
    levels[order] = np.concatenate([[0], np.cumsum(steps)])
    value = concordance_index(y, levels)
    ties = value - concordance_index(y, levels, ties="zero")
    if exponents:
        at = {"at": " ".join(f"2^{exponent}" for exponent in exponents)}
        at |= zip(_EXPONENTS, exponents, strict=False)
    return {"reading": reading, "score": score, "value": value, "ties": ties, **at}


def _shuffled(size, n_train, drawn):
    """Positions that train, and those that test."""
    positions = list(range(size))
    drawn.shuffle(positions)
    return positions[:n_train], positions[n_train:]


def _sides(data, script, spec):
    """For each side the vertices that train and those that test; all as both without new ones."""
    drawn = np.random.RandomState(spec["split_seed"][data.name])
    for side, size in enumerate(data["values"].shape):
        if script["setting"] in ("BD", "CD")[side]:
            yield _shuffled(size, spec["n_train"][data.name][side], drawn)
        else:
            yield list(range(size)), list(range(size))


def _split(data, script, spec):
    """Kernels and labels of the vertices that train, labels of those that test, and a function.

    It predicts the latter by the inverse eigenvalues (m, q) that a method has.
    """
    parts = list(_sides(data, script, spec))
    features = data["drug_similarity"], data["target_similarity"]
    gammas = script.get("gammas", [None, None])
    kernels, spectra, turned = [], [], []
    for X, (train, test), gamma in zip(features, parts, gammas, strict=True):
        options = {"kernel": "linear" if gamma is None else "gaussian", "gamma": gamma}
        kernels.append(gram(X[train], **options))
        spectra.append(kernel_spectrum(kernels[-1]))
        turned.append(gram(X[test], X[train], **options) @ spectra[-1].vectors)
    Y, Y_test = (data["values"][np.ix_(*part)] for part in zip(*parts, strict=True))
    (rows, cols), (left, right) = spectra, turned
    coordinates = rows.vectors.T @ Y @ cols.vectors
    return (
        kernels,
        Y,
        Y_test,
        lambda inverse: left @ (coordinates * inverse(rows.values, cols.values)) @ right.T,
    )


def _ridge(data, script, spec):
    """Kronecker ridge regression: leave-one-out of pairs in setting A, else a test set."""
    kernels, Y, Y_test, predict = _split(data, script, spec)
    (exponents,) = script["exponents"]
    if script["setting"] == "A":
        model = CompleteKronRidge(row_kernel="precomputed", col_kernel="precomputed")
        grid = model.fit_matrix(*kernels, Y).loo_grid("A", 2.0**exponents)
        scored = ((Y, F, "left out") for _, F in grid)
    else:
        scored = (
            (Y_test, predict(lambda x, s, reg=2.0**e: 1 / (np.outer(x, s) + reg)), "test")
            for e in exponents
        )
    for exponent, scores in zip(exponents, scored, strict=True):
        yield _line(*scores, [exponent])


def _two_step(data, script, spec):
    """Two-step ridge regression: a test set in settings B to D, then what is left out."""
    kernels, Y, Y_test, predict = _split(data, script, spec)
    setting, exponents = script["setting"], script["exponents"]
    model = TwoStepRidge(row_kernel="precomputed", col_kernel="precomputed")
    folds = None
    if "folds" in script:  # numbers of the parts, as ``loo_grid`` takes them
        sizes = {"A": [Y.shape], "B": Y.shape[:1], "C": Y.shape[1:], "D": Y.shape}[setting]
        folds = [np.empty(size, int) for size in sizes]
        for parts, seed in zip(folds, script["fold_seeds"], strict=True):
            for k, part in enumerate(random_folds(parts.size, script["folds"], seed)):
                parts.flat[part] = k
        folds = folds if setting == "D" else folds[0]
    regs = [2.0**e for e in exponents]
    left_out = dict(model.fit_matrix(*kernels, Y).loo_grid(setting, *regs, folds=folds))
    for (i, first), (j, second) in itertools.product(*map(enumerate, exponents)):
        if setting != "A":
            F = predict(lambda x, s, a=regs[0][i], b=regs[1][j]: 1 / np.outer(x + a, s + b))
            yield _line(Y_test, F, "test", [first, second])
        yield _line(Y, left_out[i, j], "left out", [first, second])


def random_folds(size: int, number: int, seed: int) -> list[list[int]]:
    """Folds as RLScore draws them: samples without replacement of what is left, as a set.

    The order of a set of integers is CPython's, which is the same in all its versions since 3.3.
    """
    drawn, left, folds = random.Random(seed), set(range(size)), []
    for k in range(number):
        folds.append(drawn.sample(tuple(left), size // number + (k < size % number)))
        left = left.difference(folds[-1])
    return folds


def _symmetric(data, script, spec):
    """Two-step ridge regression of a symmetric matrix, with one kernel and weight on both sides.

    Left out are the pair and its mirror image (A), a vertex (B), or both vertices (D).
    """
    S = data["drug_similarity_ecfp4"]
    K = gram(data["drug_similarity"], kernel="linear")
    setting, (exponents,) = script["setting"], script["exponents"]
    model = TwoStepRidge(row_kernel="precomputed", col_kernel="precomputed").fit_matrix(K, K, S)
    for reading in ("as described", "as programmed"):
        for exponent in exponents:
            reg = [2.0**exponent]
            # column j without the vertex j is setting C of the library
            grid = model.loo_grid(setting.replace("B", "C"), reg, reg, symmetric=True)
            F = next(iter(grid))[1]
            if reading == "as programmed":
                H = np.linalg.solve(K + reg * np.eye(len(K)), K).T
                h = H.diagonal()
                if setting == "B":
                    # Each side is smoothed once, with its labels on the diagonal replaced by what
                    # should be leave-one-out, (H - I) Y / (1 - h); the parentheses make it
                    # H - Y / (1 - h). Row and column of the vertex remain in the training set.
                    F = S
                    for _ in range(2):
                        F = H @ (F.T + np.diag(h - F.diagonal() / (1 - h)))
                else:
                    # In A the entries of the diagonal, their own mirror images, are left out
                    # twice; in D they are zero.
                    twice = 2 * h**2
                    diagonal = ((H @ S @ H).diagonal() - twice * S.diagonal()) / (1 - twice)
                    F = F - np.diag(F.diagonal() - (diagonal if setting == "A" else 0.0))
            yield _line(S, F, "left out", [exponent], reading)


def _iterations(data, script, spec):
    """MINRES on the features of known pairs, without a weight: each tenth iterate."""
    rows, cols = np.nonzero(np.isfinite(data["values"]))
    y = data["values"][rows, cols]
    if script["setting"] == "A":
        drawn = np.random.RandomState(spec["split_seed"][data.name])
        train, test = map(np.sort, _shuffled(len(y), spec["n_train"][data.name][2], drawn))
    else:
        sides = zip((rows, cols), _sides(data, script, spec), strict=True)
        new = [np.isin(of_pair, test) for of_pair, (train, test) in sides if train != test]
        train, test = np.flatnonzero(~np.any(new, axis=0)), np.flatnonzero(np.all(new, axis=0))
    X = data["drug_similarity"], data["target_similarity"]
    # Our iterates, and the first of them again with the pairs in other orders.
    lines = _iterates(*X, (rows, cols, y), train, test, script["max_iter"])
    of_orders = [[line["value"] for line in lines[: script["reordered"] // 10]]]
    for seed in range(spec["orders"]):
        # the same vertices and pairs in another order
        drawn = np.random.RandomState(seed)
        drugs, targets, order = map(drawn.permutation, (*data["values"].shape, len(y)))
        place = np.argsort(order)
        again = _iterates(
            *(side[np.ix_(new, new)] for side, new in zip(X, (drugs, targets), strict=True)),
            (np.argsort(drugs)[rows[order]], np.argsort(targets)[cols[order]], y[order]),
            np.sort(place[train]),
            np.sort(place[test]),
            script["reordered"],
        )
        of_orders.append([line["value"] for line in again])
    for line, *values in itertools.zip_longest(lines, *of_orders, fillvalue=np.nan):
        moments = np.mean(values), np.std(values, ddof=1)
        yield line | dict(zip(COLUMNS.rounding, (values[1], *moments), strict=True))


def _iterates(D, T, pairs, train, test, max_iter):
    rows, cols, y = pairs
    drugs, in_rows = np.unique(rows[train], return_inverse=True)
    targets, in_cols = np.unique(cols[train], return_inverse=True)
    D, T = _turned(D, drugs), _turned(T, targets)
    left, right = D[drugs], T[targets]
    shape = left.shape[1], right.shape[1]
    scattered = np.zeros((len(drugs), len(targets)))

    def adjoint(v):
        scattered[in_rows, in_cols] = v
        return (left.T @ (scattered @ right)).ravel()

    def square(w):
        return adjoint((left @ (w.reshape(shape) @ right.T))[in_rows, in_cols])

    lines, iterations = [], itertools.count(1)

    def scored(w, residual):
        iteration = next(iterations)
        if iteration % 10 == 0:
            F = (D @ (w.reshape(shape) @ T.T))[rows[test], cols[test]]
            lines.append(_line(y[test], F, "test", at=str(iteration), iteration=iteration))

    size = shape[0] * shape[1]
    system = LinearOperator((size, size), matvec=square, dtype=np.float64)
    minres(system, adjoint(y[train]), tol=0, max_iter=max_iter, callback=scored)
    return lines


def _turned(features, used):
    """Features (m, k) in an orthonormal basis of those of the k < m used vertices.

    The others are projected: no iterate has a part outside.
    """
    if len(used) == len(features):
        return features
    basis = np.linalg.svd(features[used], full_matrices=False)[2]
    return features @ basis.T


_LINES = {"ridge": _ridge, "two-step": _two_step, "symmetric": _symmetric}
_LINES |= {"iterations": _iterations}
