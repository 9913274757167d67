"""Table 1: methods and splits."""

from dataclasses import replace

from kronbench.runner.job import run_experiment
from tests.small_classes import COMMON, documents


def test_data_sets_and_drawn_words_have_settings_of_their_own():
    spec = COMMON | {
        "methods": ["F1"],
        "splits": {"ipc": 2, "others": 4},
        "start": 5,
        "bias_variances": [0.1, 1],
        "noise": 1e-3,
        "max_evaluations": 10,
        "most_documents": {"others": 1000},
        "drawn": {"splits": 1, "most_documents": 130},
        "solver": {"ipc": "pcg", "others": "cg"},
    }
    real, drawn = documents(), replace(documents(), source="surrogate")
    sizes = {
        data.source: run_experiment("seeger.text_classification", spec, data, "ipc-d")
        for data in (real, drawn)
    }
    assert sizes["mirror"]["split"].nunique() == 2
    assert (sizes["mirror"]["training"] == 160).all()
    assert (sizes["surrogate"]["training"] <= 2 * 130 / 3).all()
