"""The methods with prediction function and system, and how well each is solved."""

import pandas as pd

# With K (m, m) of the instances, G (q, q) of the tasks, A (m, q) the dual coefficients.
_PAIRS = "f(d, t) = Σᵢ Σⱼ aᵢⱼ k(d, dᵢ) g(t, tⱼ)"
PRINTED = {
    "independent-task": ("fⱼ(d) = Σᵢ aᵢⱼ k(d, dᵢ)", "(K + λ_d I) A = Y"),
    "Kronecker kernel": (_PAIRS, "(G ⊗ K + λ I) vec(A) = vec(Y)"),
    "ordinary Kronecker least squares": (_PAIRS, "(G ⊗ K) vec(A) = vec(Y)"),
    "two-step": (_PAIRS, "(K + λ_d I) A (G + λ_t I) = Y"),
}


def tabulate(frame, item, printed):
    """One row for each method and data set (Stock et al. 2016, table 3.3)."""
    columns = ["method", "prediction function", "system", "dataset", "residual"]
    columns += ["deviation of predictions", "source"]
    parts = []
    for method, (function, system) in PRINTED.items():
        part = frame[frame["method"] == method]
        parts.append(part.assign(**{"prediction function": function, "system": system}))
    table = pd.concat(parts, ignore_index=True)
    return table.rename(columns={"deviation": "deviation of predictions"})[columns]
