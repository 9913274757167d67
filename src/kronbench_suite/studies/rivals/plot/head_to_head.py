"""What follows in words, and where KronRidge and KronRidgeCV lose, tie and win."""

import pandas as pd

from kronbench_suite.runner.columns import SHOWN, Columns
from kronbench_suite.studies.rivals.plot import rank_groups
from kronbench_suite.studies.rivals.plot.comparisons import TITLES, by_method, compared

COLUMNS = SHOWN | Columns(key=("line", "setting", "ours", "rival"))

_OURS = ("KronRidge", "KronRidgeCV")


def tabulate(frame, item, printed):
    """One row in words for each setting; one for each setting, method of ours and rival."""
    found, losses = {}, {}
    for (dataset, setting), part in frame.groupby(["dataset", "setting"], sort=False):
        repetitions = by_method(part, "score")
        for ours in _OURS:
            for rival in repetitions:
                if ours in repetitions and rival not in _OURS:
                    entry = dataset, *compared(repetitions[ours], repetitions[rival])
                    found.setdefault((setting, ours, rival), []).append(entry)
    rows = []
    for (setting, ours, rival), entries in found.items():
        lost = [f"{name} ({ahead:+.3f})" for name, sign, ahead in entries if sign < 0]
        if lost:
            told = f"{ours} to {_spelt(rival)} on {', '.join(lost)}"
            losses.setdefault(setting, []).append(told)
        rows.append(
            {
                "dataset": "all",
                "line": "rival",
                "setting": setting,
                "question": TITLES[setting],
                "ours": ours,
                "rival": rival,
                "loses": len(lost),
                "ties": sum(sign == 0 for _, sign, _ in entries),
                "wins": sum(sign > 0 for _, sign, _ in entries),
                "mean lead": sum(ahead for *_, ahead in entries) / len(entries),
                "loses on": "; ".join(lost) or "none",
                "source": frame["source"].iloc[0],
            }
        )
    words, ranks = [], rank_groups.tabulate(frame, item, printed)
    for setting, part in ranks.groupby("setting", sort=False):
        part = part.sort_values("rank")
        level, behind = (part.loc[part["group"] == sign, "method"].tolist() for sign in (1, 0))
        first, *tied = map(_spelt, level)
        text = f"{first} has the lowest mean rank"
        text += f"; {', '.join(tied)} cannot be told from it" if tied else ""
        text += f"; behind are {', '.join(map(_spelt, behind))}" if behind else ""
        words.append(
            {
                "dataset": "all",
                "line": "words",
                "setting": setting,
                "question": TITLES[setting],
                "ours": "",
                "rival": "",
                "what follows": f"{text} ({part['data sets'].iloc[0]} data sets)",
                "losses": "; ".join(losses.get(setting, ())) or "none",
                "source": part["source"].iloc[0],
            }
        )
    return pd.DataFrame([*words, *rows])


def _spelt(method):
    return f"the mean of {method}" if " and " in method else method
