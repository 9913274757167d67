"""The files of Yamanishi et al. (2008), Davis et al. (2011) and Metz et al. (2011)."""

from __future__ import annotations

import json

import numpy as np

from kronbench.datasets.dataset import Arrays
from kronbench.datasets.drug_target import MOLAR, label_matrix
from kronbench.datasets.fetch import Files
from kronbench.errors import InputError

_SIDES = ("drugs", "targets")


def parse_interactions(files: Files) -> Arrays:
    """Read a set of Yamanishi et al.: tab-separated tables with identifiers.

    ``files`` has "interactions" (targets x drugs, 0/1), "drugs" and "targets" (similarities), with
    the same identifiers.
    """
    table, targets, drugs = _labelled_table(files["interactions"])
    _check_entries(files["interactions"], table, (table == 0) | (table == 1), "0 or 1")
    similarities = {}
    for key, identifiers in (("drugs", drugs), ("targets", targets)):
        similarity, rows, cols = _labelled_table(files[key])
        if not rows == cols == identifiers:
            raise InputError(
                f"{files[key].name}: its rows and columns must have the identifiers of the {key} "
                f"in {files['interactions'].name}, in the same order"
            )
        _check_entries(files[key], similarity, np.isfinite(similarity), "a finite similarity")
        similarities[key] = similarity
    values = np.ascontiguousarray(table.T)
    return label_matrix(values, similarities["drugs"], similarities["targets"], at_least=1)


def parse_affinities(
    files: Files,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    above: float | None = None,
    unit: str | None = None,
) -> Arrays:
    """Read affinities (Davis et al., Metz et al.): tables of numbers, drugs are rows.

    ``files`` has "affinities" (m, q), "drugs" (m, m), "targets" (q, q); where there are others
    "drugs_<other>" and "targets_<other>", which become ``drug_similarity_<other>`` and
    ``target_similarity_<other>``; and where ids are known "row_ids" and "col_ids": a line each, or
    the keys of a JSON object. One of ``at_least``, ``at_most``, ``above`` is the threshold of
    label +1. Dissociation constants have ``at_most``, and must be known and positive; else unknown
    values (``nan``) are allowed. ``unit`` is that of dissociation constants, for ``kernels``.
    """
    threshold = at_least, at_most, above
    if threshold.count(None) != 2:
        raise InputError(
            "options: give one of at_least, at_most and above, the threshold of label +1"
        )
    if unit is not None and unit not in MOLAR:
        raise InputError(f"options: unit is '{unit}'; known are: {', '.join(MOLAR)}")
    values = _table(files["affinities"])
    if np.isinf(values).any() or (at_most is not None and not (values > 0).all()):
        expected = "numbers or nan" if at_most is None else "positive numbers"
        raise InputError(f"{files['affinities'].name} must have {expected}")
    similarities = {key: _table(files[key]) for key in files if key.startswith(_SIDES)}
    for key, similarity in similarities.items():
        size = values.shape[0 if key.startswith("drugs") else 1]
        if similarity.shape != (size, size):
            raise InputError(
                f"{files[key].name} is {similarity.shape[0]} x {similarity.shape[1]}; "
                f"{files['affinities'].name} needs {size} x {size}"
            )
        if not np.isfinite(similarity).all():
            raise InputError(f"{files[key].name} has a similarity that is not finite")
    arrays = label_matrix(values, similarities["drugs"], similarities["targets"], *threshold)
    for key, similarity in similarities.items():
        side, _, other = key.partition("_")
        if other:
            arrays[f"{side.removesuffix('s')}_similarity_{other}"] = similarity
    for key, size in zip(("row_ids", "col_ids"), values.shape, strict=True):
        if key in files:
            text = files[key].text()
            ids = list(json.loads(text)) if text.startswith("{") else text.splitlines()
            if not len(ids) == len(set(ids)) == size:
                raise InputError(f"{files[key].name}: expected {size} different ids")
            arrays[key] = np.array([name.strip() for name in ids])
    return arrays


def _labelled_table(file):
    """Numbers, row identifiers and column identifiers of a table with both."""
    header, *lines = [line.split("\t") for line in file.text().splitlines()] or [[""]]
    table = np.empty((len(lines), len(header) - 1))
    for number, line in enumerate(lines):
        if len(line) != len(header):
            raise InputError(
                f"{file.name}, line {number + 2}: {len(line)} columns, expected {len(header)}"
            )
        try:
            table[number] = line[1:]
        except ValueError as error:
            raise InputError(f"{file.name}, line {number + 2}: {error}") from None
    return table, [line[0] for line in lines], header[1:]


def _table(file):
    with file.open() as stream:
        return np.loadtxt(stream, ndmin=2)


def _check_entries(file, table, allowed, expected):
    """InputError at the first entry of a table with identifiers that is not allowed."""
    if not allowed.all():
        row, col = np.argwhere(~allowed)[0]
        raise InputError(
            f"{file.name}, line {row + 2}, column {col + 2}: {table[row, col]:g} is not allowed, "
            f"expected {expected}"
        )
