"""Methods for pairs on the same random splits, each with its parameters chosen inside.

Parameters
----------
methods : solvers by name, each with its inputs, values to choose from, and where it is absent
means : methods of which the mean is scored, by its name
added : files of rows that others have measured
settings : what is new in a test pair
repetitions : number of random splits of a setting, by data set
test_size : share of the vertices, or of the pairs, that are new
pairs : training pairs on which parameters are chosen at most, by data set
train_pairs : training pairs to which a method is fitted at most, by data set
inner : inner splits that choose, by data set
test_pairs : most test pairs
components : principal components of each kernel
"""

import importlib.util
import itertools
from types import SimpleNamespace

import numpy as np
import pandas as pd
from sklearn.base import is_classifier
from tqdm import tqdm

from kronbench.datasets.drug_target import affinities, unit_kernel
from kronbench.errors import InputError
from kronbench.evaluation import affinity_scores, mean_of_models, roc_auc, shuffle_split
from kronbench.models import KmerSpectrum, MorganFingerprints
from kronbench.pairs import PairData
from kronbench.solvers import installed, make_solver, scores_of
from kronbench_suite.runner.clock import Stopwatch
from kronbench_suite.runner.columns import Columns
from kronbench_suite.runner.seeds import generator

COLUMNS = Columns(
    key=("setting", "repetition", "method"),
    repeats=("repetition",),
    clock=("choosing_cpu", "fitting_cpu"),
)

_DENSE = 0.2  # share of all pairs from which on a dense product takes less time than a sparse one
_SCORES = ("auc", "aupr", "ci", "mse", "interaction")


def run(spec, data, rng):
    """One row for each setting, draw and method, and one for each of ``means`` of methods.

    A method chooses from its ``grid`` on ``inner`` splits of a sample of ``pairs``, or of the
    ``choice_pairs`` of its entry where these are fewer (null: of all training pairs, which what
    reads whole profiles needs to choose, too); its last fit takes all training pairs of the split,
    up to ``train_pairs`` and the ``most_pairs`` of its entry. ``labels: classes`` or
    ``numbers`` of an entry leaves other data sets out, and a classifier is of classes. In a grid
    "a+b" has one value for both, or a list with one for each, and ``reads`` is what it reads:
    values that a data set has not are left out. ``grid_edges`` is the share of chosen values at an
    end of their grid. ``score`` is the AUC of classes and the concordance index of numbers. Files
    of ``added`` have the rows of further methods, measured elsewhere on the same splits.
    ``frame.attrs["predictions"]`` are those of all test pairs.
    """
    methods, skipped = installed(spec["methods"])
    problem, rows, kept = Problem(data, spec), [], {}
    draws = list(itertools.product(spec["settings"], range(problem.of("repetitions"))))
    for setting, draw in tqdm(draws, desc=data.name, unit="split"):
        split = problem.split(setting, draw)
        problem.permute(setting, draw)
        pairs = problem.inputs["kernels"][split.test]
        kept |= {
            f"{setting}/{draw}/rows": pairs.rows,
            f"{setting}/{draw}/cols": pairs.cols,
            f"{setting}/{draw}/labels": problem.y[split.test],
            f"{setting}/{draw}/positive": problem.signs[split.test] > 0,
        }
        suitable = problem.suitable(methods, split, skipped)
        found, measured = measured_on(suitable, spec["means"], problem, split)
        kept |= {f"{setting}/{draw}/{name}": scores for name, scores in found.items()}
        for name, row in measured.items():
            at = {"setting": setting, "repetition": draw, "method": name}
            rows.append(at | {"n_test": len(split.test)} | row)
    frame = pd.concat([pd.DataFrame(rows), *_added(spec, data.name, rows)], ignore_index=True)
    frame.attrs |= {"skipped": list(dict.fromkeys(skipped)), "predictions": kept}
    return frame


def measured_on(methods, means, problem, split):
    """The scores of the test pairs by each method and mean of methods, and their rows."""
    found, measured = {}, {}
    for name, entry in methods.items():
        found[name], measured[name] = _measured(entry, problem, split)
    for name, parts in means.items():
        if set(parts) <= set(found):
            members = [found[part] for part in parts]
            found[name] = np.float32(mean_of_models(members, standardized=not problem.numbers))
            n_train = min(measured[part]["n_train"] for part in parts)
            measured[name] = {"n_train": n_train} | problem.scores(split.test, found[name])
    return found, measured


def _added(spec, dataset, rows):
    """Yield the rows of each file of ``added`` on this data set, which must be on its splits."""
    here = {(row["setting"], row["repetition"], row["n_test"]) for row in rows}
    for path in spec["added"]:
        frame = pd.read_csv(path)
        frame = frame[frame["dataset"].str.lower() == dataset.lower()]
        splits = frame[["setting", "repetition", "n_test"]]
        there = set(splits.itertuples(index=False, name=None))
        if there != here or set(frame["seed"]) != {spec["seed"]}:
            raise InputError(
                f"{path} has not the splits of {dataset} in this run: give a file of the same "
                "scale and seed"
            )
        yield frame.drop(columns=["dataset", "source", "seed", "peak_mib"])


