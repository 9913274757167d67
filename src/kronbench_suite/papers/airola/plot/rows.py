"""What the tables of this paper share: a row for each group, and the printed number beside it."""

import numpy as np
import pandas as pd


def rows_by(frame, keys, numbers):
    """One row a group: its keys, ``numbers`` of its rows, and where their data came from."""
    rows = []
    for names, part in frame.groupby(keys, sort=False, dropna=False):
        row = dict(zip(keys, names, strict=True))
        rows.append(row | numbers(part) | {"source": part["source"].iloc[0]})
    return pd.DataFrame(rows)


def printed_number(printed, part):
    """The paper's number of a group; "KronSVM, ours" stands beside the paper's KronSVM."""
    method, dataset = part["method"].iloc[0].removesuffix(", ours"), part["dataset"].iloc[0]
    known = method in set(printed["method"]) and dataset in printed
    return float(printed.set_index("method").loc[method, dataset]) if known else np.nan


def weight(part):
    """The regularization weight of a group as a power of two; empty where it has none."""
    reg = part["reg"].iloc[0]
    return "" if np.isnan(reg) else f"2^{np.log2(reg):g}"
