import numpy as np

from kronbench.papers.airola.measure.early_stopping import run
from kronbench.runner.job import run_experiment
from kronbench.runner.seeds import generator

SPEC = {
    "solver": "kronbench.models.KronRidge",
    "solver_parameters": {},
    "iterations": 12,
    "regs": [0.5, 2.0],
    "folds": [0, 4],
    "fraction": 0.25,
    "seed": 7,
    "time_cap": 10,
}


def test_one_krylov_space_gives_the_curves_of_separate_fits(data, monkeypatch):
    from kronbench.papers.airola.measure import early_stopping

    shared = run(SPEC, data, generator(1))
    monkeypatch.setattr(early_stopping, "_path_curves", early_stopping._fitted_curves)
    separate = run(SPEC, data, generator(1))
    np.testing.assert_allclose(shared["risk"], separate["risk"], rtol=1e-6)
    np.testing.assert_allclose(shared["auc"], separate["auc"], atol=1e-6)


def test_what_is_left_of_the_risk_begins_with_a_half_for_each_pair(data):
    (left,) = (
        part.set_index("iteration")
        for _, part in run(SPEC | {"folds": [0], "regs": [2.0]}, data, generator(1)).groupby("reg")
    )
    start, last = left["n"].iloc[0] / 2, left["risk"].iloc[-1]
    by_hand = (left["risk"] - last) / (start - last)
    np.testing.assert_allclose(left["risk_left"], by_hand)
    assert 1 > left["risk_left"].iloc[0] > left["risk_left"].iloc[-1] == 0
    assert left.loc[[10, 11], "stretch"].tolist() == ["first ten", "later"]


def test_both_forms_reach_the_same_risk_and_ranking(data):
    ridge = {key: SPEC[key] for key in ("solver", "solver_parameters")}
    svm = {"solver": "kronbench.models.KronSVM", "solver_parameters": {"max_inner": 60}}
    spec = {key: value for key, value in SPEC.items() if key not in ridge} | {
        "methods": {"KronRidge": ridge, "KronSVM": svm},
        "forms": ["dual", "primal"],
        "regs": [500.0],
        "folds": [0],
        "iterations": 40,
    }
    frame = run_experiment("airola.early_stopping", spec, data, "gpcr")
    assert len(frame) == 2 * 2 * 40
    last = frame[frame["iteration"] == 40].pivot(
        index="method", columns="form", values=["risk", "auc"]
    )
    np.testing.assert_allclose(last["risk", "primal"], last["risk", "dual"], rtol=1e-6)
    np.testing.assert_allclose(last["auc", "primal"], last["auc", "dual"], atol=1e-3)
    first = frame[(frame["iteration"] == 1) & (frame["method"] == "KronSVM")]
    assert first["risk"].nunique() == 2  # two forms were fitted, not one twice
