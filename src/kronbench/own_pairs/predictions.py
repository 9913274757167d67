"""Anybody's predictions of a published test set: every score, beside the floor and our best."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kronbench import datasets
from kronbench.datasets.drug_target import affinities
from kronbench.errors import InputError
from kronbench.io import read_table
from kronbench.pairs import PairData
from kronbench.resources import printed_path
from kronbench.runner.field_best import best_of

_SHOWN = 5  # ids named in a message


@dataclass(frozen=True)
class Matched:
    """Predictions of the test pairs that a table has.

    Attributes
    ----------
    positions : (k,) integer array
        Places in the test set, in its order.
    columns : dict of (k,) arrays
        Predictions of each column, of each training of a model.
    ids : list of str
        The names of the two columns with ids.
    unknown : dict
        By side ("rows", "cols") the ids that the data set does not have, with their pairs.
    by_alias : int
        Pairs found by another spelling of an id.
    elsewhere : int
        Pairs of known vertices that are not of the test set.
    """

    positions: np.ndarray
    columns: dict[str, np.ndarray]
    ids: list[str]
    unknown: dict[str, dict[str, int]]
    by_alias: int
    elsewhere: int


def score_file(
    path: str | Path, data: str, fold: str, *, partial: bool = False, policy: str = "real"
) -> dict:
    """Scores of a table of predictions on the test set of a published fold.

    Parameters
    ----------
    path : str or Path
        A table with the id of the row, the id of the column, and one column of predictions or
        more, of repeated trainings.
    data, fold : str
        As in the registry.
    partial : bool
        Score the pairs that are there where others are missing.
    policy : as for :func:`kronbench.datasets.load`

    Returns
    -------
    dict
        Ready for JSON, None for what is not known: the data, the fold, how many pairs matched,
        and ``scores``, a list with ``metric``, ``meaning``, ``columns`` (of each), ``mean``,
        ``deviation`` (between columns), ``margins`` (row and column effects, on the same pairs),
        ``best`` (the accepted one of ours, of the whole test set); ``printed``, what articles
        print for this fold, as in ``papers/field/printed/deepdta.csv``; and ``warning``, a
        sentence where predictions seem to be in another unit than the labels.

    Raises
    ------
    InputError
        The data or the fold are unknown or not at hand; the table is damaged, has a pair twice, a
        prediction that is no number, no pair of the test set, or (unless ``partial``) not all.
    """
    loaded = datasets.load(data, policy=policy)
    split = datasets.folds(data, fold, policy=policy, data=loaded)
    if "row_ids" not in loaded.arrays:
        raise InputError(
            f"{loaded.name} has no ids of its vertices: predictions cannot be matched"
        )
    found = match(path, loaded, split, partial)
    # here, for it imports scikit-learn and numba
    from kronbench.evaluation import AFFINITY_SCORES, affinity_scores, margin_scores

    test = split.test[found.positions]
    y = affinities(loaded)[split.rows, split.cols]
    rows, cols = split.rows[test], split.cols[test]
    features = [np.zeros((size, 1)) for size in loaded["values"].shape]
    pairs = PairData(*features, split.rows, split.cols)
    floor = margin_scores(pairs[split.train], y[split.train], pairs[test])

    def scores(predictions):
        return affinity_scores(y[test], predictions, rows, cols, split.positive_above)

    each = {name: scores(values) for name, values in found.columns.items()}
    margins, best = scores(floor), best_of(loaded.name, fold)
    entries = []
    for metric, meaning in AFFINITY_SCORES.items():
        values = [entry[metric] for entry in each.values()]
        entries.append(
            {
                "metric": metric,
                "meaning": meaning,
                "columns": {name: _number(entry[metric]) for name, entry in each.items()},
                "mean": _number(np.mean(values)),
                "deviation": _number(np.std(values, ddof=1)) if len(values) > 1 else None,
                "margins": _number(margins[metric]),
                "best": best["scores"].get(metric) if best else None,
            }
        )
    return {
        "file": str(path),
        "data": loaded.name,
        "source": loaded.source,
        "fold": fold,
        "title": split.title,
        "setting": split.setting,
        "files": {record.path: record.sha256 for record in (*loaded.files, *split.files)},
        "pairs": len(test),
        "test_pairs": len(split.test),
        "ids": found.ids,
        "unknown": found.unknown,
        "by_alias": found.by_alias,
        "elsewhere": found.elsewhere,
        "best": {key: best[key] for key in ("model", "chosen", "seconds")} if best else None,
        "scores": entries,
        "printed": printed(loaded.name, fold),
        "warning": _other_unit(found.columns, y[split.train]),
    }


def printed(data: str, fold: str) -> list[dict[str, str]]:
    """Scores that articles print for a fold of DeepDTA: ``method``, ``ci``, ``mse`` ...

    Texts, "" where an article has none; ``selection`` is how the model was chosen, ``source`` the
    citation.
    """
    with printed_path("field", "deepdta.csv").open(encoding="utf-8") as file:
        return [
            line
            for line in csv.DictReader(file)
            if (line.pop("dataset"), line.pop("setting").replace("setting ", "deepdta-"))
            == (data, fold)
        ]


def _other_unit(columns, y):
    """A sentence on the first column whose predictions lie beside all labels, or None."""
    low, high, apart = y.min(), y.max(), y.std()
    for name, values in columns.items():
        if not low - apart <= (middle := np.median(values)) <= high + apart:
            return (
                f"the median of the column '{name}' is {middle:.4g}, and the labels are from "
                f"{low:.4g} to {high:.4g}: give predictions in the unit of the labels"
            )
    return None


def match(
    path: str | Path,
    data: datasets.Dataset,
    fold: datasets.PublishedFold,
    partial: bool = False,
) -> Matched:
    """The predictions of a table in the order of the test set; errors as of `score_file`."""
    frame = read_table(path, ids=2)
    if frame.shape[1] < 3:
        raise InputError(f"{path} has ids and nothing else: give a column of predictions")
    numbers = _numbers(path, frame)
    aliases = datasets.aliases(data.name)
    sides, unknown, other = [], {}, np.zeros(len(frame), bool)
    for side, key, column in zip(
        ("rows", "cols"), ("row_ids", "col_ids"), frame.columns[:2], strict=True
    ):
        place = {str(name): at for at, name in enumerate(data[key])}
        spelled = {name: place[own] for name, own in aliases[side].items()}
        ids = frame[column].astype(str)
        at = ids.map(place)
        other |= (at.isna() & ids.isin(spelled.keys())).to_numpy()
        at = at.fillna(ids.map(spelled))
        counts = ids[at.isna()].value_counts()
        unknown[side] = {str(name): int(count) for name, count in counts.items()}
        sides.append(at.fillna(-1).to_numpy().astype(np.int64))
    known = (sides[0] >= 0) & (sides[1] >= 0)
    number = np.where(known, sides[0] * data["values"].shape[1] + sides[1], -1)
    values, counts = np.unique(number[known], return_counts=True)
    if (counts > 1).any():
        at = np.flatnonzero(number == values[counts > 1][0])[1]
        raise InputError(
            f"{path} has the pair '{frame.iloc[at, 0]}', '{frame.iloc[at, 1]}' twice: give each "
            "pair once, and repeated trainings as columns"
        )
    tested = fold.rows[fold.test] * data["values"].shape[1] + fold.cols[fold.test]
    line = {value: at for at, value in enumerate(number) if value >= 0}
    lines = np.array([line.get(value, -1) for value in tested])
    positions = np.flatnonzero(lines >= 0)
    strange = "; ".join(["", *_strange(frame.columns, unknown)])
    if not len(positions):
        raise InputError(
            f"{path} has none of the {len(tested)} test pairs of {data.name}, "
            f"{fold.name}{strange}: its first column is the id of the row, its second that of "
            "the column"
        )
    missing = len(tested) - len(positions)
    # the first line names columns; ids of the data set in it are a pair that was taken for names
    if missing and all(
        str(name) in {*map(str, data[key]), *aliases[side]}
        for name, side, key in zip(
            frame.columns[:2], ("rows", "cols"), ("row_ids", "col_ids"), strict=True
        )
    ):
        raise InputError(
            f"{path} begins with the pair '{frame.columns[0]}', '{frame.columns[1]}', where a "
            "line with the names of the columns has to stand: put one above it"
        )
    if missing and not partial:
        raise InputError(
            f"{path} lacks {missing} of the {len(tested)} test pairs of {data.name}, "
            f"{fold.name}{strange}: give them, or --partial to score the others"
        )
    chosen = lines[positions]
    return Matched(
        positions,
        {name: column[chosen] for name, column in numbers.items()},
        [str(name) for name in frame.columns[:2]],
        unknown,
        int(other[chosen].sum()),
        int(known.sum() - len(positions)),
    )


def as_text(result: dict) -> str:
    """The table of a result of :func:`score_file`."""
    names = list(result["scores"][0]["columns"])
    several = len(names) > 1
    lines = [
        f"{result['pairs']} of {result['test_pairs']} test pairs of {result['data']}, "
        f"{result['fold']}: {result['title']}"
    ]
    if result["by_alias"]:
        lines.append(
            f"{_count(result['by_alias'], 'pair')} by another registered spelling of an id"
        )
    lines += _strange(result["ids"], result["unknown"])
    if result["elsewhere"]:
        lines.append(f"left out, as not of the test set: {_count(result['elsewhere'], 'pair')}")
    if result["warning"]:
        lines.append(f"warning: {result['warning']}")
    title = f"mean of {len(names)}" if several else repr(names[0])[1:-1][:18]
    lines += ["", f"{'score':<20}{title:<19}{'margins':<11}{'our best':<11}what it is"]
    for entry in result["scores"]:
        shown = _digits(entry["mean"])
        if entry["deviation"] is not None:
            shown += f" ± {_digits(entry['deviation'])}"
        lines.append(
            f"{entry['metric']:<20}{shown:<19}{_digits(entry['margins']):<11}"
            f"{_digits(entry['best']):<11}{entry['meaning']}"
        )
    if result["best"]:
        note = f"our best: KronRidgeCV, {result['best']['chosen']}"
        if result["pairs"] < result["test_pairs"]:
            note += "; of all test pairs, not of these alone"
        lines += ["", note]
    if result["printed"]:
        lines += ["", f"{'printed in articles':<39}{'ci':<7}{'mse':<7}{'rm2':<7}chosen by; source"]
    for line in result["printed"]:
        numbers = "".join(f"{line[name] or '-':<7}" for name in ("ci", "mse", "rm2"))
        lines.append(f"{line['method']:<39}{numbers}{line['selection']}; {line['source']}")
    return "\n".join(lines)


def _numbers(path, frame):
    from kronbench.pairs.frames import real_numbers  # which imports pandas

    numbers = {}
    for name in frame.columns[2:]:
        values = real_numbers(frame[name])
        bad = np.flatnonzero(~np.isfinite(values))
        if bad.size:
            raise InputError(
                f"{path}, row {bad[0] + 1}: the prediction '{frame[name].iloc[bad[0]]}' in the "
                f"column '{name}' is no finite number"
            )
        numbers[str(name)] = values
    return numbers


def _strange(names, unknown):
    """For each side the ids that are not known, named and counted."""
    parts = []
    for column, ids in zip(names, unknown.values(), strict=False):
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
