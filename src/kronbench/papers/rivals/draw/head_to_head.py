"""KronRidge and KronRidgeCV against each rival: where they lose, tie and win."""

import pandas as pd

from kronbench.papers.rivals.draw.comparisons import TITLES, by_method, difference, parts, sure
from kronbench.runner.columns import SHOWN, Columns
from kronbench.runner.items import Item

COLUMNS = SHOWN | Columns(
    key=("setting", "ours", "rival"),
)

_OURS = ("KronRidge", "KronRidgeCV")


def tabulate(frame: pd.DataFrame, item: Item, printed: pd.DataFrame) -> pd.DataFrame:
    """One row for each setting, method of ours and rival, over the data sets that have both.

    ``loses on`` names the data sets where the rival is ahead by more than the 95 % interval of the
    paired difference over draws, with that difference.
    """
    found = {}
    for dataset, setting, part in parts(frame):
        draws = by_method(part, "score")
        for ours in _OURS:
            for rival in draws:
                if ours in draws and rival not in _OURS:
                    one, other = draws[ours], draws[rival]
                    ahead, _ = difference(one, other, setting)
                    entry = dataset, sure(one, other, setting), ahead
                    found.setdefault((setting, ours, rival), []).append(entry)
    rows = []
    for (setting, ours, rival), entries in found.items():
        lost = [f"{name} ({ahead:+.3f})" for name, sign, ahead in entries if sign < 0]
        rows.append(
            {
                "dataset": "all",
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
    return pd.DataFrame(rows)