class Problem:
    """The known pairs of a data set, their labels, and what methods may read of the vertices."""

    def __init__(self, data, spec):
        if data.kind != "label matrix":
            raise InputError(
                f"{data.name} holds {data.kind}: give a data set with similarities of both sides"
            )
        values = affinities(data)
        known = np.isfinite(values)
        rows, cols = np.nonzero(known)
        self.name, self.spec = data.name, spec
        self.signs = data["labels"][known].astype(float)
        self.numbers = len(np.unique(values[known])) > 2
        self.y = values[known] if self.numbers else self.signs
        self.whole = len(rows) == values.size
        normalized = "target_similarity_normalized" in data.arrays
        of_targets = "target_similarity_normalized" if normalized else "target_similarity"
        kernels = [unit_kernel(data[name]) for name in ("drug_similarity", of_targets)]
        components = [principal_components(K, spec["components"]) for K in kernels]
        sides = {"kernels": kernels, "components": components}
        sides["rows"] = [K.astype(np.float32) for K in kernels]
        sides["both"] = [np.hstack(pair) for pair in zip(sides["rows"], components, strict=True)]
        if "row_texts" in data.arrays and importlib.util.find_spec("rdkit"):
            found = MorganFingerprints(n_bits=1024), KmerSpectrum(k=2)
            texts = data["row_texts"], data["col_texts"]
            sides["raw"] = [
                each.fit_transform(of_side).toarray().astype(np.float32)
                for each, of_side in zip(found, texts, strict=True)
            ]
        self.inputs = {name: PairData(*pair, rows, cols) for name, pair in sides.items()}

    def split(self, setting, draw):
        """The ``order`` of the training pairs and the ``test`` pairs: positions among all."""
        X, spec = self.inputs["kernels"], self.spec
        rng = generator(spec["seed"], "board", self.name, setting, draw)
        seed = int(rng.integers(2**31))
        train, test = shuffle_split(X, setting, spec["test_size"], seed)
        test = _some(test, spec["test_pairs"], rng)
        # Each part of the training pairs that is taken, a sample or all, begins this order.
        order = rng.permutation(train)
        return SimpleNamespace(setting=setting, seed=seed, order=order, test=test)

    def of(self, name):
        """A parameter that has a value by data set; None of all is no bound."""
        by_name = self.spec[name]
        return by_name.get(self.name.lower(), by_name["others"])

    def inner(self, split, pairs):
        """Inner splits of training pairs, in the same setting: positions among all pairs."""
        for k in range(self.of("inner")):
            parts = shuffle_split(
                self.inputs["kernels"][pairs], split.setting, 0.25, split.seed + k
            )
            yield tuple(pairs[part] for part in parts)

    def suitable(self, methods, split, skipped):
        """The methods that take such labels and such a split; ``skipped`` gets reasons."""
        kind, most = "numbers" if self.numbers else "classes", self.of("train_pairs") or np.inf
        whole = self.whole and split.setting != "A" and len(split.order) <= most
        found = {}
        for name, entry in methods.items():
            two = is_classifier(make_solver(entry["solver"]))
            wanted = entry.get("labels", "classes" if two else kind)
            if wanted != kind:
                skipped.append(f"{self.name}: {name} is of {wanted}")
            elif split.setting not in entry.get("settings", [split.setting]):
                pass  # as the table of its settings says
            elif entry.get("complete") and not whole:
                skipped.append(f"{self.name}: {name} needs all pairs of the training vertices")
            else:
                found[name] = entry
        return found

    def permute(self, setting, draw):
        """Draw the kernels of the control for one split, whose chance its intervals then have."""
        X, spec = self.inputs["kernels"], self.spec
        rng = generator(spec["seed"], "permuted", self.name, setting, draw)
        orders = rng.permutation(X.n_rows), rng.permutation(X.n_cols)
        kernels = zip((X.row_features, X.col_features), orders, strict=True)
        self.inputs["permuted"] = X.with_features(*(K[np.ix_(p, p)] for K, p in kernels))

    def scores(self, test, scores):
        """The scores of the test pairs; those of pairs with numbers only where there are any."""
        X = self.inputs["kernels"]
        names = _SCORES if self.numbers else ("auc", "aupr", "interaction")
        pairs = self.y[test], scores, X.rows[test], X.cols[test]
        found = affinity_scores(*pairs, names=names, positive=self.signs[test] > 0)
        main = found["ci" if self.numbers else "auc"]
        return {"score": main} | {name: found.get(name, np.nan) for name in _SCORES}


def _some(positions, most, rng):
    """At most so many of the positions, in their order."""
    if len(positions) <= most:
        return positions
    return np.sort(rng.choice(positions, most, replace=False))


