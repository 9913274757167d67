"""Figures 6 and 7: training and prediction time against the number of pairs."""

from types import SimpleNamespace

import pandas as pd
import pytest

from kronbench.evaluation import roc_auc
from kronbench.models import KronSVM
from kronbench_suite.papers.airola.measure import scaling
from kronbench_suite.papers.airola.measure.scaling import Folds, Solvers
from kronbench_suite.papers.airola.plot.scaling import draw
from kronbench_suite.resources import paper_folder
from kronbench_suite.runner.clock import Timing
from kronbench_suite.runner.job import run_measurement
from kronbench_suite.runner.processes import fresh_process
from kronbench_suite.runner.seeds import generator

GAUSSIAN = {"row_kernel": "gaussian", "col_kernel": "gaussian", "row_gamma": 1.0, "col_gamma": 1.0}
SPEC = {
    "sizes": [200, 400, 100_000],
    "folds": [0, 5],
    "fraction": 0.25,
    "regs": {"KronSVM": [0.5], "LibSVM": [0.5, 2.0], "Missing": [1.0]},
    "solvers": {
        "KronSVM": {"solver": "kronbench.models.KronSVM", "parameters": GAUSSIAN},
        "Missing": {"solver": "elsewhere.Solver", "parameters": {}},
        "LibSVM": {
            "solver": "kronbench.models.PairLibSVM",
            "parameters": {"gamma": 1.0},
            "slow_prediction": [2.0],
        },
    },
    "seed": 7,
    "time_cap": 100,
}
BOARDS = {key: value for key, value in SPEC.items() if key != "folds"} | {"sizes": [20, 30, 40]}


@pytest.fixture(scope="module")
def frame(data):
    return run_measurement("airola.scaling", SPEC, data, "GPCR")


def test_each_model_is_trained_once_and_predicts_both_ways(frame):
    training = frame[frame["task"] == "training"]
    assert not training.duplicated(["method", "reg", "fold", "size"]).any()
    assert len(training) == 3 * 2 * 3
    own = frame[(frame["task"] == "prediction") & (frame["method"] == "LibSVM")]
    assert set(own["reg"]) == {2.0}
    assert len(own) == 2 * 3
    assert own["deviation"].max() < 1e-12
    trick = frame[frame["method"] == "LibSVM by vec trick"]
    assert set(trick["reg"]) == {0.5, 2.0}
    assert frame["seconds"].min() > 0
    assert frame.attrs["skipped"] == ["elsewhere.Solver was skipped: elsewhere is not installed"]


def test_a_way_to_predict_that_is_wrong_deviates(data, monkeypatch):
    """Relative to the largest decision value of the solver's own way."""
    right = scaling._by_vec_trick
    monkeypatch.setattr(scaling, "_by_vec_trick", lambda *given: 1.25 * right(*given))
    solvers = Solvers(SPEC, ["LibSVM"], Folds(SPEC, data, generator(7, "scaling", data.name)))
    solvers.measure(0, 200)
    rows = pd.DataFrame(solvers.results()[0])
    assert rows["deviation"].dropna().tolist() == [pytest.approx(0.25)]


def test_subsets_are_nested_and_end_with_all_training_pairs(data, frame):
    problems = Folds(SPEC, data, generator(7, "scaling", data.name))
    small, large = (problems.train(size, 5)[0] for size in (200, 400))
    cells = [set(zip(pairs.rows, pairs.cols, strict=True)) for pairs in (small, large)]
    assert len(cells[0]) == 200
    assert cells[0] < cells[1]
    everything = problems.n_train(100_000, 5)
    assert everything == len(problems.train(100_000, 5)[0]) < 5296
    test = problems.test(5)[0]
    assert not set(test.rows) & set(large.rows)
    assert not set(test.cols) & set(large.cols)
    assert frame.loc[(frame["size"] == 100_000) & (frame["fold"] == 5), "n"].eq(everything).all()
    model = KronSVM(reg=0.5, **GAUSSIAN).fit(*problems.train(400, 5))
    pairs, y = problems.test(5)
    row = frame.query("method == 'KronSVM' and task == 'training' and size == 400 and fold == 5")
    assert row["auc"].item() == pytest.approx(roc_auc(y, model.decision_function(pairs)))


