import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numba
import numpy as np
import pytest
from numba import njit

from kronbench.pairs import _panel_loops

CARRIERS = {
    "vector instructions": (_panel_loops._make_add_rows, _panel_loops._make_inner_products),
    "plain numba": (_panel_loops._make_plain_add_rows, _panel_loops._make_plain_inner_products),
}


@pytest.mark.parametrize("carrier", CARRIERS)
@pytest.mark.parametrize("vector_bytes", [16, 32, 64])  # SSE and Neon, AVX2, AVX-512
@pytest.mark.parametrize("width", [1, _panel_loops.BATCH])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_inner_loops_on_vectors_of_every_size(
    rng, monkeypatch, carrier, vector_bytes, width, dtype
):
    # A machine runs one of them: the others are reached here, whatever LLVM makes of them
    monkeypatch.setattr(_panel_loops, "VECTOR_BYTES", vector_bytes)
    registers = 2
    length = registers * vector_bytes // np.dtype(dtype).itemsize
    make_add_rows, make_inner_products = CARRIERS[carrier]
    add_rows = make_add_rows(registers, width)
    inner_products = make_inner_products(registers, width)

    @njit
    def both(sums, outputs, panel, indices, values, start, stop):
        add_rows(sums, length, length, panel, indices, values, start, stop)
        inner_products(outputs, sums, length, length, panel, indices, start, stop)

    panel = rng.standard_normal((5, length)).astype(dtype)
    indices = rng.integers(0, 5, 11).astype(np.int32)
    values = rng.standard_normal((11, width)).astype(dtype)
    for start, stop in ((0, 11), (3, 3), (2, 5), (1, 8)):
        sums = np.zeros((width + 1) * length, dtype)  # the first row is another vertex's
        outputs = np.zeros((11, width), dtype)
        both(sums, outputs, panel.ravel(), indices, values, start, stop)
        rows = panel[indices[start:stop]]
        expected = values[start:stop].T @ rows
        tolerance = {"rtol": 1e3 * np.finfo(dtype).eps, "atol": 1e3 * np.finfo(dtype).eps}
        np.testing.assert_array_equal(sums[:length], 0)
        np.testing.assert_allclose(sums[length:].reshape(width, length), expected, **tolerance)
        np.testing.assert_allclose(outputs[start:stop], rows @ expected.T, **tolerance)
        assert not outputs[:start].any() and not outputs[stop:].any()


def test_numba_is_one_that_the_vector_instructions_were_tried_with():
    root = Path(__file__).parents[2]
    bound = "<{}.{}".format(*_panel_loops.NUMBA_BEFORE)
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    (needed,) = [line for line in project["dependencies"] if line.startswith("numba")]
    assert needed.endswith(bound)
    locked = re.search(r"^numba==(\d+)\.(\d+)", (root / "requirements.lock").read_text(), re.M)
    for version in (tuple(map(int, locked.groups())), numba.version_info.short):
        assert _panel_loops.chosen_loops(version, {}) is None


def test_plain_numba_is_chosen_beyond_the_bound_and_on_demand():
    major, minor = _panel_loops.NUMBA_BEFORE
    for version in ((major, minor), (major, minor + 1), (major + 1, 0)):
        assert _panel_loops.chosen_loops(version, {}) is True
    for wish, plain in (("1", True), ("0", None), ("", None)):
        assert _panel_loops.chosen_loops((0, 61), {"KRONBENCH_PLAIN_NUMBA": wish}) is plain


@pytest.mark.parametrize("wish", [None, "1"])
def test_the_environment_decides_for_a_process(wish):
    environment = {k: v for k, v in os.environ.items() if k != "KRONBENCH_PLAIN_NUMBA"}
    if wish:
        environment["KRONBENCH_PLAIN_NUMBA"] = wish
    code = "from kronbench.pairs import _routes; print(_routes.PLAIN)"
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert run.stdout.split() == ["True" if wish else "None"]


@pytest.fixture
def rng():
    return np.random.default_rng(0)
