"""``KRONBENCH_PLAIN=1``: the same numbers to rounding, without vector instructions and policy."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

# A product of each method, a decomposition, and so few iterations that the Lanczos vectors stay
# orthogonal: later ones amplify the rounding of a product. Then which files were loaded, and for
# which value of ``plain`` the kernels were compiled or read from numba's cache.
_NUMBERS = """
import json, sys
import numpy as np
from scipy import sparse
from kronbench.linalg import KernelColumns, csi, gram, minres, multiply, panel_loops
from kronbench.linalg.gemm import stored_product
from kronbench.linalg.panel_loops import SparseProducts
from kronbench.models import KronRidge
from kronbench.pairs import PairData, SampledKroneckerOperator

rng = np.random.default_rng(0)
A, B = (gram(rng.random((n, 3)), kernel="gaussian", gamma=1.0) for n in (60, 70))
rows, cols = np.nonzero(rng.random((60, 70)) < 0.3)
V = rng.standard_normal((len(rows), 3))
numbers = {}
for method in ("sparse", "dense", "lowrank"):
    operator = SampledKroneckerOperator(A, B, rows, cols, method=method)
    numbers[method] = operator @ V
    numbers[method + ", transposed"] = operator.rmatmat(V)
    numbers[method + ", minres"] = minres(operator, V[:, 0], shift=30.0, max_iter=5).x
X = sparse.random_array((300, 900), density=0.05, rng=rng, format="csr")
block = rng.standard_normal((300, 40))
numbers["documents"] = SparseProducts(X).gram(block)
numbers["matrices"] = multiply(block.T, block)
numbers["few columns"] = stored_product(block.T, block[:, :5])
points = rng.random((2000, 3))
numbers["csi"] = csi(KernelColumns(points, "gaussian", 2.0), points[:, 0], 20).factor
pairs = PairData(rng.random((60, 3)), rng.random((70, 3)), rows, cols)
kernels = {"row_kernel": "gaussian", "col_kernel": "gaussian", "row_gamma": 1.0, "col_gamma": 1.0}
model = KronRidge(**kernels, reg=30.0, max_iter=5, product="sparse")
numbers["fit"] = model.fit(pairs, V[:, 0]).predict(pairs)
loaded = sorted(m.rpartition(".")[2] for m in sys.modules if ".linalg._native." in m)
kernels = panel_loops.accumulate, panel_loops.contract, panel_loops.add_products
kinds = {"none" in map(str, kinds) for kernel in kernels for kinds in kernel.signatures}
numbers = {name: np.ravel(value).tolist() for name, value in numbers.items()}
json.dump({"numbers": numbers, "loaded": loaded, "vectors": sorted(kinds)}, sys.stdout)
"""


def computed(plain, **environment):
    """Numbers of a process, and what GNU's OpenMP said of itself when it was loaded."""
    removed = ("KRONBENCH_PLAIN", "OMP_WAIT_POLICY", "GOMP_SPINCOUNT")
    others = {name: value for name, value in os.environ.items() if name not in removed}
    switch = {"KRONBENCH_PLAIN": plain} if plain else {}
    run = subprocess.run(
        [sys.executable, "-c", _NUMBERS],
        env=others | switch | environment,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout), run.stderr


def test_the_switch_takes_the_plain_ways_and_the_same_numbers():
    """A program that ignores the switch loads both files, and compiles no plain kernel."""
    native, _ = computed(None)
    plain, _ = computed("1")
    assert native["loaded"] == ["passive_threads", "switch", "vector_instructions"]
    assert native["vectors"] == [True]
    assert plain["loaded"] == ["switch"]
    assert plain["vectors"] == [False]
    assert native["numbers"].keys() == plain["numbers"].keys()
    for name, numbers in native["numbers"].items():
        largest = np.abs(numbers).max()
        np.testing.assert_allclose(
            plain["numbers"][name], numbers, rtol=0, atol=1e-12 * largest, err_msg=name
        )


@pytest.mark.parametrize(("plain", "sleeps"), [("0", True), ("1", False)])
def test_threads_of_gnu_openmp_sleep_unless_the_switch_is_set(plain, sleeps):
    """It says how often they look for work before they sleep: never, with the policy."""
    _, said = computed(plain, OMP_DISPLAY_ENV="verbose", NUMBA_THREADING_LAYER="omp")
    if "GOMP_SPINCOUNT" not in said:
        pytest.skip("numba has another OpenMP, or none")
    assert ("GOMP_SPINCOUNT = '0'" in said) == sleeps
