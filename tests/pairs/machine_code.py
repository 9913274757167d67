"""The innermost loops of the compiled kernels, read from their machine code (x86-64).

As a program it calls the kernels the way the package does, so that numba compiles them or takes
them from its cache for the arrays that they really get, and prints what their loops hold as JSON.
LLVM itself says in its assembly which blocks are innermost loops, and what it keeps on the stack.
"""

from __future__ import annotations

import json
import re
import sys

_BLOCK = re.compile(r"(?:\.L(BB\d+_\d+):|# %bb\.\d+:)(?:\s+# %(\S+))?")
_HEADER, _INSIDE = "Inner Loop Header", re.compile(r"  in Loop: Header=(BB\d+_\d+)")
_ARITHMETIC = re.compile(r"v?(?:fn?m(?:add|sub)(?:132|213|231)?|mul|add|sub)([ps])[sd]\s")
_VECTOR = re.compile(r"%([xyz])mm")
_BITS = {"x": 128, "y": 256, "z": 512}
_STACK = re.compile(r"\(%r[sb]p\)")


def arithmetic_loops(assembly) -> dict[str, dict]:
    """The innermost loops with floating-point arithmetic, and what a turn of each holds.

    Parameters
    ----------
    assembly : str
        Of LLVM with comments (``set_asm_verbosity``), AT&T syntax.

    Returns
    -------
    loops : dict from the label of a loop to counts of its instructions
        ``packed`` and ``scalar`` arithmetic; ``loads``, ``stores`` of vector registers, and
        ``spills``, those from and to the stack; ``bits``, the width of the widest packed one.
        The second, narrower vector loop that LLVM adds for what the first leaves is left out.
    """
    found = {label: _held(lines) for label, lines in _innermost(assembly).items()}
    return {label: held for label, held in found.items() if held["packed"] or held["scalar"]}


def _innermost(assembly):
    """Label of each innermost loop -> its instructions, with their comments."""
    loops, current, about = {}, None, None
    for line in assembly.splitlines():
        block = _BLOCK.match(line)
        if block:
            label, name = block.groups()
            current, about = None, (label, name or "")
            line = line[block.end() :]
        if (about and line.lstrip().startswith("#")) or block:
            inside = _INSIDE.search(line)
            if _HEADER in line and not about[1].startswith("vec.epilog"):
                current = loops.setdefault(about[0], [])
            elif inside:
                current = loops.get(inside[1])
        else:
            about = None
            if current is not None:
                current.append(line.strip())
    return loops


def _held(lines):
    held = dict.fromkeys(("packed", "scalar", "loads", "stores", "spills", "bits"), 0)
    for line in lines:
        code = line.split("#")[0]
        arithmetic = _ARITHMETIC.match(code)
        if arithmetic and arithmetic[1] == "p":
            held["packed"] += 1
            held["bits"] = max(held["bits"], *(_BITS[kind] for kind in _VECTOR.findall(code)))
        elif arithmetic:
            held["scalar"] += 1
        if "(" in code and _VECTOR.search(code):
            written = code.rstrip().endswith(")")
            kind = "spills" if _STACK.search(code) else "stores" if written else "loads"
            held[kind] += 1
    return held


def guarded() -> dict:
    """Name -> dispatcher of each kernel that :func:`call_all` runs."""
    from kronbench.classes import kernels, softmax, sparse_features
    from kronbench.classes import tree as trees
    from kronbench.linalg import _lowrank_loops, vectors
    from kronbench.pairs import _panel_loops

    names = {
        _panel_loops: ("accumulate", "contract", "sums_over_pairs"),
        _lowrank_loops: ("cholesky_step", "project_out", "advance"),
        kernels: ("_few_columns",),
        sparse_features: ("_add",),
        trees: ("_up", "_down", "_couple"),
        vectors: ("_sum_of_products", "_inner", "_add", "_advance", "_turn"),
        softmax: ("_add_curvature",),
    }
    return {
        f"{module.__name__.rpartition('.')[2]}.{name}": getattr(module, name)
        for module, kernels in names.items()
        for name in kernels
    }


def call_all():
    """Small problems by the public ways in, so that the kernels get what they get in earnest."""
    import numpy as np
    from scipy import sparse

    from kronbench.classes import softmax
    from kronbench.classes.kernels import StoredKernels
    from kronbench.classes.sparse_features import SparseProducts
    from kronbench.classes.tree import Tree
    from kronbench.linalg import csi, vectors
    from kronbench.linalg._lowrank_loops import project_out
    from kronbench.pairs import SampledKroneckerOperator

    rng = np.random.default_rng(0)
    tree = Tree([-1, 0, 0, 1, 1, 2, 2])
    for dtype in (np.float64, np.float32):
        for m, n in ((40, 800), (320, 320)):
            G, K = (rng.standard_normal((m, m)).astype(dtype) for _ in range(2))
            rows, cols = np.divmod(rng.permutation(m * m)[:n], m)
            operator = SampledKroneckerOperator(G, K, rows, cols, method="sparse")
            operator @ rng.standard_normal(n).astype(dtype)
        SparseProducts(sparse.csr_array(np.ones((9, 9), dtype))).gram(np.ones((9, 3), dtype))
        StoredKernels([np.ones((9, 9), dtype)]).product(np.ones((9, 3)))
        tree.scores(np.ones((9, 6), dtype))
        tree.adjoint(np.ones((9, 4), dtype))
        tree.couple(np.ones((9, 4), dtype), np.ones(6))
    long = [np.ones(2**18) for _ in range(4)]
    vectors.inner(*long[:2])
    vectors.inner(np.ones(9), np.ones(9))
    vectors.add(long[0], 1.0, long[1])
    vectors.advance(1.0, (long[:2], long[2:]))
    vectors.turn(1.0, (long[:2], long[2:]))
    softmax.SoftmaxLoss(np.arange(5), 5).curvature(np.ones((5, 5)), np.ones((5, 5)))
    points = rng.random((60, 3))
    csi(points @ points.T + np.eye(60), rng.random((60, 1)), 8, lookahead=4)
    # csi needs it only where rounding left too little of a column
    project_out(np.ones((3, 9)), 2, np.ones(2), 0.0, np.ones((1, 9)), np.empty((1, 5)))


def report() -> dict:
    """Kernel and dtypes -> layouts of its arrays and the loops of its machine code."""
    held = {}
    for name, dispatcher in guarded().items():
        for signature, overload in dispatcher.overloads.items():
            arrays = [kind for kind in signature if hasattr(kind, "layout")]
            dtypes = [str(kind.dtype) for kind in arrays if "float" in str(kind.dtype)]
            library = overload.library
            machine = library.codegen._tm
            machine.set_asm_verbosity(True)
            assembly = machine.emit_assembly(library._get_module_for_linking())
            held[f"{name}, {', '.join(dict.fromkeys(dtypes))}"] = {
                "layouts": sorted({kind.layout for kind in arrays}),
                "loops": arithmetic_loops(assembly),
            }
    return held


if __name__ == "__main__":
    call_all()
    json.dump(report(), sys.stdout, indent=1)
