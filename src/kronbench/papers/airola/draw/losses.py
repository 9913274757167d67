"""Losses with their derivatives as printed, and how far measured ones are from them."""

import pandas as pd

from kronbench.runner.columns import SHOWN, Columns
from kronbench.runner.items import Item

# Name, value, gradient entry, Hessian diagonal, other entries: Airola & Pahikkala, table 2.
FORMULAS = {
    "ridge": ("Ridge", "½ Σᵢ (pᵢ − yᵢ)²", "pᵢ − yᵢ", "1", "0"),
    "l1svm": ("L1-SVM", "Σᵢ max(0, 1 − pᵢ yᵢ)", "−yᵢ if pᵢ yᵢ < 1, else 0", "0", "0"),
    "l2svm": (
        "L2-SVM",
        "½ Σᵢ max(0, 1 − pᵢ yᵢ)²",
        "pᵢ − yᵢ if pᵢ yᵢ < 1, else 0",
        "1 if pᵢ yᵢ < 1, else 0",
        "0",
    ),
    "logistic": (
        "Logistic",
        "Σᵢ log(1 + exp(−yᵢ pᵢ))",
        "−yᵢ (1 + exp(yᵢ pᵢ))⁻¹",
        "exp(yᵢ pᵢ) (1 + exp(yᵢ pᵢ))⁻²",
        "0",
    ),
    "rankrls": (
        "RankRLS",
        "¼ Σᵢ Σⱼ (yᵢ − pᵢ − yⱼ + pⱼ)²",
        "Σⱼ (yⱼ − pⱼ) + n (pᵢ − yᵢ)",
        "n − 1",
        "−1",
    ),
}

COLUMNS = SHOWN | Columns(
    key=("loss",),
    numbers=(
        *("gradient against differences", "Hessian against differences"),
        "against the formulas",
    ),
    texts=("L", "gradient", "Hessian diagonal", "elsewhere"),
    values={
        "dataset": ("random points",),
        "loss": ("Ridge", "L1-SVM", "L2-SVM", "Logistic", "RankRLS"),
    },
)


def tabulate(frame: pd.DataFrame, item: Item, printed: None) -> pd.DataFrame:
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
