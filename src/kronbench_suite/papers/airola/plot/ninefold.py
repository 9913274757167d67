"""The blocks of the ninefold split, with the pairs counted in each."""

from matplotlib.patches import Rectangle

from kronbench_suite.report.style import ROLES, new_figure

_NAMES = {"train": "training", "test": "test", "unused": "not used"}


def draw(frame, item):
    """One round: the test block, its four training blocks, and the four that stay unused."""
    figure, axes = new_figure(1, 1, width=3.6, height=3.9)
    axes = axes[0, 0]
    low, high = (frame.groupby("row_fold")["row"].agg(end) for end in ("min", "max"))
    left, right = (frame.groupby("col_fold")["col"].agg(end) for end in ("min", "max"))
    for (row_fold, col_fold), block in frame.groupby(["row_fold", "col_fold"]):
        corner = left[col_fold], low[row_fold]
        width, height = right[col_fold] + 1 - corner[0], high[row_fold] + 1 - corner[1]
        (role,) = block["role"].unique()
        look = {"fc": ROLES[role], "alpha": 0.45, "ec": "white", "lw": 2}
        axes.add_patch(Rectangle(corner, width, height, **look))
        positive = (block["label"] > 0).sum()
        text = f"{_NAMES[role]}\n{len(block)} pairs\n{positive} positive"
        middle = corner[0] + width / 2, corner[1] + height / 2
        axes.text(*middle, text, ha="center", va="center", fontsize=7)
    axes.set(xlim=(0, right.max() + 1), xlabel="end vertices (targets), by fold")
    axes.set(ylim=(high.max() + 1, 0), ylabel="start vertices (drugs), by fold")
    axes.grid(False)
    return figure
