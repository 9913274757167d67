"""Complexities as printed, with exponents fitted to counted operations and measured seconds."""

import pandas as pd

from kronbench_suite.report.timed_points import disturbed, exponent
from kronbench_suite.runner.columns import SHOWN, Columns

# Airola & Pahikkala, tables 3 (dual) and 4 (primal): baseline and proposed.
PRINTED = {
    ("dual", "independent"): {"baseline": "n²", "proposed": "n²"},
    ("dual", "dependent"): {"baseline": "n²", "proposed": "q n + m n"},
    ("dual", "complete"): {"baseline": "m² q²", "proposed": "m² q + m q²"},
    ("primal", "independent"): {"baseline": "n d r", "proposed": "n d r"},
    ("primal", "dependent"): {"baseline": "n d r", "proposed": "min(q d r + d n, m d r + r n)"},
    ("primal", "complete"): {
        "baseline": "m q d r",
        "proposed": "min(m d r + m q r, d r q + d m q)",
    },
}

COLUMNS = SHOWN | Columns(
    key=("setting", "method"),
    clock=("ms",),
    ratios_of_clock=("of seconds", "speed-up"),
)


def tabulate(frame, item, printed):
    """One row for each setting and method; ``speed-up`` is at the largest n that both have."""
    rows, compared = [], []
    for setting, part in frame.groupby("setting", sort=False):
        seconds = part.pivot(index="n", columns="method", values="seconds").dropna()
        common = seconds.index.max()
        compared.append(part[(part["method"] == "proposed") & part["n"].isin(seconds.index)])
        for method, text in PRINTED[item.parameters["form"], setting].items():
            points = part[part["method"] == method].sort_values("n")
            n, ratio = points["n"], points["operations"] / points["cost"]
            rows.append(
                {
                    "setting": setting,
                    "method": method,
                    "way": points["way"].iloc[0],
                    "O()": f"O({text})",
                    "n from": n.min(),
                    "n to": n.max(),
                    "operations / O(), least": ratio.min(),
                    "most": ratio.max(),
                    "exponent of O()": exponent(n, points["cost"]),
                    "of operations": exponent(n, points["operations"]),
                    "of seconds": exponent(n, points["seconds"]),
                    "at n": common,
                    "ms": 1e3 * seconds.loc[common, method],
                    "speed-up": seconds.loc[common, "baseline"] / seconds.loc[common, method],
                    "busy": disturbed(part),
                }
            )
    worst = pd.concat(compared)["deviation"].max(skipna=False)
    return pd.DataFrame(rows).assign(deviation=worst, dataset="random", source="generated")
