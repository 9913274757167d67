"""Scores of predictions without a fit: anybody's of a published test set, and those of a run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from kronbench import datasets
from kronbench.datasets.drug_target import affinities
from kronbench.errors import InputError
from kronbench.evaluation import AFFINITY_SCORES, additive_scores, affinity_scores, mean_of_models
from kronbench.io import read_table
from kronbench.pairs import PairData
from kronbench.pairs.frames import real_numbers
from kronbench_suite.resources import paper_folder
from kronbench_suite.studies.field.measure.stored_best import best_of

_OF_PAIRS = ("rows", "cols", "labels", "positive")  # of the kept predictions of a run
_SHOWN = 5  # ids named in a message
_SIDES = {"rows": "row_ids", "cols": "col_ids"}


def score_file(path: str | Path, data: str, fold: str, *, partial: bool = False) -> dict:
    """Scores of a table of predictions on the test set of a published fold, ready for JSON.

    The table has the id of the row, the id of the column, and one column of predictions or more,
    of repeated trainings. With ``partial`` test pairs may be missing. Each of the ``scores`` has
    those of the ``columns``, their ``mean`` and ``deviation``, that of the ``margins`` (row and
    column effects, on the same pairs), and the ``best`` accepted one of ours, of the whole test
    set; ``printed`` is what articles print for this fold. What is not known is None.
    """
    loaded = datasets.load(data, policy="real")
    split = datasets.folds(data, fold, data=loaded)
    if "row_ids" not in loaded.arrays:
        raise InputError(
            f"{loaded.name} has no ids of its vertices: predictions cannot be matched"
        )
    # The test pairs that the table has, and the additive baseline on the same ones.
    positions, columns, matched = _match(path, loaded, split, partial)
    test = split.test[positions]
    y = affinities(loaded)[split.rows, split.cols]
    rows, cols = split.rows[test], split.cols[test]
    bare = [np.zeros((size, 1)) for size in loaded["values"].shape]
    pairs = PairData(bare[0], bare[1], split.rows, split.cols)
    floor = additive_scores(pairs[split.train], y[split.train], pairs[test])

    def scores(predictions):
        return affinity_scores(y[test], predictions, rows, cols, split.positive_above)

    # Each score of each column, of their mean, of the baseline, and of our best.
    each = {name: scores(values) for name, values in columns.items()}
    margins, best = scores(floor), best_of(loaded.name, fold)
    entries = []
    for metric, meaning in AFFINITY_SCORES.items():
        values = [entry[metric] for entry in each.values()]
        entries.append(
            {
                "metric": metric,
                "meaning": meaning,
                "columns": dict(zip(each, map(_number, values), strict=True)),
                "mean": _number(np.mean(values)),
                "deviation": _number(np.std(values, ddof=1)) if len(values) > 1 else None,
                "margins": _number(margins[metric]),
                "best": best["scores"].get(metric) if best else None,
            }
        )
    file = paper_folder("field").printed("deepdta.csv")
    articles = pd.read_csv(file, dtype=str, keep_default_na=False)
    folds = articles.pop("setting").str.replace("setting ", "deepdta-")
    articles = articles[(articles.pop("dataset") == loaded.name) & (folds == fold)]
    # What was scored: the file, the data, the fold, and how its pairs were matched.
    result = {"file": str(path), "data": loaded.name, "source": loaded.source, "fold": fold}
    result |= {"title": split.title, "setting": split.setting}
    result["files"] = {record.path: record.sha256 for record in (*loaded.files, *split.files)}
    result |= {"pairs": len(test), "test_pairs": len(split.test), **matched}
    # Its scores, beside our best and what articles print.
    ours = {key: best[key] for key in ("model", "chosen", "seconds")} if best else None
    result |= {"best": ours, "scores": entries, "printed": articles.to_dict("records")}
    return result | {"warning": next(_other_units(columns, y[split.train]), None)}


def score_kept(path: str | Path, means: Sequence[Sequence[str]] = ()) -> pd.DataFrame:
    """Scores of each method in a file of predictions: a row for each setting, means over splits.

    The file is ``results/<scale>/rivals/tables/table-1/<data set>.npz``. Each of ``means`` names
    methods, whose mean is scored as a further one: of scores with the mean 0 and the deviation 1,
    or of the predictions as they are where labels are numbers.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = dict(file)
    except (OSError, ValueError) as error:
        raise InputError(f"{path} is not a file of predictions: {error}") from None
    splits: dict[str, dict[str, np.ndarray]] = {}
    for name, array in arrays.items():
        place, _, method = name.rpartition("/")
        splits.setdefault(place, {})[method] = array
    if any(not set(_OF_PAIRS) <= split.keys() for split in splits.values()):
        raise InputError(f"{path} has no pairs: give a file of predictions from a run")
    rows = []
    for place, split in splits.items():
        pairs = {name: split.pop(name) for name in _OF_PAIRS}
        numbers = len(np.unique(pairs["labels"])) > 2
        for parts in means:
            if set(parts) <= set(split):
                split[" and ".join(parts)] = mean_of_models(
                    [split[part] for part in parts], standardized=not numbers
                )
        names = ["auc", "aupr", *["ci", "mse"] * numbers, "interaction"]
        for method, scores in split.items():
            of_pairs = pairs["labels"], scores, pairs["rows"], pairs["cols"]
            found = affinity_scores(*of_pairs, names=names, positive=pairs["positive"])
            rows.append({"setting": place.partition("/")[0], "method": method, **found})
    table = pd.DataFrame(rows)
    for parts in means:
        if " and ".join(parts) not in set(table["method"]):
            known = ", ".join(dict.fromkeys(table["method"]))
            raise InputError(f"--mean {','.join(parts)}: {path} has {known}")
    return table.groupby(["setting", "method"], sort=False).mean().reset_index()


