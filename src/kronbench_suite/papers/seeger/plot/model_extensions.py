"""Extensions of the class model and what each is worth: means over repetitions."""

NUMBERS = {
    "error": "test error",
    "nll": "- log likelihood, test",
    "psi": "Psi / n",
    "deviation": "deviation from exact",
    "acc": "acc",
    "pacc": "pacc",
    "taxo": "taxo",
    "iterations": "EM iterations",
}


def tabulate(frame, item, printed):
    """One row for each extension, data set and variant."""
    keys = ["extension", "dataset", "variant", "rank", "training", "source"]
    frame = frame.reindex(columns=[*keys, *NUMBERS])
    groups = frame.groupby(keys, dropna=False, sort=False)
    return groups.mean().reset_index().rename(columns=NUMBERS)
