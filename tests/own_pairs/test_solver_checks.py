"""The contract of solvers: ours keep it, and each way to break it is found and named."""

import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

from kronbench.own_pairs.recipe import PAIR_SOLVERS
from kronbench.own_pairs.solver_checks import check_solver
from kronbench_suite.cli import main
from tests.own_pairs.problem import arguments, tables

PARTS = [
    "Keyword parameters", "Fit takes", "Predict gives", "Two fits", "Predictions do",
    "Vertices without", "Scores do", "Pairs of new",
]  # fmt: skip


# These need every pair of their vertices, and say so; the first has its columns by position.
COMPLETE = ("IndependentRidge", "CompleteKronRidge", "TwoStepRidge")
SHORTER = {"KronRidgeCV": {"regs": (0.1, 1.0), "gradient_steps": 2}}


@pytest.mark.parametrize("name", PAIR_SOLVERS)
def test_the_solvers_of_the_package_keep_it(name):
    broken = [i for i, (_, wrong) in enumerate(check_solver(name, SHORTER.get(name))) if wrong]
    assert broken == [2] * (name in COMPLETE) + [6, 7] * (name == COMPLETE[0])


class Additive(BaseEstimator):
    """Scores a pair by the sums of its features, and keeps the contract."""

    def __init__(self, *, reg=1.0):
        self.reg = reg

    def features(self, X):
        return np.hstack([X.row_features[X.rows], X.col_features[X.cols]])

    def fit(self, X, y):
        A = self.features(X)
        self.coef_ = np.linalg.solve(A.T @ A + self.reg * np.eye(A.shape[1]), A.T @ y)
        self.end_fit(X, y)
        return self

    def end_fit(self, X, y):
        """Where classes below do what they should not."""

    def sums(self, X):
        return self.features(X) @ self.coef_

    def predict(self, X):
        return self.sums(X)


class CannotBeMade(Additive):
    def __init__(self, *args):
        raise RuntimeError("no\nway")


class KnowsItsVerticesAlone(Additive):
    def end_fit(self, X, y):
        self.known_ = {tuple(row) for row in X.row_features}

    def predict(self, X):
        if {tuple(row) for row in X.row_features} - self.known_:
            raise KeyError("a vertex that was not in training")
        return super().predict(X)


class MeansByPosition(Additive):
    """The mean of the labels of each row vertex, found again by its place in its table."""

    def keys(self, X):
        return X.rows

    def fit(self, X, y):
        self.means_ = pd.Series(y).groupby(self.keys(X)).mean()
        return self

    def predict(self, X):
        return self.means_.reindex(self.keys(X)).fillna(0.0).to_numpy()


class MeansByFeatures(MeansByPosition):
    """The same, found again by its features."""

    def keys(self, X):
        return np.array([row.tobytes().hex() for row in X.row_features[X.rows]])


# What each of these solvers does where it should not.
WAYS = {
    "ChangesAParameter": {"end_fit": lambda self, X, y: setattr(self, "reg", 2.0)},
    "ReturnsNothing": {"fit": lambda self, X, y: None},
    "WritesIntoX": {"end_fit": lambda self, X, y: X.row_features.fill(0)},
    "WritesIntoY": {"end_fit": lambda self, X, y: y.fill(0)},
    "Exits": {"fit": lambda self, X, y: sys.exit(3)},
    "GivesComplexNumbers": {"predict": lambda self, X: self.sums(X) + 0j},
    "GivesAColumn": {"predict": lambda self, X: self.sums(X)[:, None]},
    "DrawsAnew": {"predict": lambda self, X: self.sums(X) + np.random.default_rng().random()},
    "DependsOnThePlace": {"predict": lambda self, X: self.sums(X) + np.arange(len(X))},
    "LooksAtAllVertices": {"end_fit": lambda self, X, y: self.coef_.fill(X.row_features.mean())},
}
for name, methods in WAYS.items():
    globals()[name] = type(name, (Additive,), {**methods, "__module__": __name__})


@pytest.mark.parametrize(
    ("solver", "part", "said"),
    [
        ("Additive", None, ""),
        ("ChangesAParameter", 0, "fit changes a parameter"),
        ("ReturnsNothing", 1, "end it with 'return self'"),
        ("WritesIntoX", 1, "fit writes into X.row_features"),
        ("WritesIntoY", 1, "fit writes into y"),
        ("Exits", 1, "it fails with SystemExit: 3"),
        ("GivesComplexNumbers", 2, "scores have dtype complex128: give numbers"),
        ("GivesAColumn", 2, "predictions of shape (3, 1)"),
        ("DrawsAnew", 3, "a parameter random_state"),
        ("DependsOnThePlace", 4, "in the opposite order"),
        ("LooksAtAllVertices", 5, "outside the training pairs change the fit"),
        ("MeansByPosition", 6, "use the features, X.row_features[X.rows]"),
        ("MeansByFeatures", None, ""),
        ("KnowsItsVerticesAlone", 7, "a vertex that was not in training"),
    ],
)
def test_each_way_to_break_it_is_named(solver, part, said):
    found = list(check_solver(f"{__name__}.{solver}"))
    assert [words.startswith(PARTS[i]) for i, (words, _) in enumerate(found)] == [True] * 8
    wrong = {i: text for i, (_, text) in enumerate(found) if text}
    if part is None:
        assert not wrong
    else:
        assert said in wrong[part]


def test_the_command_ends_with_the_status_of_what_is_broken(capsys):
    # of what keeps the contract, docs/own-solver.md shows all lines
    assert main(["check", f"{__name__}.ReturnsNothing"]) == 1
    assert "BROKEN  Fit takes a PairData" in capsys.readouterr().out


def test_a_module_may_lie_in_another_folder(tmp_path, monkeypatch, capsys):
    (tmp_path / "lies_elsewhere.py").write_text(
        "from tests.own_pairs.test_solver_checks import Additive as Base\n"
        "class Mine(Base):\n"
        "    def __init__(self, *, reg=1.0):\n"
        "        super().__init__(reg=reg)\n"
    )
    monkeypatch.setattr("sys.path", sys.path.copy())
    told = "lies_elsewhere is not installed in this environment: install it, or name its folder"
    tables(tmp_path)
    evaluate = ["evaluate", *arguments(tmp_path), "--setting", "A", "--repeats", "1", "--solver"]
    for command in (["check"], evaluate):
        assert main([*command, "lies_elsewhere.Mine"]) == 2
        assert told in capsys.readouterr().err
        assert main([*command, "lies_elsewhere.Mine", "--path", str(tmp_path / "no")]) == 2
        assert "is not a folder: give the one that holds your module" in capsys.readouterr().err
    for command in (["check"], evaluate):
        assert main([*command, "lies_elsewhere.Mine", "--path", str(tmp_path)]) == 0
    assert "lies_elsewhere.Mine" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("solver", "said"),
    [
        ("GivesAColumn", "does not take pairs: 3 pairs have scores of shape (3, 1)"),
        ("GivesComplexNumbers", "does not take pairs: scores have dtype complex128"),
        ("Exits", "does not take pairs: it fails with SystemExit: 3"),
        ("CannotBeMade", "cannot be made without arguments: no way"),
    ],
)
def test_evaluate_tries_a_solver_from_outside_before_any_long_work(tmp_path, capsys, solver, said):
    tables(tmp_path)
    path = f"{__name__}.{solver}"
    assert main(["evaluate", *arguments(tmp_path), "--solver", path]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1
