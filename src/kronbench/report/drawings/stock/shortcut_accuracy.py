"""The leave-one-out shortcuts: largest deviation from retraining, and speed-ups."""

import pandas as pd

from kronbench.report.fits import disturbed

# H^k and H^g are the hat matrices of rows and columns, d() the diagonal, / by entries (table 5.1).
_HAT = r"$(\mathbf{H} \, \mathrm{vec}(\mathbf{Y}) - d(\mathbf{H}) \, \mathrm{vec}(\mathbf{Y}))"
_HAT += r" \, / \, (1 - d(\mathbf{H}))$, "
_ROWS, _COLS = r"\mathbf{H}^k", r"\mathbf{H}^g"
FORMULAS = {
    ("IT", "B"): rf"$({_ROWS} \mathbf{{Y}} - d({_ROWS}) \mathbf{{Y}}) \, / \, (1 - d({_ROWS}))$",
    ("KK", "A"): rf"{_HAT}$\mathbf{{H}} = \mathbf{{H}}^{{KK}}$",
    ("KK", "B"): "none printed; one ridge for each direction $v_b$, kernel $s_b \\mathbf{K}$",
    ("KK", "C"): "none printed; one ridge for each direction $u_a$, kernel $x_a \\mathbf{G}$",
    ("KK", "D"): r"none printed; separable expansion of $1 / (x s + \lambda)$",
    ("TS", "A"): rf"{_HAT}$\mathbf{{H}} = {_COLS} \otimes {_ROWS}$",
    ("TS", "B"): rf"$({_ROWS} - d({_ROWS})) \mathbf{{Y}} {_COLS} \, / \, (1 - d({_ROWS}))$",
    ("TS", "C"): rf"${_ROWS} \mathbf{{Y}} ({_COLS} - d({_COLS})) \, / \, (1 - d({_COLS}))$",
    ("TS", "D"): rf"$({_ROWS} - d({_ROWS})) \mathbf{{Y}} ({_COLS} - d({_COLS}))"
    rf" \, / \, ((1 - d({_ROWS})) (1 - d({_COLS})))$",
}


def tabulate(frame, item, printed):
    """One row for each model and setting: the worst over weights, times at their mean.

    "reusing" leaves out one after the other too, but makes no factorization twice. A model with
    another spectral filter ("TS, cutoff") has the formula of ridge regression, and no times.
    """
    rows = []
    for (dataset, model, setting), part in frame.groupby(["dataset", "model", "setting"]):
        formula = FORMULAS[model.split(",")[0], setting]
        left_out, retrained = part["left_out"].iloc[0], part["retrained"].iloc[0]
        seconds = part[["seconds", "reusing_seconds", "retraining_seconds"]].mean()
        rows.append(
            {
                "dataset": dataset,
                "model": model,
                "setting": "A & B" if model == "IT" else setting,
                "leave-one-out values": formula,
                "beyond the paper": formula.startswith("none printed"),
                "largest deviation": part["deviation"].max(skipna=False),
                "of reusing": part["reusing_deviation"].max(skipna=False),
                "shortcut, ms": 1e3 * seconds["seconds"],
                "reusing, ms": 1e3 * seconds["reusing_seconds"],
                "retraining, s": seconds["retraining_seconds"],
                "retraining is": "measured"
                if retrained == left_out
                else f"extrapolated from {retrained} of {left_out} retrainings",
                "speed-up over reusing": seconds["reusing_seconds"] / seconds["seconds"],
                "speed-up": seconds["retraining_seconds"] / seconds["seconds"],
                "busy": disturbed(part),
                "source": part["source"].iloc[0],
            }
        )
    return pd.DataFrame(rows)
