"""Ranks over data sets that admit ties."""

import numpy as np
import pandas as pd

from kronbench_suite.report.style import new_figure
from kronbench_suite.studies.rivals.plot.board_scores import COLOURS, KERNELS, legend
from kronbench_suite.studies.rivals.plot.comparisons import (
    TITLES,
    by_method,
    level_with_best,
    ranks,
)


def tabulate(frame, item, printed):
    """One row for each setting and method that all data sets have; ranks are means over these."""
    rows = []
    for setting, of_setting in frame.groupby("setting", sort=False):
        scores = {
            dataset: by_method(part, "score")
            for dataset, part in of_setting.groupby("dataset", sort=False)
        }
        # A rank counts the methods that all data sets have, and no others.
        common = set.intersection(*map(set, scores.values()))
        tables = {
            dataset: ranks(table[[name for name in table if name in common]])
            for dataset, table in scores.items()
        }
        ranked = pd.DataFrame({name: table["rank"] for name, table in tables.items()})
        # data sets are independent repeats here, so that nothing is corrected
        level = level_with_best(ranked.T, 0.0, largest=False)
        for method in ranked.index:
            entries = [table.loc[method] for table in tables.values()]
            rows.append(
                {
                    "dataset": "all",
                    "setting": setting,
                    "method": method,
                    "rank": ranked.loc[method].mean(),
                    "low": np.mean([entry["low"] for entry in entries]),
                    "high": np.mean([entry["high"] for entry in entries]),
                    "group": int(method in level),
                    "best": int(sum(entry["best"] for entry in entries)),
                    "data sets": len(entries),
                    "source": frame["source"].iloc[0],
                }
            )
    return pd.DataFrame(rows)


def draw(table, item):
    """A panel for each setting: mean ranks, with the range that ties leave."""
    settings = list(table["setting"].unique())
    figure, axes = new_figure((len(settings) + 1) // 2, 2, height=2.2, sharex=True)
    for panel in axes.flat[len(settings) :]:
        panel.axis("off")
    for panel, setting in zip(axes.flat, settings, strict=False):
        part = table[table["setting"] == setting].sort_values("rank", ascending=False)
        for place, row in enumerate(part.itertuples()):
            colour = COLOURS.get(row.method, KERNELS)
            panel.plot([row.low, row.high], [place, place], color=colour, lw=3, alpha=0.35)
            face = colour if row.group else "white"
            panel.plot(row.rank, place, "o", ms=4.5, color=colour, mfc=face)
        names = [f"{row.method} ({row.best})" for row in part.itertuples()]
        panel.set_yticks(range(len(part)), names, fontsize=7)
        panel.set_title(TITLES[setting])
    for panel in axes[-1]:
        panel.set_xlabel("mean rank (1 is best)")
    bar = {"marker": "", "ls": "-", "lw": 3, "color": "0.3", "alpha": 0.35}
    bar["label"] = "ranks that ties leave"
    count = {"marker": "$(n)$", "ms": 11, "mew": 0, "color": "black"}
    count["label"] = f"on n of {table['data sets'].max()} data sets, score tied with the best"
    legend(figure, "rank tied with the first", "rank behind the first", bar, count)
    return figure
