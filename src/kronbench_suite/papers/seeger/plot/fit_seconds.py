"""Seconds of final fits and cross-validation folds, beside the printed ones."""

from kronbench_suite.papers.seeger.plot.text_scores import section_of, texts_of

QUANTITIES = {"final fit": "final", "cv fold": "cvfold", "learning": None}


def tabulate(frame, item, printed):
    """One row for each collection, quantity and method (Seeger 2006, table 2)."""
    printed = printed.set_index("section")
    shown = frame[frame["quantity"].isin(list(QUANTITIES))]
    section = shown["dataset"].map(section_of)
    pattern = shown["method"].str.partition(", ")[0]  # "H1, preconditioned" is a way to fit H1
    places = zip(section, shown["quantity"].map(QUANTITIES), pattern, strict=True)
    paper = [printed.get(f"{name}_{model}", {}).get(letter) for letter, name, model in places]
    keys = ["dataset", "source", "busy", "quantity", "method"]
    seconds = shown[[*keys, "seconds", "seconds_low", "seconds_high"]]
    texts = shown["dataset"].map(texts_of)
    return seconds.assign(texts=texts, section=section, **{"paper's seconds": paper})
