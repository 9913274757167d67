"""Mean AUC of each method, beside the printed values."""

import pandas as pd


def tabulate(frame, item, printed):
    """One row for each data set and method; the spread is the standard deviation over folds."""
    printed = printed.set_index("method")
    rows = []
    for (dataset, method), part in frame.groupby(["dataset", "method"], sort=False):
        # "KronSVM, ours" stands beside the paper's KronSVM
        twin = method.removesuffix(", ours")
        known = twin in printed.index and dataset in printed.columns
        paper = printed.loc[twin, dataset] if known else float("nan")
        rows.append(
            {
                "dataset": dataset,
                "method": method,
                "ours": part["auc"].mean(),
                "paper": paper,
                "difference": part["auc"].mean() - paper,
                "spread": part["auc"].std(),
                "test sets": len(part),
                "chosen": _chosen(part["chosen"]),
                "source": part["source"].iloc[0],
            }
        )
    return pd.DataFrame(rows)


def _chosen(values):
    """The range of the selected hyperparameter; empty where nothing was selected."""
    values = values.dropna()
    if values.empty:
        return ""
    low, high = values.min(), values.max()
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"
