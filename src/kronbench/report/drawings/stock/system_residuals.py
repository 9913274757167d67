"""The methods with function and system, how well each is solved; theorems, measured."""

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
# What is said of the two-step method: one side, the other.
STATEMENTS = {
    "order of the steps": ("instances first", "tasks first"),
    "Theorem 1": (
        r"$f^{TS}(\cdot, t_j)$, $\lambda_t = 0$, $\mathbf{G}$ of full rank",
        r"$f_j^{IT}$",
    ),
    "Theorem 1, singular G": (
        r"$f^{TS}(\cdot, t_j)$, $\lambda_t = 0$",
        r"$f^{IT}$ projected on the range of $\mathbf{G}$",
    ),
    "Theorem 2": (
        r"$\mathbf{F}^{TS}$, setting A",
        r"pairwise kernel $\Xi$, $\lambda = 1$",
    ),
    "Theorem 3": (
        r"$f^{TS}$, setting D",
        r"$f^{OKKLS}$, kernels $k + \lambda_d \delta$, $g + \lambda_t \delta$",
    ),
    "Theorem 5": (r"$(z / \lambda)^{1/2} |1 - z \varphi(z)|$", "$2 a b$"),
    "Theorem 5, beyond 1/2": (r"$(z / \lambda)^{3/4} |1 - z \varphi(z)|$", "$2 a b$"),
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
                    "key": measured["key"],
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
