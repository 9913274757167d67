"""The leave-one-out shortcuts: largest deviation from retraining, and speed-ups."""

import pandas as pd

from kronbench_suite.report.estimates import disturbed
from kronbench_suite.runner.columns import SHOWN, Columns

# Hᵏ and Hᵍ are the hat matrices of rows and columns, d() the diagonal, / by entries (table 5.1).
_HAT = "(H vec(Y) − d(H) vec(Y)) / (1 − d(H)), "
FORMULAS = {
    ("IT", "B"): "(Hᵏ Y − d(Hᵏ) Y) / (1 − d(Hᵏ))",
    ("KK", "A"): f"{_HAT}H = Hᴷᴷ",
    ("KK", "B"): "none printed; one ridge for each direction v_b, kernel s_b K",
    ("KK", "C"): "none printed; one ridge for each direction u_a, kernel x_a G",
    ("KK", "D"): "none printed; separable expansion of 1 / (x s + λ)",
    ("TS", "A"): f"{_HAT}H = Hᵍ ⊗ Hᵏ",
    ("TS", "B"): "(Hᵏ − d(Hᵏ)) Y Hᵍ / (1 − d(Hᵏ))",
    ("TS", "C"): "Hᵏ Y (Hᵍ − d(Hᵍ)) / (1 − d(Hᵍ))",
    ("TS", "D"): "(Hᵏ − d(Hᵏ)) Y (Hᵍ − d(Hᵍ)) / ((1 − d(Hᵏ)) (1 − d(Hᵍ)))",
}

COLUMNS = SHOWN | Columns(
    key=("model", "setting"),
    clock=("shortcut, ms", "reusing, ms", "retraining, s"),
    ratios_of_clock=("speed-up over reusing", "speed-up"),
    conditions=("retraining is",),
)


def tabulate(frame, item, printed):
    """One row for each model and setting: the worst over weights, times at their mean."""
    rows = []
    for (dataset, model, setting), part in frame.groupby(["dataset", "model", "setting"]):
        left_out, retrained = part["left_out"].iloc[0], part["retrained"].iloc[0]
        how = f"extrapolated from {retrained} of {left_out} retrainings"
        seconds = part[["seconds", "reusing_seconds", "retraining_seconds"]].mean()
        shortcut, reusing, retraining = seconds
        row = {
            "dataset": dataset,
            "model": model,
            "setting": "A & B" if model == "IT" else setting,
        }
        # The printed formula, and how far it is from retraining.
        row["leave-one-out values"] = FORMULAS[model.split(",")[0], setting]
        row["largest deviation"] = part["deviation"].max(skipna=False)
        row["of reusing"] = part["reusing_deviation"].max(skipna=False)
        # Times, and how many times faster the shortcut is.
        row |= {"shortcut, ms": 1e3 * shortcut, "reusing, ms": 1e3 * reusing}
        row["retraining, s"] = retraining
        row["retraining is"] = "measured" if retrained == left_out else how
        row |= {"speed-up over reusing": reusing / shortcut, "speed-up": retraining / shortcut}
        rows.append(row | {"busy": disturbed(part), "source": part["source"].iloc[0]})
    return pd.DataFrame(rows)
