"""Shared and saved products: seconds of each way beside the first."""


def tabulate(frame, item, printed):
    """One row for each way, as measured."""
    columns = {
        "dataset": "dataset", "model": "model", "way": "way", "n": "pairs", "seconds": "seconds",
        "cpu_seconds": "cpu seconds", "ratio": "ratio", "auc": "auc", "source": "source",
    }  # fmt: skip
    return frame[list(columns)].rename(columns=columns)