def test_points_beyond_the_time_cap_are_not_run_and_end_the_curve(data, monkeypatch):
    seconds = {200: 1.0, 400: 8.0}

    def pretend(functions, max_seconds):
        results = {key: function() for key, function in functions.items()}
        sizes = {key: len(getattr(result, "X_fit_", ())) for key, result in results.items()}
        return {
            key: (results[key], Timing(*[seconds.get(n, 1.0)] * 3, 1, 0.0, 0.0, 1))
            for key, n in sizes.items()
        }

    monkeypatch.setattr(scaling, "time_interleaved", pretend)
    spec = SPEC | {"sizes": [200, 400, 2000, 100_000], "folds": [0]}
    problems = Folds(spec, data, generator(7, "scaling", data.name))
    solvers = Solvers(spec, ["KronSVM"], problems)
    for size in spec["sizes"]:
        solvers.measure(0, size)
    rows, (sentence,) = solvers.results()
    frame = pd.DataFrame(rows)
    assert set(frame["size"]) == {200, 400}
    assert sentence == (
        "KronSVM with reg 0.5, training: ended after n = 400; the next point would take about "
        "1000 s, over the cap of 100 s"
    )
    (end,) = frame[frame["next_seconds"].notna()].to_dict("records")
    assert (end["size"], end["task"]) == (400, "training")
    assert end["next_seconds"] == pytest.approx(1000)

    printed = paper_folder("airola").printed("figure6-text.csv")
    item = SimpleNamespace(printed_files=[printed], plot_options={})
    training, prediction, _ = draw(frame, item).axes
    crosses = [
        [line for line in panel.lines if line.get_marker() == "x" and len(line.get_xdata())]
        for panel in (training, prediction)
    ]
    assert [len(found) for found in crosses] == [1, 1]


def test_a_solver_may_have_a_cap_of_its_own(data):
    entry = SPEC["solvers"]["KronSVM"]
    spec = SPEC | {"solvers": {"KronSVM": entry}, "folds": [0], "time_caps": {"KronSVM": 0.0}}
    assert set(run_measurement("airola.scaling", spec, data, "GPCR")["size"]) == {200}


def test_a_program_with_other_numbers_than_those_it_should_have_is_not_timed():
    kron = SPEC["solvers"]["KronSVM"]
    solvers = {
        "KronSVM": kron,
        "the same": kron | {"same_as": "KronSVM"},
        "another": kron | {"same_as": "KronSVM"},
        "LibSVM": SPEC["solvers"]["LibSVM"] | {"same_as": "another"},
    }
    regs = {"KronSVM": [0.5], "the same": [0.5], "another": [5.0], "LibSVM": [0.5]}
    spec = BOARDS | {"sizes": [20], "solvers": solvers, "regs": regs}
    frame = run_measurement("airola.scaling", spec, None, "all")
    assert set(frame["method"]) == {"KronSVM", "the same"}
    first, second = frame.attrs["skipped"]
    assert first.startswith("another was not timed: on the smallest problem its decision values")
    assert second.startswith("LibSVM was not timed")
    areas = frame[frame["task"] == "training"].set_index("method")["auc"]
    assert areas["KronSVM"] == areas["the same"]


def test_each_library_has_a_process_of_its_own(monkeypatch):
    begun = []

    def recorded(module, *, initializer, initargs):
        begun.append(initargs[1])
        return fresh_process(module, initializer=initializer, initargs=initargs)

    monkeypatch.setattr(scaling, "fresh_process", recorded)
    ours = SPEC["solvers"] | {"KronSVM, ours": SPEC["solvers"]["KronSVM"]}
    spec = BOARDS | {"sizes": [20], "solvers": ours, "regs": {key: [0.5] for key in ours}}
    frame = run_measurement("airola.scaling", spec, None, "all")
    assert begun == [["KronSVM", "KronSVM, ours"], ["LibSVM"]]
    peaks = frame.groupby("method")["peak_mib"].max()
    assert peaks["KronSVM"] == peaks["KronSVM, ours"] != peaks["LibSVM by vec trick"]
