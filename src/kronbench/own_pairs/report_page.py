"""One page about a solver on a user's own pairs: what ``evaluate --report`` writes."""

from __future__ import annotations

import base64
import io
import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from html import escape
from pathlib import Path
from string import Template
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.metrics import roc_curve

import kronbench
from kronbench.errors import InputError, extra_for
from kronbench.evaluation import SETTINGS
from kronbench.files import check_output, write_text
from kronbench.own_pairs.evaluate import scores_and_notes
from kronbench.own_pairs.recipe import Recipe
from kronbench.own_pairs.selection import choose
from kronbench.pairs import screen

if TYPE_CHECKING:
    from kronbench.datasets.pair_tables import OwnPairs

# Colour, marker and line of the model and of the additive baseline: Okabe and Ito's blue and
# orange, which readers with any colour vision tell apart.
_STYLES = (("#0072B2", "o", "-"), ("#D55E00", "s", "--"))
_MOST_POINTS = 4000  # of a scatter plot
_RATES = np.linspace(0, 1, 201)  # of false positives, at which curves are averaged

# Pictures stand on white in dark mode too. They are as wide as their text is readable, one below
# the other on a narrow screen.
_PAGE = Template("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>$title</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
h1, h2 { line-height: 1.2 }
.pictures { display: flex; flex-wrap: wrap; gap: 1rem }
.pictures img { width: min(100%, 28rem); background: white; border-radius: 6px }
.scroll { overflow-x: auto; margin: 1rem 0 }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { padding: .25rem .75rem .25rem 0; text-align: left; border-bottom: 1px solid #8886;
  white-space: nowrap }
td:first-child { white-space: normal }
li, p { overflow-wrap: anywhere }
</style>
</head>
<body>
<h1>$title</h1>
$taken
<h2>Scores by what is new in a test pair</h2>
$scores
$notes
<p>Means over test sets with 95 % intervals: the model (blue circles), and row and column effects
alone, without features (orange squares). Where both are alike, the features told nothing.</p>
<div class="pictures">$bars</div>
<h2>$compared</h2>
<p>$explained</p>
<div class="pictures">$panels</div>
<h2>The largest predictions of pairs without a label</h2>
$best
<h2>How it was made</h2>
<p><code>$command</code></p>
<p>Kronbench $version, $today.</p>
</body>
</html>
""")


def check_report(folder: Path, inputs: Iterable[str | Path | None]) -> None:
    """Refuse, before any work, what the page lacks: a package, or a folder to be written to."""
    with extra_for("--report"):
        import matplotlib  # noqa: F401
    check_output(folder / "index.html" if os.path.lexists(folder) else folder, inputs)


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
        model = SimpleNamespace(predict=fitted.scores)
        best, scores = screen(model, own.data, top=10, verbose=True)
    except InputError as error:  # the scores are there, and not to be lost
        return f"None: {error}."
    if not len(best):
        return "None: all pairs have a label."
    ids = [np.take(own.sides[0].ids, best.rows), np.take(own.sides[1].ids, best.cols)]
    return pd.DataFrame(dict(zip(own.names, ids, strict=False)) | {"prediction": scores})


def write_report(
    folder: Path,
    result: Mapping[str, Any],
    tested: Mapping[str, Sequence[np.ndarray]],
    best: pd.DataFrame | str,
    command: str,
) -> Path:
    """Write ``index.html`` into a folder, which is made if need be; the path of the page.

    ``result`` is that of :func:`kronbench.own_pairs.evaluate.evaluate_pairs`, which has filled
    ``tested``; ``best`` is what `ten_best` gives.
    """
    (head, *lines), notes = scores_and_notes(dict(result))
    shown = [entry for entry in result["settings"] if entry["scores"]]
    classes = result["labels"] != "numbers"
    compared = "ROC curves" if classes else "Measured against predicted"
    text = {
        "title": f"{result['solver']} on {result['pairs']:,} pairs",
        "compared": compared,
        "explained": (
            "Means over test sets, and each of them in pale: the model (blue), and row and column "
            "effects alone (orange, dashed)."
            if classes
            else f"Pairs of all test sets, at most {_MOST_POINTS:,} of them drawn by chance. On "
            "the line the two are equal."
        ),
        "command": command,
        "version": kronbench.__version__,
        "today": date.today().isoformat(),
    }
    parts = {name: escape(value) for name, value in text.items()}
    parts |= {"taken": _items(result["taken"]), "notes": _items(notes)}
    parts["scores"] = _table(pd.DataFrame(lines, columns=head))
    parts["best"] = f"<p>{escape(best)}</p>" if isinstance(best, str) else _table(best)
    # One small picture for each metric, then one for each setting.
    metrics = [score["metric"] for score in shown[0]["scores"]]
    parts["bars"] = "\n".join(
        _picture(f"{metric} by setting", _draw_scores, shown, place, height=1 + 0.4 * len(shown))
        for place, metric in enumerate(metrics)
    )
    parts["panels"] = "\n".join(
        _picture(
            f"{e['setting']}: {SETTINGS[e['setting']]}",
            _draw_curves if classes else _draw_points,
            tested[e["setting"]],
        )
        for e in shown
    )
    page = Path(folder) / "index.html"
    write_text(page, _PAGE.substitute(parts))
    return page


def _items(lines):
    return (
        "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>" if lines else ""
    )


def _table(frame):
    html = frame.to_html(index=False, border=0, na_rep="", float_format="{:#.4g}".format)
    return f'<div class="scroll" tabindex="0">{html}</div>'


def _picture(title, draw, *what, height=3.4):
    """An image that ``draw(panel, ...)`` fills, within the page: its text is drawn as shapes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.6, height), layout="constrained")
    panel = figure.add_subplot()
    draw(panel, *what)
    panel.set_title(title, fontsize=11)
    panel.grid(alpha=0.25)
    file = io.BytesIO()
    figure.savefig(file, format="svg", dpi=200, metadata={"Date": None})
    content = base64.b64encode(file.getvalue()).decode()
    return f'<img alt="{escape(title)}" src="data:image/svg+xml;base64,{content}">'


