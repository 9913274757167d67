"""Table 1: methods and splits."""

from dataclasses import replace

import pytest

from kronbench.runner.job import run_experiment
from tests.small_classes import COMMON, documents

TEXTS = COMMON | {
    "methods": ["F1", "H1", "F2", "H2"],
    "splits": {"others": 2},
    "start": 5,
    "bias_variances": [0.1, 1],
    "noise": 1e-3,
    "max_evaluations": 10,
    "most_documents": {"others": 1000},
    "drawn": {},
    "solver": {"others": "cg"},
}


@pytest.fixture(scope="module")
def texts():
    return run_experiment("seeger.text_classification", TEXTS, documents(), "ipc-d")


def test_every_method_is_scored_on_the_same_splits(texts):
    learned = texts[texts["variances"] == "learned"]
    assert set(learned["method"]) == {"F1", "H1", "F2", "H2"}
    counts = learned.groupby("method")["n_variances"].first()
    assert counts[["F1", "H1", "F2", "H2"]].tolist() == [1, 3, 2, 2]
    assert (learned["psi"] <= learned["psi_start"] + 1e-12).all()
    assert set(texts["variances"]) == {"learned", "one"}
    # the bias variance is chosen among two, so that it lies at an end
    assert (learned[learned["method"].isin(["F1", "H1"])]["on_edge"] == 1).all()


def test_data_sets_and_drawn_words_have_settings_of_their_own(texts):
    spec = TEXTS | {
        "methods": ["F1"],
        "splits": {"ipc": 2, "others": 4},
        "solver": {"ipc": "pcg", "others": "cg"},
        "drawn": {"splits": 1, "most_documents": 130},
    }
    real, drawn = documents(), replace(documents(), source="surrogate")
    sizes = {
        data.source: run_experiment("seeger.text_classification", spec, data, "ipc-d")
        for data in (real, drawn)
    }
    assert sizes["mirror"]["split"].nunique() == 2
    assert (sizes["mirror"]["training"] == 160).all()
    assert (sizes["surrogate"]["training"] <= 2 * 130 / 3).all()
