import numpy as np
import pytest

from kronbench.linalg.eigen import feature_spectrum, kernel_spectrum
from kronbench.pairs.leave_one_out import two_step_leave_one_out
from kronbench.pairs.leave_one_out_together import two_step_leave_one_out_together


@pytest.mark.parametrize("settings", ["A", "BC", "AD", "ABCD"])
@pytest.mark.parametrize("shape", [(9, 6), (5, 8)])
@pytest.mark.parametrize("full", [True, False])
def test_settings_together_are_those_of_each(settings, shape, full):
    rng = np.random.default_rng(3)
    sides = [rng.standard_normal((n, n if full else n - 2)) for n in shape]
    rows, cols = (
        kernel_spectrum(side @ side.T) if full else feature_spectrum(side) for side in sides
    )
    Y, grid = rng.standard_normal(shape), [1e-4, 0.1, 3.0, 1e4]
    each = {
        setting: dict(two_step_leave_one_out(setting, rows, cols, Y, grid, grid))
        for setting in settings
    }
    points = set()
    for point, found in two_step_leave_one_out_together(settings, rows, cols, Y, grid, grid):
        points.add(point)
        assert list(found) == list(settings)
        for setting, F in found.items():
            expected = each[setting][point]
            scale = np.abs(expected).max()
            np.testing.assert_allclose(F, expected, rtol=0, atol=1e-9 * scale)
    assert len(points) == len(grid) ** 2
