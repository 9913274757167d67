"""The ninefold protocol: what the intervals of its folds cover where vertices have effects."""

import numpy as np
import pytest

from kronbench.intervals import interval_factor
from kronbench_suite.runner.plans import load_scales

PLAN = next(plan for plan in load_scales() if plan.scale == "default")
SPREAD = PLAN.papers["airola"]["protocol"]["spread"]


@pytest.mark.parametrize("effects", [1 / 3, 1.0])
@pytest.mark.parametrize("size", [(223, 95), (210, 204), (445, 664), (1421, 156)])
def test_intervals_over_nine_folds_cover_the_mean(size, effects):
    """On the sizes of GPCR, IC, E and Ki; a coverage has the standard error .002.

    Three degrees lie between the two of one side and the four of both, so that the intervals are
    a little too wide where both sides and the noise count.
    """
    rng, n = np.random.default_rng(6), 20000
    rows = rng.normal(0, effects * np.sqrt(3 / size[0]), (n, 3, 1))
    cols = rng.normal(0, effects * np.sqrt(3 / size[1]), (n, 1, 3))
    noise = rng.normal(0, np.sqrt(9 / np.prod(size)), (n, 3, 3))
    scores = (rows + cols + noise).reshape(n, 9)
    mean, deviation = abs(scores.mean(axis=1)), scores.std(axis=1, ddof=1)
    assert 0.93 <= (mean <= interval_factor(9, **SPREAD) * deviation).mean() <= 0.98
    # the ratio of the pairs, with as many degrees as independent test sets would have
    assert (mean <= interval_factor(9, 0.25) * deviation).mean() < 0.92
