"""Losses with their derivatives as printed, and how far measured ones are from them."""

import pandas as pd

# Name, value, gradient entry, Hessian diagonal, other entries: Airola & Pahikkala, table 2.
_TEXTS = ("loss", "L", "gradient", "Hessian diagonal", "elsewhere")
_HINGE = "if pᵢ yᵢ < 1, else 0"
FORMULAS = {
    "ridge": ("Ridge", "½ Σᵢ (pᵢ − yᵢ)²", "pᵢ − yᵢ", "1", "0"),
    "l1svm": ("L1-SVM", "Σᵢ max(0, 1 − pᵢ yᵢ)", f"−yᵢ {_HINGE}", "0", "0"),
    "l2svm": ("L2-SVM", "½ Σᵢ max(0, 1 − pᵢ yᵢ)²", f"pᵢ − yᵢ {_HINGE}", f"1 {_HINGE}", "0"),
    "logistic": (
        *("Logistic", "Σᵢ log(1 + exp(−yᵢ pᵢ))", "−yᵢ (1 + exp(yᵢ pᵢ))⁻¹"),
        *("exp(yᵢ pᵢ) (1 + exp(yᵢ pᵢ))⁻²", "0"),
    ),
    "rankrls": (
        *("RankRLS", "¼ Σᵢ Σⱼ (yᵢ − pᵢ − yⱼ + pⱼ)²", "Σⱼ (yⱼ − pⱼ) + n (pᵢ − yᵢ)"),
        *("n − 1", "−1"),
    ),
}


def tabulate(frame, item, printed):
    """One row for each loss: the formulas, and the largest deviations over all repetitions."""
    rows = []
    for loss, part in frame.groupby("loss", sort=False):
        row = dict(zip(_TEXTS, FORMULAS[loss], strict=True))
        row["gradient against differences"] = part["gradient_deviation"].max(skipna=False)
        row["Hessian against differences"] = part["hessian_deviation"].max(skipna=False)
        row["against the formulas"] = part["printed_deviation"].max(skipna=False)
        rows.append(row)
    return pd.DataFrame(rows).assign(dataset="random points", source="generated")
