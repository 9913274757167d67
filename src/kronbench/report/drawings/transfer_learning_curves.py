"""Learning curves of transfer learning: three rows of panels, a column for each data set."""

from kronbench.report.style import new_figure

# Curves keep their look in all panels: (approach, method, selection) -> label and style.
LOOKS = {
    ("independent-task", "IT", "A"): ("independent-task", {"color": "C0"}),
    ("almost zero-shot", "TS", "A"): ("almost zero-shot, two-step", {"color": "C4"}),
    ("multi-task", "KK", "A"): ("multi-task, Kronecker (A)", {"color": "C1"}),
    ("multi-task", "TS", "A"): ("multi-task, two-step (A)", {"color": "C2"}),
    ("multi-task", "TS", "B"): ("multi-task, two-step (B)", {"color": "C3"}),
    ("zero-shot", "KK", "A"): ("zero-shot, Kronecker (A)", {"color": "C1", "ls": "--"}),
    ("zero-shot", "TS", "A"): ("zero-shot, two-step (A)", {"color": "C2", "ls": "--"}),
    ("zero-shot", "TS", "D"): ("zero-shot, two-step (D)", {"color": "C6", "ls": "--"}),
}
ROWS = (
    ("target data increased", ("independent-task", "almost zero-shot"), True),
    ("target and auxiliary\ndata increased", ("independent-task", "multi-task"), False),
    ("auxiliary data increased", ("zero-shot",), False),
)


def draw(frame, item):
    """Means over repetitions with a band of one standard deviation (Stock et al. 2016, figure 7).

    In the top row the auxiliary tasks have labels for all proteins: zero-shot learning is level.
    """
    datasets = list(frame["dataset"].unique())
    figure, axes = new_figure(
        3, len(datasets), width=3.1 * len(datasets) + 1.9, height=2.1, sharex="col", sharey="col"
    )
    for col, dataset in enumerate(datasets):
        curves = frame[frame["dataset"] == dataset].groupby(["approach", "method", "selection"])
        for row, (title, approaches, with_zero_shot) in enumerate(ROWS):
            panel = axes[row, col]
            for key, (label, look) in LOOKS.items():
                curve = curves.get_group(key).groupby("size")["score"].agg(["mean", "std"])
                if key[0] in approaches:
                    low, high = curve["mean"] - curve["std"], curve["mean"] + curve["std"]
                    panel.plot(curve.index, curve["mean"], label=label, **look)
                    panel.fill_between(curve.index, low, high, color=look["color"], alpha=0.12, lw=0)
                elif key[0] == "zero-shot" and with_zero_shot:
                    panel.axhline(curve["mean"].iloc[-1], **look, lw=1.0)
            panel.axhline(0.5, color="0.6", lw=0.8, ls=":")
            if col == 0:
                panel.set_ylabel(f"{title}\n{_measure(dataset)}")
            else:
                panel.set_ylabel(_measure(dataset))
        repetitions = frame.loc[frame["dataset"] == dataset, "repetition"].nunique()
        axes[0, col].set_title(f"{dataset}, {repetitions} repetitions")
        axes[-1, col].set_xlabel("training proteins")
    handles = {}
    for panel in axes.flat:
        handles |= dict(zip(*panel.get_legend_handles_labels()[::-1], strict=True))
    figure.legend(handles.values(), handles.keys(), loc="outside right center")
    return figure


def _measure(dataset):
    return "concordance index" if dataset == "davis" else "macro AUC"
