"""The methods with prediction function and system, and how well each system is solved."""

import pandas as pd

# With K (m, m) of the instances, G (q, q) of the tasks, A (m, q) the dual coefficients.
PRINTED = {
    "independent-task": ("f_j(d) = sum_i a_ij k(d, d_i)", "(K + reg_d I) A = Y"),
    "Kronecker kernel": (
        "f(d, t) = sum_ij a_ij k(d, d_i) g(t, t_j)",
        "(G kron K + reg I) vec(A) = vec(Y)",
    ),
    "ordinary Kronecker least squares": (
        "f(d, t) = sum_ij a_ij k(d, d_i) g(t, t_j)",
        "(G kron K) vec(A) = vec(Y)",
    ),
    "two-step": (
        "f(d, t) = sum_ij a_ij k(d, d_i) g(t, t_j)",
        "(K + reg_d I) A (G + reg_t I) = Y",
    ),
}


def tabulate(frame, item, printed):
    """One row for each method and data set (Stock et al. 2016, table 3.3)."""
    rows = []
    for method, (function, system) in PRINTED.items():
        for _, measured in frame[frame["method"] == method].iterrows():
            rows.append(
                {
                    "method": method,
                    "prediction function": function,
                    "system": system,
                    "dataset": measured["dataset"],
                    "residual": measured["residual"],
                    "deviation of predictions": measured["deviation"],
                    "source": measured["source"],
                }
            )
    return pd.DataFrame(rows)
