"""Section 7: low rank, coupling and uncertain targets."""

from kronbench_suite.runner.job import run_measurement
from tests.small_classes import COMMON, documents, pixels


def test_extensions():
    spec = COMMON | {
        "repetitions": {"others": 1},
        "large_repetitions": 1,
        "gamma": 0.5,
        "variance": 20,
        "few_points": 60,
        "points": 120,
        "new_points": 80,
        "ranks": [20, 60],
        "max_evaluations": 5,
        "vague": 0.5,
        "tree_variances": [4, 4, 4],
    }
    frame = run_measurement("seeger.model_extensions", spec, pixels(), "satimage")
    corrected = frame[frame["variant"] == "corrected"]
    assert corrected["deviation"].is_monotonic_decreasing
    coupling = frame[frame["extension"] == "coupling"]
    assert coupling["training"].tolist() == [60, 60, 120, 120]
    psi = coupling.pivot(index="training", columns="variant", values="psi")
    # Of 60 points variances of ten thousands are learned, at which the fits of both tell the
    # criterion to about 1e-4: on one processor the learned one ends below, on another above.
    assert (psi["learned"] <= psi["none"] * (1 + 2e-4)).all()
    assert psi["learned"][120] < 0.95 * psi["none"][120]
    frame = run_measurement("seeger.model_extensions", spec, documents(), "ipc-d")
    assert frame["variant"].tolist() == ["left out", "EM", "all known"]
    assert frame["iterations"].notna().tolist() == [False, True, False]