def _other_units(columns, y):
    """A sentence on each column whose predictions lie beside all labels."""
    low, high, apart = y.min(), y.max(), y.std()
    for name, values in columns.items():
        if not low - apart <= (middle := np.median(values)) <= high + apart:
            yield (
                f"the median of the column '{name}' is {middle:.4g}, but the labels are from "
                f"{low:.4g} to {high:.4g}: give predictions in the unit of the labels"
            )


def _match(path, data, fold, partial):
    """Places in the test set, predictions there by column, and how a table was matched.

    That is: the names of its columns of ``ids``; by side the ids ``unknown`` to the data set, with
    their pairs; the pairs found ``by_alias``; those ``elsewhere``, known but not of the test set.
    """
    # Two columns of ids, and columns of finite numbers.
    frame = read_table(path, ids=2)
    if frame.shape[1] < 3:
        raise InputError(f"{path} has only ids: give a column of predictions")
    numbers = {}
    for name in frame.columns[2:]:
        numbers[str(name)] = values = real_numbers(frame[name])
        bad = np.flatnonzero(~np.isfinite(values))
        if bad.size:
            raise InputError(
                f"{path}, row {bad[0] + 1}: the prediction '{frame[name].iloc[bad[0]]}' in the "
                f"column '{name}' is not a finite number"
            )
    # The places of the ids in the data set, by its own spelling or another.
    places, unknown, by_alias, begins = [], {}, np.zeros(len(frame), bool), True
    for (side, key), column in zip(_SIDES.items(), frame.columns[:2], strict=True):
        ids, own = frame[column].astype(str), data[key].astype(str).tolist()
        known = datasets.aliases(data.name)[side] | {name: name for name in own}
        spelled = ids.map(known)
        begins = begins and str(column) in known
        by_alias |= spelled.notna() & (spelled != ids)
        unknown[side] = ids[spelled.isna()].value_counts().to_dict()
        places.append(pd.Index(own).get_indexer(spelled))
    # Pairs of known ids, each of them once.
    n_cols = data["values"].shape[1]
    lines = np.flatnonzero((places[0] >= 0) & (places[1] >= 0))
    cells = pd.Index(places[0][lines] * n_cols + places[1][lines])
    if not cells.is_unique:
        at = lines[cells.duplicated().argmax()]
        raise InputError(
            f"{path} has the pair '{frame.iloc[at, 0]}', '{frame.iloc[at, 1]}' twice: give each "
            "pair once, and repeated trainings as columns"
        )
    # The test pairs among them.
    places_in_table = cells.get_indexer(fold.rows[fold.test] * n_cols + fold.cols[fold.test])
    positions = np.flatnonzero(places_in_table >= 0)
    columns = [str(name) for name in frame.columns[:2]]
    _check_complete(path, columns, fold, len(positions), unknown, begins, partial)
    chosen = lines[places_in_table[positions]]
    matched = {
        "ids": columns,
        "unknown": unknown,
        "by_alias": int(by_alias[chosen].sum()),
        "elsewhere": len(lines) - len(positions),
    }
    return positions, {name: column[chosen] for name, column in numbers.items()}, matched


