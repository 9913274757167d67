"""Seconds of final fits and cross-validation folds, beside the printed ones."""

import pandas as pd

from kronbench.papers.seeger.draw.text_scores import section_of, texts_of
from kronbench.runner.columns import SHOWN, Columns, Parameter
from kronbench.runner.items import Item

QUANTITIES = {"final fit": "final", "cv fold": "cvfold", "learning": None}

COLUMNS = SHOWN | Columns(
    key=("quantity", "method"),
    clock=("seconds", "seconds_low", "seconds_high"),
    ratios_of_clock=("times faster",),
    counts=("newton steps", "evaluations", "n", "C", "P"),
    numbers=("paper's seconds", "products", "relative gap"),
    texts=("texts", "section"),
    conditions=("peak, MiB",),
    values={
        "quantity": ("final fit", "cv fold", "learning"),
        "method": (Parameter(("methods", "*")),),
        "texts": ("patents, other features (LSA)", "patents, words", "IPC titles"),
        "section": ("A", "B", "C", "D", "E", "F", "G", "H"),
    },
)


def tabulate(frame: pd.DataFrame, item: Item, printed: pd.DataFrame) -> pd.DataFrame:
    """One row for each collection, quantity and method (Seeger 2006, table 2).

    ``times faster`` compares two machines of different times: it is shown, not judged. The
    rows of single evaluations are in the measurements.
    """
    printed = printed.set_index("section")
    rows = []
    for _, measured in frame[frame["quantity"].isin(list(QUANTITIES))].iterrows():
        section, method = section_of(measured["dataset"]), measured["method"]
        pattern = method.partition(", ")[0]  # "H1, preconditioned" is a way to fit H1
        column = f"{QUANTITIES[measured['quantity']]}_{pattern}"
        paper = printed[column].get(section) if column in printed else None
        rows.append(
            {
                "texts": texts_of(measured["dataset"]),
                "section": section,
                "quantity": measured["quantity"],
                "method": method,
                "seconds": measured["seconds"],
                "paper's seconds": paper,
                "times faster": paper / measured["seconds"] if paper else None,
                "products": measured.get("products"),
                "newton steps": measured.get("newton_steps"),
                "evaluations": measured.get("evaluations"),
                "relative gap": measured.get("gap"),
                "peak, MiB": measured["peak_mib"] if measured["quantity"] == "final fit" else None,
                "n": measured["training"],
                "C": measured["classes"],
                "P": measured["nodes"],
                "seconds_low": measured.get("seconds_low"),
                "seconds_high": measured.get("seconds_high"),
                "busy": measured["busy"],
                "dataset": measured["dataset"],
                "source": measured["source"],
            }
        )
    return pd.DataFrame(rows)
