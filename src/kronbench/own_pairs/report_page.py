"""One page about a solver on a user's own pairs: what ``evaluate --report`` writes."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable
from datetime import date
from html import escape
from pathlib import Path
from string import Template
from types import SimpleNamespace

import numpy as np
import pandas as pd
from sklearn.metrics import roc_curve

from kronbench import __version__
from kronbench.datasets.pair_tables import OwnPairs
from kronbench.errors import InputError, extra_for
from kronbench.files import check_output, write_text
from kronbench.own_pairs.evaluate import scores_and_notes
from kronbench.own_pairs.recipe import Recipe
from kronbench.own_pairs.selection import choose
from kronbench.pairs import screen

# Pictures stand on white in dark mode too. They are as wide as their text is readable, one below
# the other on a narrow screen.
_PAGE = Path(__file__).with_suffix(".html")
# Colour, marker and line of the model and of the additive baseline: Okabe and Ito's blue and
# vermilion, which readers with any colour vision tell apart.
_STYLES = (("#0072B2", "o", "-"), ("#D55E00", "s", "--"))
_MOST_POINTS = 4000  # of a scatter plot
_RATES = np.linspace(0, 1, 201)  # of false positives, at which curves are averaged


def check_report(folder: Path, inputs: Iterable[str | Path | None]) -> None:
    """Refuse, before any work, what the page lacks: a package, or a folder to be written to."""
    with extra_for("--report"):
        import matplotlib  # noqa: F401
    check_output(folder / "index.html" if folder.exists() else folder, inputs)


def ten_best(own: OwnPairs, recipe: Recipe, selects: bool) -> pd.DataFrame | str:
    """The largest predictions of pairs without a label, by a fit to all that have one.

    Where there are none to be trusted, it is a sentence that says why. With ``selects`` what is
    open is chosen by inner folds of the recipe's setting.
    """
    try:
        recipe = choose(recipe, own.data, own.y).recipe if selects else recipe
        fitted = recipe.fit(own.data, own.y)
        if recipe.is_worse_than_the_mean(fitted, own.data, own.y):
            raise InputError("the model predicts its training pairs worse than their mean does")
        best, scores = screen(SimpleNamespace(predict=fitted.scores), own.data, 10, verbose=True)
    except InputError as error:  # the scores are there, and not to be lost
        return f"None: {error}."
    i, j = own.sides[0].ids, own.sides[1].ids
    ids = {own.names[0]: np.take(i, best.rows), own.names[1]: np.take(j, best.cols)}
    return pd.DataFrame({**ids, "prediction": scores}) if len(best) else "All pairs have a label."


def write_report(
    folder: Path, result: dict, tested: dict, best: pd.DataFrame | str, command: str
) -> None:
    """Write ``index.html`` into a folder, which is made if need be.

    ``result`` is that of :func:`kronbench.own_pairs.evaluate.evaluate_pairs`, which has filled
    ``tested``; ``best`` is what `ten_best` gives.
    """
    (head, *lines), notes = scores_and_notes(result)
    shown = [entry for entry in result["settings"] if entry["scores"]]
    classes = result["labels"] != "numbers"
    draw = _draw_curves if classes else _draw_points
    # A small picture for each metric, and one for each setting.
    metrics = enumerate(score["metric"] for score in shown[0]["scores"])
    by_metric = [_picture(name, _draw_scores, shown, place) for place, name in metrics]
    named = {f"{entry['setting']}: {entry['test']}": tested[entry["setting"]] for entry in shown}
    parts = {
        "title": escape(f"{result['solver']} on {result['pairs']:,} pairs"),
        "taken": _items(result["taken"]),
        "scores": _table(pd.DataFrame(lines, columns=head)),
        "notes": _items(notes),
        "by_metric": "\n".join(by_metric),
        "kind": "classes" if classes else "numbers",
        "by_setting": "\n".join(_picture(name, draw, sets) for name, sets in named.items()),
        "best": _items([best]) if isinstance(best, str) else _table(best),
        "command": escape(command),
        "made": f"Kronbench {__version__}, {date.today()}",
    }
    write_text(folder / "index.html", Template(_PAGE.read_text("utf-8")).substitute(parts))


def _items(lines):
    return "".join(f"<li>{escape(line)}</li>" for line in lines)


def _table(frame):
    html = frame.to_html(index=False, border=0, na_rep="", float_format="{:#.4g}".format)
    return f'<div class="scroll" tabindex="0">{html}</div>'


def _picture(title, draw, *what):
    """An image that ``draw(panel, ...)`` fills, within the page: its text is drawn as shapes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.6, 3.2), layout="constrained")
    panel = figure.add_subplot(title=title)
    draw(panel, *what)
    panel.grid(alpha=0.25)
    file = io.BytesIO()
    figure.savefig(file, format="svg", dpi=200, metadata={"Date": None})
    content = base64.b64encode(file.getvalue()).decode()
    return f'<img alt="{escape(title)}" src="data:image/svg+xml;base64,{content}">'


def _draw_scores(panel, shown, place):
    scores, lines = [entry["scores"][place] for entry in shown], np.arange(len(shown))
    for name, shift, style in zip(("model", "additive"), (-0.12, 0.12), _STYLES, strict=True):
        means, halves = np.array([[*score[name].values()] for score in scores], float).T
        panel.errorbar(means, lines + shift, xerr=halves, color=style[0], fmt=style[1], ms=5)
    panel.set(xlabel="mean", ylim=(len(shown) - 0.5, -0.5))
    names = [f"{e['setting']}  {e['test']}".replace(" and ", "\nand ") for e in shown]
    panel.set_yticks(lines, names)
    panel.figure.set_figheight(1 + 0.4 * len(shown))


def _draw_points(panel, sets):
    y, predicted, _ = np.concatenate(sets, axis=1)
    some = np.random.default_rng(0).permutation(len(y))[:_MOST_POINTS]
    panel.plot(predicted[some], y[some], ".", ms=2, alpha=0.4, c=_STYLES[0][0], rasterized=True)
    panel.axline((y.mean(), y.mean()), slope=1, color="0.4", lw=0.8)
    panel.set(xlabel="predicted", ylabel="measured")


def _draw_curves(panel, sets):
    """ROC curves, and their mean at equal rates of false positives (Fawcett 2006)."""
    for place, (colour, _, line) in reversed([*enumerate(_STYLES, 1)]):
        of_sets = [roc_curve(each[0] == each[0].max(), each[place]) for each in sets]
        curves = [np.interp(_RATES, wrong, right) for wrong, right, _ in of_sets]
        panel.plot(_RATES, np.transpose(curves), line, lw=0.5, alpha=0.25, color=colour)
        panel.plot(_RATES, np.mean(curves, axis=0), line, lw=2, color=colour)
    panel.plot([0, 1], [0, 1], color="0.4", lw=0.8)
    panel.set(xlabel="false positive rate", ylabel="true positive rate", aspect="equal")