def _check_complete(path, columns, fold, n_found, unknown, begins_with_a_pair, partial):
    """InputError where test pairs are missing that should not, with what may be the reason."""
    n, strange = len(fold.test), "; ".join(["", *_strange(columns, unknown)])
    wanted = f"the {n} test pairs of {fold.dataset}, {fold.name}{strange}"
    if not n_found:
        raise InputError(
            f"{path} has none of {wanted}: its first column is the id of the row, its second that "
            "of the column"
        )
    if n_found < n and begins_with_a_pair:
        raise InputError(
            f"{path} begins with the pair '{columns[0]}', '{columns[1]}', but its first line "
            "must have the names of the columns: add it"
        )
    if n_found < n and not partial:
        raise InputError(
            f"{path} lacks {n - n_found} of {wanted}: give them, or --partial to score the others"
        )


def as_text(result: dict) -> str:
    """The table of a result of :func:`score_file`."""
    names = list(result["scores"][0]["columns"])
    lines = [
        f"{result['pairs']} of {result['test_pairs']} test pairs of {result['data']}, "
        f"{result['fold']}: {result['title']}"
    ]
    # How the pairs were matched, and what may be wrong.
    if result["by_alias"]:
        lines.append(f"{_count(result['by_alias'], 'pair')} with another known spelling of an id")
    lines += _strange(result["ids"], result["unknown"])
    if result["elsewhere"]:
        lines.append(f"left out, not in the test set: {_count(result['elsewhere'], 'pair')}")
    if result["warning"]:
        lines.append(f"warning: {result['warning']}")
    title = f"mean of {len(names)}" if len(names) > 1 else repr(names[0])[1:-1][:18]
    # The table of scores: ours to judge, the additive baseline, our best.
    lines += ["", f"{'score':<20}{title:<19}{'margins':<11}{'our best':<11}what it is"]
    for entry in result["scores"]:
        shown = _digits(entry["mean"])
        if entry["deviation"] is not None:
            shown += f" ± {_digits(entry['deviation'])}"
        lines.append(
            f"{entry['metric']:<20}{shown:<19}{_digits(entry['margins']):<11}"
            f"{_digits(entry['best']):<11}{entry['meaning']}"
        )
    lines += [
        "",
        f"Scores count only for a model trained on the training pairs of {result['fold']}.",
    ]
    if result["best"]:
        note = f"our best: KronRidgeCV, {result['best']['chosen']}"
        if result["pairs"] < result["test_pairs"]:
            note += "; for all test pairs, not only these"
        lines.append(note)
    # What articles print for this fold.
    if result["printed"]:
        lines += ["", f"{'printed in articles':<39}{'ci':<7}{'mse':<7}{'rm2':<7}chosen by; source"]
    for line in result["printed"]:
        numbers = "".join(f"{line[name] or '-':<7}" for name in ("ci", "mse", "rm2"))
        lines.append(f"{line['method']:<39}{numbers}{line['selection']}; {line['source']}")
    return "\n".join(lines)


def _strange(names, unknown):
    parts = []
    for column, ids in zip(names, unknown.values(), strict=True):
        if ids:
            some = ", ".join(f"{name!r:.60}" for name in list(ids)[:_SHOWN])
            dots = " ..." if len(ids) > _SHOWN else ""
            parts.append(
                f"{_count(len(ids), 'unknown id')} in the column '{column}' "
                f"({_count(sum(ids.values()), 'pair')}): {some}{dots}"
            )
    return parts


def _count(number, noun):
    return f"{number} {noun}{'s' * (number != 1)}"


def _number(value):
    return float(value) if np.isfinite(value) else None


def _digits(value):
    return "-" if value is None else f"{value:.4f}"
