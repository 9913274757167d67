"""What the tables of this paper share: the printed number of a group, and its weight."""

import numpy as np


def printed_number(printed, part):
    """The paper's number of a group; "KronSVM, ours" stands beside the paper's KronSVM."""
    method, dataset = part["method"].iloc[0].removesuffix(", ours"), part["dataset"].iloc[0]
    known = method in set(printed["method"]) and dataset in printed
    return float(printed.set_index("method").loc[method, dataset]) if known else np.nan


def weight(part):
    """The regularization weight of a group as a power of two; empty where it has none."""
    reg = part["reg"].iloc[0]
    return "" if np.isnan(reg) else f"2^{np.log2(reg):g}"
