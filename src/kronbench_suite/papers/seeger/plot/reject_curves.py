"""Test error against the share of rejected points, mean over partitions."""

from kronbench_suite.report.style import new_figure

# That of Hsu & Lin (2002), of whose curves the paper speaks; the others have one partition.
SCALING = "range"
LOOKS = {
    "mc-sep": {"color": "C0"},
    "mc-tied": {"color": "C2", "ls": "--"},
    "1rest": {"color": "C1"},
}


def draw(frame, item):
    """The curves of Seeger (2006, figure 3): all of them, and from three quarters of points on."""
    frame = frame[frame["scaling"] == SCALING]
    figure, axes = new_figure(1, 2, height=2.7)
    for panel, least in zip(axes[0], (0.0, 0.75), strict=True):
        part = frame[frame["predicted"] >= least * frame["predicted"].max()]
        for method, look in LOOKS.items():
            of_method = part[part["method"] == method]
            if of_method.empty:
                continue
            curves = of_method.groupby("predicted")["error"]
            mean, std = curves.mean(), curves.std().fillna(0)
            label = f"{method}: {mean.iloc[-1]:.4f}"
            if of_method["partition"].nunique() > 1:
                label += f" ± {std.iloc[-1]:.4f}"
            panel.plot(mean.index, mean, label=label, **look)
            band = mean - std, mean + std
            panel.fill_between(mean.index, *band, color=look["color"], alpha=0.15, lw=0)
        panel.set_xlabel("test points predicted")
    axes[0, 0].fill_between([], [], color="0.5", alpha=0.3, lw=0, label="one standard deviation")
    partitions = frame["partition"].nunique()
    axes[0, 0].set_ylabel("errors, share of all test points")
    axes[0, 0].legend(title="test error, none rejected", loc="upper left")
    axes[0, 0].set_title(f"All test points; {partitions} partition{'s' if partitions > 1 else ''}")
    axes[0, 1].set_title("The last quarter")
    return figure
