"""Test vertices with a twin in training, and scores with and without them."""

COUNTS = {
    "n": "n",
    "n_train": "training pairs",
    "new_vertices": "new vertices",
    "with_twin": "with a twin",
    "with_near": "with a near one",
}
SCORES = {"ci": "CI", "mse": "MSE", "interaction": "interaction"}


def tabulate(frame, item, printed):
    """One row for each data set, setting, method and part of the test pairs that has some."""
    frame = frame[frame["method"].isin(item.parameters["by_leak"])]
    frame = frame[(frame["trained_on"] == "all parts") & (frame["n"] > 0)]
    keys = ["dataset", "source", "setting", "method", "pairs"]
    shown = frame[[*keys, *COUNTS, *SCORES]].astype(dict.fromkeys(COUNTS, int))
    return shown.rename(columns=COUNTS | SCORES)
