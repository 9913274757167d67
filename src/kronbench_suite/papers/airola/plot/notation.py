"""The dimensions of training sets, and whether they are in the setting that the paper assumes."""

_NAMES = {
    "n": "n: labelled edges",
    "m": "m: start vertices",
    "q": "q: end vertices",
    "d": "d: start features",
    "r": "r: end features",
}


def tabulate(frame, item, printed):
    """One row for each data set; the last two numbers tell the setting of section 3.4."""
    table = frame[["dataset", *_NAMES]].rename(columns=_NAMES)
    table["n / max(m, q)"] = frame["n"] / frame[["m", "q"]].max(axis=1)
    table["n / (m q)"] = frame["n"] / (frame["m"] * frame["q"])
    return table.assign(source=frame["source"])
