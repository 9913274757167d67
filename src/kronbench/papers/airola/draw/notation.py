"""The dimensions of training sets, and whether they are in the setting that the paper assumes."""

import numpy as np
import pandas as pd


def tabulate(frame, item, printed):
    """One row for each data set; the last two numbers tell the setting of section 3.4."""
    n, m, q = frame["n"], frame["m"], frame["q"]
    return pd.DataFrame(
        {
            "dataset": frame["dataset"],
            "n: labelled edges": n,
            "m: start vertices": m,
            "q: end vertices": q,
            "d: start features": frame["d"],
            "r: end features": frame["r"],
            "n / max(m, q)": n / np.maximum(m, q),
            "n / (m q)": n / (m * q),
            "source": frame["source"],
        }
    )
