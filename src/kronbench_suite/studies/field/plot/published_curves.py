"""Test AUC against iterations: what a publication prints, and what comes out here."""

from kronbench_suite.report.style import log_ticks, new_figure, shared_legend

NEW = {
    "setting 1": "known vertices",
    "setting 2": "new targets",
    "setting 3": "new drugs",
    "setting 4": "both new",
}


def draw(frame, item):
    """A row of panels for each pairwise kernel, a column for each setting; differences below."""
    frame = frame[frame["random_state"] == item.parameters["random_state"]]
    kernels = [name for name in item.parameters["iterations"] if name in set(frame["pairwise"])]
    settings = list(frame["setting"].unique())
    figure, axes = new_figure(len(kernels) + 1, len(settings), height=1.45, sharex=True)
    for panel, setting in zip(axes[-1], settings, strict=True):
        part = frame[(frame["setting"] == setting) & (frame["pairwise"] == kernels[0])]
        for column, colour, label in (
            ("difference", "C2", "difference from the printed curve"),
            ("band", "C1", "difference between orders of sums"),
        ):
            # curves that agree to the last bit have no place on a logarithmic axis
            curve = part.set_index("iteration")[column].clip(lower=1e-8)
            panel.plot(curve, color=colour, lw=1.0, label=label)
        panel.set(yscale="log", xlabel="iterations")
        log_ticks(panel.yaxis)
    axes[-1, 0].set_ylabel(f"{kernels[0]}\ndifference")
    for row, kernel in zip(axes, kernels, strict=False):
        for panel, setting in zip(row, settings, strict=True):
            part = frame[frame["setting"] == setting].set_index("iteration")
            own = part[part["pairwise"] == kernel]
            panel.plot(own["printed"], color="0.75", lw=4, label="AUC, printed")
            panel.plot(own["auc"], color="C0", lw=1.0, label="AUC, ours")
            if kernel == "Cartesian":
                renumbered = part.loc[part["pairwise"] == "Cartesian, renumbered", "auc"]
                look = {"color": "C4", "lw": 1.0, "ls": "--"}
                panel.plot(renumbered, label="AUC, ours, test vertices renumbered", **look)
            panel.margins(x=0.01)
            if kernel == kernels[0]:
                panel.set_title(f"{setting.capitalize()}: {NEW[setting]}")
        row[0].set_ylabel(f"{kernel}\ntest AUC")
    shared_legend(figure, axes, loc="outside lower center", ncols=3)
    return figure