def _draw_scores(panel, shown, place):
    for line, entry in enumerate(shown):
        score = entry["scores"][place]
        for name, shift, style in zip(("model", "additive"), (-0.12, 0.12), _STYLES, strict=True):
            mean, half = score[name].values()
            colour, marker, _ = style
            panel.errorbar(mean, line + shift, xerr=half or 0, fmt=marker, ms=5, color=colour)
    panel.set(xlabel=score["metric"], ylim=(len(shown) - 0.5, -0.5))
    names = [f"{e['setting']}  {e['test']}".replace(" and ", "\nand ") for e in shown]
    panel.set_yticks(range(len(shown)), names)


def _draw_points(panel, sets):
    y, predicted, _ = np.concatenate(sets, axis=1)
    some = np.random.default_rng(0).permutation(len(y))[:_MOST_POINTS]
    panel.plot(
        predicted[some], y[some], ".", ms=3, alpha=0.4, mew=0, color=_STYLES[0][0], rasterized=True
    )
    panel.axline((y.mean(), y.mean()), slope=1, color="0.4", lw=0.8)
    panel.set(xlabel="predicted", ylabel="measured")


def _draw_curves(panel, sets):
    """ROC curves, averaged at equal rates of false positives (Fawcett 2006)."""
    for place, (colour, _, line) in reversed([*enumerate(_STYLES, 1)]):
        curves = []
        for arrays in sets:
            wrong, right, _ = roc_curve(arrays[0] == arrays[0].max(), arrays[place])
            curves.append(np.interp(_RATES, wrong, right))
        panel.plot(_RATES, np.transpose(curves), line, lw=0.5, alpha=0.25, color=colour)
        panel.plot(_RATES, np.mean(curves, axis=0), line, lw=2, color=colour)
    panel.plot([0, 1], [0, 1], color="0.4", lw=0.8)
    panel.set(xlabel="false positive rate", ylabel="true positive rate", aspect="equal")
