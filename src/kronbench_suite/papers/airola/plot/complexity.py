"""Complexities as printed, with exponents fitted to counted operations and measured seconds."""

import pandas as pd

from kronbench_suite.report.estimates import disturbed, exponent
from kronbench_suite.runner.columns import SHOWN, Columns

# Airola & Pahikkala, tables 3 (dual) and 4 (primal): the baseline, then the proposed method.
PRINTED = {
    ("dual", "independent"): ("n²", "n²"),
    ("dual", "dependent"): ("n²", "q n + m n"),
    ("dual", "complete"): ("m² q²", "m² q + m q²"),
    ("primal", "independent"): ("n d r", "n d r"),
    ("primal", "dependent"): ("n d r", "min(q d r + d n, m d r + r n)"),
    ("primal", "complete"): ("m q d r", "min(m d r + m q r, d r q + d m q)"),
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
        printed_costs = PRINTED[item.parameters["form"], setting]
        for method, text in zip(("baseline", "proposed"), printed_costs, strict=True):
            points = part[part["method"] == method].sort_values("n")
            n, ratio = points["n"], points["operations"] / points["cost"]
            row = {"setting": setting, "method": method, "way": points["way"].iloc[0]}
            row |= {"O()": f"O({text})", "n from": n.min(), "n to": n.max()}
            # Counted operations are in proportion to the O() if these two are about equal.
            row |= {"operations / O(), least": ratio.min(), "most": ratio.max()}
            # Exponents of the O(), of operations and of seconds in the number of pairs.
            row["exponent of O()"] = exponent(n, points["cost"])
            row["of operations"] = exponent(n, points["operations"])
            row["of seconds"] = exponent(n, points["seconds"])
            # Both methods at the largest size that they share.
            baseline, ours = seconds.loc[common, ["baseline", method]]
            row |= {"at n": common, "ms": 1e3 * ours, "speed-up": baseline / ours}
            rows.append(row | {"busy": disturbed(part)})
    worst = pd.concat(compared)["deviation"].max(skipna=False)
    return pd.DataFrame(rows).assign(deviation=worst, dataset="random", source="generated")
