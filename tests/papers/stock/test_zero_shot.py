"""Zero-shot predictions against models trained without the task."""

import numpy as np
from hypothesis import given, strategies as st

from kronbench.linalg.eigen import kernel_spectrum
from kronbench.papers.stock.measure.zero_shot import kron_zero_shot, two_step_zero_shot
from tests.models.complete_problems import kron, make_kernel, two_step


@given(
    st.integers(0, 10**6),
    st.integers(2, 6),
    st.integers(2, 5),
    st.sampled_from(["full", "deficient", "duplicate"]),
)
def test_zero_shot_predictions_are_those_of_models_trained_on_the_other_tasks(seed, m, q, kind):
    rng = np.random.default_rng(seed)
    K_all, G = make_kernel(rng, m + 3, kind), make_kernel(rng, q, "full")
    K, across, Y = K_all[:m, :m], K_all[m:, :m], rng.normal(size=(m, q))
    spectra = kernel_spectrum(K), kernel_spectrum(G)
    found = kron_zero_shot(*spectra, Y, across, 0.4)
    found_two_step = two_step_zero_shot(*spectra, Y, across, 0.4, 0.9)
    for t in range(q):
        others = np.delete(np.arange(q), t)
        given_others, g = (K, G[np.ix_(others, others)], Y[:, others]), G[[t]][:, others]
        expected = kron(*given_others, 0.4).predict_matrix(across, g)
        np.testing.assert_allclose(found[:, [t]], expected, atol=1e-7)
        expected = two_step(*given_others, (0.4, 0.9)).predict_matrix(across, g)
        np.testing.assert_allclose(found_two_step[:, [t]], expected, atol=1e-7)
