"""Every check can fail: on numbers that are not finite, on scatter."""

import inspect

import numpy as np
import pandas as pd
import pytest

from kronbench.report.checks import CHECKS
from tests.report.corruptions import SOME, column_of

N = [10, 20, 40]
CURVE = pd.DataFrame({"reg": 1, "iteration": [1, 2, 3, 4], "risk": [4.0, 2.0, 1.5, 1.0]})
AREAS = pd.DataFrame(
    {
        "dataset": ["Ki", "Ki", "E", "E"],
        "method": ["SVM", "KNN"] * 2,
        "auc": [0.8, 0.7, 0.75, 0.6],
        "paper": [0.8, 0.7, 0.75, 0.6],
    }
)
TIMES = pd.DataFrame({"method": "SVM", "n": N, "seconds": [1.0, 2.1, 4.2]})
OLD = {"value": "auc", "by": ["dataset"]}
# A table for which each check holds, and its arguments.
EXAMPLES = {
    "peaks_within": (
        CURVE.assign(risk=[0.6, 0.8, 0.7, 0.65]),
        {"value": "risk", "over": "iteration", "by": ["reg"], "limit": 2},
    ),
    "within": (AREAS, {"value": "auc", "target": 0.7125, "tolerance": 0.01}),
    "matches_printed": (AREAS.assign(ours=AREAS["auc"]), {"tolerance": 0.01}),
    "one_more_draw": (
        AREAS.assign(ours=AREAS["auc"], draws=10, **{"±": 0.001}),
        {"among": "method", "names": ["SVM", "KNN"], "by": ["dataset"]}
        | {"interval": "±", "repeats": "draws"},
    ),
    "at_least": (AREAS, {"value": "auc", "bound": 0.59}),
    "at_most": (AREAS, {"value": "auc", "bound": 0.81}),
    "mostly_at_least": (AREAS, {"value": "auc", "bound": 0.65, "share": 0.75}),
    "gain": (AREAS, OLD | {"between": "method", "low": "KNN", "high": "SVM", "bound": 0.09}),
    "close": (
        AREAS,
        OLD | {"between": "method", "low": "KNN", "high": "SVM", "tolerance": 0.16},
    ),
    "leads": (AREAS, OLD | {"among": "method", "leader": "SVM"}),
    "beaten": (AREAS, OLD | {"among": "method", "name": "KNN"}),
    "flat_along": (AREAS, OLD | {"over": "method", "bound": 0.16}),
    "scales": (
        TIMES,
        {"value": "seconds", "over": "n", "by": ["method"], "low": 0.9, "high": 1.1},
    ),
    "ratio": (
        AREAS,
        OLD | {"between": "method", "slow": "SVM", "fast": "KNN", "bound": 1.1},
    ),
}


def test_every_check_has_an_example_for_which_it_holds():
    assert EXAMPLES.keys() == CHECKS.keys()
    for kind, (frame, arguments) in EXAMPLES.items():
        assert CHECKS[kind](frame, **arguments).verdict == "holds", kind


@pytest.mark.parametrize("kind", sorted(set(CHECKS) - SOME))
@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_no_row_hides_a_number_that_is_not_finite(kind, number):
    frame, arguments = EXAMPLES[kind]
    column = column_of(arguments)
    for row in range(len(frame)):
        spoiled = frame.copy()
        spoiled.loc[row, column] = number
        found = CHECKS[kind](spoiled, **arguments)
        assert found.verdict == "contradicted"
        assert found.measured.startswith(f"1 of {len(frame)} numbers not finite")


WITH_SPREAD = [
    kind for kind in sorted(CHECKS) if "spread" in inspect.signature(CHECKS[kind]).parameters
]
FOLDS = {"over": ["fold"], "test_over_train": 0.25}


def scattered(kind, noise):
    """The example with four folds; each row scatters on its own, about the same mean."""
    frame, arguments = EXAMPLES[kind]
    column = column_of(arguments)
    size = noise * np.linspace(1, 2, len(frame))
    folds = [
        frame.assign(fold=fold, **{column: frame[column] + sign * size})
        for fold, sign in enumerate([1, -1, 1, -1])
    ]
    return pd.concat(folds, ignore_index=True), {**arguments, "spread": FOLDS}


@pytest.mark.parametrize("kind", WITH_SPREAD)
def test_what_holds_on_average_is_undecided_where_it_scatters(kind):
    frame, arguments = scattered(kind, 1e-6)
    found = CHECKS[kind](frame, **arguments)
    assert found.verdict == "holds"
    assert found.chance > 0
    frame, arguments = scattered(kind, 3.0)
    found = CHECKS[kind](frame, **arguments)
    assert found.verdict == "undecided"
    assert "would decide it" in found.measured
    # one split decides nothing
    frame, arguments = scattered(kind, 0.0)
    found = CHECKS[kind](frame[frame["fold"] == 0], **arguments)
    assert found.verdict == "undecided"
    assert found.measured.endswith("a second split would tell its chance")
    # and a fold that is not finite contradicts, however few the others are
    frame.loc[0, column_of(arguments)] = np.nan
    assert CHECKS[kind](frame, **arguments).verdict == "contradicted"


def test_a_missing_key_is_a_group_of_its_own():
    frame = AREAS.assign(dataset=["Ki", "Ki", None, None], auc=[0.8, 0.7, 0.5, 0.6])
    for kind in ("leads", "gain"):
        assert CHECKS[kind](frame, **EXAMPLES[kind][1]).verdict == "contradicted"
