"""The methods with prediction function and system, and how well each system is solved."""

import pandas as pd

# With K (m, m) of the instances, G (q, q) of the tasks, A (m, q) the dual coefficients.
_PAIRS = r"$f(d, t) = \sum_i \sum_j a_{ij} k(d, d_i) g(t, t_j)$"
PRINTED = {
    "independent-task": (
        r"$f_j(d) = \sum_i a_{ij} k(d, d_i)$",
        r"$(\mathbf{K} + \lambda_d \mathbf{I}) \mathbf{A} = \mathbf{Y}$",
    ),
    "Kronecker kernel": (
        _PAIRS,
        r"$(\mathbf{G} \otimes \mathbf{K} + \lambda \mathbf{I}) \, \mathrm{vec}(\mathbf{A})"
        r" = \mathrm{vec}(\mathbf{Y})$",
    ),
    "ordinary Kronecker least squares": (
        _PAIRS,
        r"$(\mathbf{G} \otimes \mathbf{K}) \, \mathrm{vec}(\mathbf{A})"
        r" = \mathrm{vec}(\mathbf{Y})$",
    ),
    "two-step": (
        _PAIRS,
        r"$(\mathbf{K} + \lambda_d \mathbf{I}) \mathbf{A} (\mathbf{G} + \lambda_t \mathbf{I})"
        r" = \mathbf{Y}$",
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
