"""The methods with function and system, how well each is solved; theorems, measured."""

import pandas as pd

from kronbench.runner.columns import SHOWN, Columns
from kronbench.runner.items import Item

# With K (m, m) of the instances, G (q, q) of the tasks, A (m, q) the dual coefficients.
_PAIRS = "f(d, t) = Σᵢ Σⱼ aᵢⱼ k(d, dᵢ) g(t, tⱼ)"
PRINTED = {
    "independent-task": ("fⱼ(d) = Σᵢ aᵢⱼ k(d, dᵢ)", "(K + λ_d I) A = Y"),
    "Kronecker kernel": (_PAIRS, "(G ⊗ K + λ I) vec(A) = vec(Y)"),
    "ordinary Kronecker least squares": (_PAIRS, "(G ⊗ K) vec(A) = vec(Y)"),
    "two-step": (_PAIRS, "(K + λ_d I) A (G + λ_t I) = Y"),
}
# What is said of the two-step method: one side, the other.
STATEMENTS = {
    "order of the steps": ("instances first", "tasks first"),
    "Theorem 1": ("f^TS(·, tⱼ), λ_t = 0, G of full rank", "fⱼ^IT"),
    "Theorem 1, singular G": ("f^TS(·, tⱼ), λ_t = 0", "f^IT projected on the range of G"),
    "Theorem 2": ("F^TS, setting A", "pairwise kernel Ξ, λ = 1"),
    "Theorem 3": ("f^TS, setting D", "f^OKKLS, kernels k + λ_d δ, g + λ_t δ"),
    "Fisher discriminant": ("least squares, labels N/N⁺, −N/N⁻", "S_W⁻¹ (m₊ − m₋)"),
    "Theorem 5": ("(z / λ)^(1/2) |1 − z φ(z)|", "2 a b"),
    "Theorem 5, beyond 1/2": ("(z / λ)^(3/4) |1 − z φ(z)|", "2 a b"),
    "Algorithm 1, l < d": ("batches of new instances", "training anew"),
    "Algorithm 1, l > d": ("batches of new instances", "training anew"),
    "Algorithm 2, l < r": ("batches of new tasks", "training anew"),
    "Algorithm 2, l > r": ("batches of new tasks", "training anew"),
}

COLUMNS = SHOWN | Columns(
    key=("method",),
    numbers=("residual", "deviation of predictions", "largest share of bound"),
    texts=("key", "prediction function", "system"),
    values={
        "key": (
            *("order-of-steps", "theorem-1", "theorem-1-singular", "theorem-2"),
            *("theorem-3", "fisher", "algorithm-1", "algorithm-1-large-batches", "algorithm-2"),
            *("theorem-5", "theorem-5-qualification"),
        ),
        "method": (
            *("independent-task", "Kronecker kernel", "ordinary Kronecker least squares"),
            *("two-step", "order of the steps", "Theorem 1", "Theorem 1, singular G"),
            *("Theorem 2", "Theorem 3", "Fisher discriminant"),
            *("Algorithm 1, l < d", "Algorithm 1, l > d"),
            *("Algorithm 2, l < r", "Algorithm 2, l > r", "Theorem 5", "Theorem 5, beyond 1/2"),
        ),
    },
)


def tabulate(frame: pd.DataFrame, item: Item, printed: None) -> pd.DataFrame:
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
