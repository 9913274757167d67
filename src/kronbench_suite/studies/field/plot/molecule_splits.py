"""Scores on published splits of molecules and sequences, with what the splits give away."""

import pandas as pd

from kronbench_suite.runner.columns import SHOWN, Columns

COLUMNS = SHOWN | Columns(key=("part", "method"))

_SCORES = {"auroc": "AUROC", "auprc": "AUPRC"}
_COUNTS = {
    "repeated": "repeated in training",
    "shared": "of the test part in validation",
    "one_label_molecules": "molecules of one label",
    "one_label_sequences": "sequences of one label",
}


def tabulate(frame, item, printed):
    """One row for each split and method ("scores"); then one for each split ("split")."""
    scores = frame[["dataset", "source"]].assign(part="scores", method=frame["method"])
    more = frame["trained_on"] != "training"
    scores.loc[more, "method"] += ", validation pairs too"
    for column, name in _SCORES.items():
        scores[name], scores[f"{name} ±"] = frame[column], frame[f"{column}_half"]
    columns = {"molecule_power": "molecules' power", "sequence_power": "sequences' power"}
    chosen = frame[["effect", "reg", *columns]].rename(columns=columns)
    splits = frame.drop_duplicates("dataset").assign(part="split", method="")
    splits = splits[["dataset", "source", "part", "method", "n_train", "n_test", *_COUNTS]]
    splits = splits.rename(
        columns={**_COUNTS, "n_train": "training pairs", "n_test": "test pairs"}
    )
    return pd.concat([scores.join(chosen), splits], ignore_index=True)
