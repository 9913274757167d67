"""Losses with their derivatives as printed, and how far measured ones are from them."""

import pandas as pd

# Name, value, gradient entry, Hessian diagonal, other entries: Airola & Pahikkala, table 2.
FORMULAS = {
    "ridge": ("Ridge", r"$\frac{1}{2} \sum_i (p_i - y_i)^2$", "$p_i - y_i$", "$1$", "$0$"),
    "l1svm": (
        "L1-SVM",
        r"$\sum_i \max(0, 1 - p_i y_i)$",
        "$-y_i$ if $p_i y_i < 1$, else $0$",
        "$0$",
        "$0$",
    ),
    "l2svm": (
        "L2-SVM",
        r"$\frac{1}{2} \sum_i \max(0, 1 - p_i y_i)^2$",
        "$p_i - y_i$ if $p_i y_i < 1$, else $0$",
        "$1$ if $p_i y_i < 1$, else $0$",
        "$0$",
    ),
    "logistic": (
        "Logistic",
        r"$\sum_i \log(1 + e^{-y_i p_i})$",
        "$-y_i (1 + e^{y_i p_i})^{-1}$",
        "$e^{y_i p_i} (1 + e^{y_i p_i})^{-2}$",
        "$0$",
    ),
    "rankrls": (
        "RankRLS",
        r"$\frac{1}{4} \sum_i \sum_j (y_i - p_i - y_j + p_j)^2$",
        r"$\sum_j (y_j - p_j) + n (p_i - y_i)$",
        "$n - 1$",
        "$-1$",
    ),
}


def tabulate(frame, item, printed):
    """One row for each loss: the formulas, and the largest deviations over all draws."""
    worst = frame.groupby("loss", sort=False)[
        ["gradient_deviation", "hessian_deviation", "printed_deviation"]
    ].agg(lambda deviations: deviations.max(skipna=False))
    rows = []
    for loss, deviations in worst.iterrows():
        name, value, gradient, diagonal, other = FORMULAS[loss]
        rows.append(
            {
                "loss": name,
                "L": value,
                "gradient": gradient,
                "Hessian diagonal": diagonal,
                "elsewhere": other,
                "gradient against differences": deviations["gradient_deviation"],
                "Hessian against differences": deviations["hessian_deviation"],
                "against the formulas": deviations["printed_deviation"],
            }
        )
    return pd.DataFrame(rows).assign(dataset="random points", source="generated")
