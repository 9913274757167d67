"""The methods with function and system, how well each is solved; theorems, measured."""

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
# What is said of the two-step method: one side, the other.
STATEMENTS = {
    "order of the steps": ("instances first", "tasks first"),
    "Theorem 1": ("f^TS(., t_j), reg_t = 0, G of full rank", "f_j^IT"),
    "Theorem 1, singular G": ("f^TS(., t_j), reg_t = 0", "f^IT projected on the range of G"),
    "Theorem 2": ("F^TS, setting A", "pairwise kernel Xi, reg = 1"),
    "Theorem 3": ("f^TS, setting D", "f^OKKLS, kernels k + reg_d delta, g + reg_t delta"),
    "Theorem 5": ("(z / reg)^(1/2) |1 - z phi(z)|", "2 a b"),
    "Theorem 5, beyond 1/2": ("(z / reg)^(3/4) |1 - z phi(z)|", "2 a b"),
    "Algorithm 1, l < d": ("batches of new instances", "training anew"),
    "Algorithm 1, l > d": ("batches of new instances", "training anew"),
    "Algorithm 2, l < r": ("batches of new tasks", "training anew"),
    "Algorithm 2, l > r": ("batches of new tasks", "training anew"),
}


def tabulate(frame, item, printed):
    """One row for each method and data set (Stock et al. 2016, table 3.3), then for statements.

    A statement has the two sides that are compared in the places of function and system.
    """
    rows = []
    for method, (function, system) in (PRINTED | STATEMENTS).items():
        for _, measured in frame[frame["method"] == method].iterrows():
            rows.append(
                {
                    "method": method,
                    "prediction function": function,
                    "system": system,
                    "dataset": measured["dataset"],
                    "residual": measured["residual"],
                    "deviation of predictions": measured["deviation"],
                    "largest share of bound": measured["share"],
                    "source": measured["source"],
                }
            )
    return pd.DataFrame(rows)