def principal_components(K: np.ndarray, most: int) -> np.ndarray:
    """Coordinates (m, p) of a kernel (m, m); the largest of each component is positive."""
    centred = K - K.mean(axis=0)
    centred -= centred.mean(axis=1, keepdims=True)
    values, vectors = np.linalg.eigh(centred)
    first = np.argsort(-values)[:most]
    first = first[values[first] > 1e-10 * values.max()]
    coordinates = vectors[:, first] * np.sqrt(values[first])
    largest = np.abs(coordinates).argmax(axis=0)
    return coordinates * np.sign(coordinates[largest, np.arange(len(first))])


def _measured(entry, problem, split):
    """The scores of the test pairs by a method, and its row."""
    train = split.order[: problem.of("train_pairs")][: entry.get("most_pairs")]
    choice_pairs = entry.get("choice_pairs", len(train))
    sample = train if choice_pairs is None else train[: problem.of("pairs")][:choice_pairs]
    train, inner = np.sort(train), list(problem.inner(split, np.sort(sample)))
    with Stopwatch() as choosing:
        chosen = _chosen(entry, problem, inner, split.seed)
    with Stopwatch() as fitting:
        X, model = _made(entry, problem, chosen, split.seed, len(train))
        if entry.get("chooses"):  # by itself, on the same inner splits
            places = [tuple(map(train.searchsorted, parts)) for parts in inner]
            model.set_params(cv=places)
        # What is kept is scored. Single precision leaves the order to 24 binary digits, which
        # heavy regularization needs, and leaves equal what differs by rounding alone.
        scores = np.float32(scores_of(model.fit(X[train], problem.y[train]), X[split.test]))
    return scores, problem.scores(split.test, scores) | {
        "n_train": len(train),
        "chosen": ", ".join(f"{name}={_text(value)}" for name, value in chosen.items()),
        "grid_edges": _at_ends(entry.get("grid", {}), chosen),
        "choosing_cpu": choosing.cpu_seconds,
        "fitting_cpu": fitting.cpu_seconds,
    }


def _at_ends(grid, chosen):
    """The share of chosen values at an end of their grid; NaN where none could be.

    Two values, and what has no order, have no ends; neither has a grid below 0 or a count of 1.
    """
    at_end = [
        chosen[name] == of[-1] or (chosen[name] == of[0] and repr(of[0]) not in ("0.0", "1"))
        for name, of in grid.items()
        if len(of) > 2 and not isinstance(of[0], list)
    ]
    return np.mean(at_end) if at_end else np.nan


def _text(value):
    if isinstance(value, list):
        return "/".join(map(_text, value))
    return value if isinstance(value, str) else f"{value:.4g}"


def _chosen(entry, problem, inner, seed):
    """The parameters of the grid that are best on the inner splits."""
    if "grid" not in entry:
        return {}
    grid = {
        names: [value for value in values if _each({names: value}).get("reads") in there]
        for names, values in entry["grid"].items()
        for there in [(None, *problem.inputs)]
    }
    candidates = [dict(zip(grid, at, strict=True)) for at in itertools.product(*grid.values())]
    path = grid.get(entry.get("path"), [None])
    worth = np.array([_worth(entry, candidates, path, problem, *parts, seed) for parts in inner])
    known = np.isfinite(worth).all(axis=1)
    # where no inner test set has both labels, what stands in the middle of the list
    best = worth[known].mean(axis=0).argmax() if known.any() else len(candidates) // 2
    return candidates[int(best)]


def _worth(entry, candidates, path, problem, train, test, seed):
    """AUC, or less the mean squared error, of each candidate on one inner test set."""
    y = problem.y
    if not problem.numbers and len(np.unique(y[train])) < 2:
        return np.full(len(candidates), np.nan)
    found = []  # the last name of the grid may be a path: a fit to the last of its values has all
    for candidate in candidates[len(path) - 1 :: len(path)]:
        X, model = _made(entry, problem, candidate, seed, len(train))
        if len(path) > 1 and hasattr(model, "decision_path"):
            found += list(model.fit(X[train], y[train]).decision_path(X[test], path).T)
        elif len(path) > 1:
            found += list(model.path(X[train], y[train], path, X[test]).final_test_scores(0.0))
        else:
            found.append(scores_of(model.fit(X[train], y[train]), X[test]))
    if problem.numbers:
        return [-np.mean((y[test] - scores) ** 2) for scores in found]
    return [roc_auc(y[test], scores) for scores in found]


def _each(chosen):
    """Single parameters of those chosen: "a+b" has one value for both, or a list with one each."""
    single = {}
    for names, value in chosen.items():
        names = names.split("+")
        values = value if isinstance(value, list) else [value] * len(names)
        single |= dict(zip(names, values, strict=True))
    return single


def _made(entry, problem, chosen, seed, n_train):
    """The pairs as the method reads them, and its solver."""
    values = {"reads": entry.get("reads", "kernels")} | _each(chosen)
    X = problem.inputs[values.pop("reads")]
    model = make_solver(entry["solver"], **entry.get("parameters", {}), **values)
    known = model.get_params()
    if "random_state" in known:
        model.set_params(random_state=seed)
    if known.get("product") == "sparse" and n_train > _DENSE * X.n_rows * X.n_cols:
        model.set_params(product="dense")
    return X, model
