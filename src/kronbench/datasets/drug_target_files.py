"""The files of Yamanishi et al. (2008), Davis et al. (2011) and Metz et al. (2011)."""

from __future__ import annotations

import json
from collections.abc import Mapping

import numpy as np

from kronbench.datasets.drug_target import MOLAR, is_positive, label_matrix
from kronbench.datasets.fetch import LocalFile
from kronbench.datasets.plain_text import excerpt, numbers, text_lines
from kronbench.errors import InputError

_SIDES = ("drugs", "targets")


def parse_interactions(files: Mapping[str, LocalFile]) -> dict[str, np.ndarray]:
    """Read a set of Yamanishi et al.: tab-separated tables with identifiers.

    ``files`` has "interactions" (targets x drugs, 0/1), "drugs" and "targets" (similarities), with
    the same identifiers.
    """
    table, targets, drugs = _labelled_table(files["interactions"])
    _check_entries(files["interactions"], table, (table == 0) | (table == 1), "0 or 1", header=1)
    similarities = {}
    for key, identifiers in (("drugs", drugs), ("targets", targets)):
        similarity, rows, cols = _labelled_table(files[key])
        for side, found in (("row", rows), ("column", cols)):
            _check_identifiers(files, key, side, found, identifiers)
        _check_finite(files[key], similarity, header=1)
        similarities[key] = similarity
    values = np.ascontiguousarray(table.T)
    return label_matrix(values, values == 1, similarities["drugs"], similarities["targets"])


def parse_affinities(
    files: Mapping[str, LocalFile],
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    above: float | None = None,
    unit: str | None = None,
) -> dict[str, np.ndarray]:
    """Read affinities (Davis et al., Metz et al.): tables of numbers, drugs are rows.

    ``files`` has "affinities" (m, q), "drugs" (m, m), "targets" (q, q); where there are others
    "drugs_<other>" and "targets_<other>", which become ``drug_similarity_<other>`` and
    ``target_similarity_<other>``; and where ids are known "row_ids" and "col_ids": a line each, or
    the keys of a JSON object. One of ``at_least``, ``at_most``, ``above`` is the threshold of
    label +1. Dissociation constants have ``at_most``, and must be known and positive; else unknown
    values (``nan``) are allowed. ``unit`` is that of dissociation constants, for ``kernels``.
    """
    if [at_least, at_most, above].count(None) != 2:
        raise InputError(
            "options: give one of at_least, at_most and above, the threshold of label +1"
        )
    if unit is not None and unit not in MOLAR:
        raise InputError(f"options: unit is '{unit}'; known are: {', '.join(MOLAR)}")
    values = _table(files["affinities"])
    if at_most is None:
        allowed, expected = ~np.isinf(values), "a number or nan"
    else:
        allowed, expected = (values > 0) & np.isfinite(values), "a positive number"
    _check_entries(files["affinities"], values, allowed, expected)
    positive = is_positive(values, at_least, at_most, above)
    similarities = {key: _table(files[key]) for key in files if key.startswith(_SIDES)}
    for key, similarity in similarities.items():
        size = values.shape[0 if key.startswith("drugs") else 1]
        if similarity.shape != (size, size):
            raise InputError(
                f"{files[key].name} is {similarity.shape[0]} x {similarity.shape[1]}; "
                f"{files['affinities'].name} needs {size} x {size}"
            )
        _check_finite(files[key], similarity)
    arrays = label_matrix(values, positive, similarities["drugs"], similarities["targets"])
    for key, similarity in similarities.items():
        side, _, other = key.partition("_")
        if other:
            arrays[f"{side.removesuffix('s')}_similarity_{other}"] = similarity
    for key, size in zip(("row_ids", "col_ids"), values.shape, strict=True):
        if key in files:
            arrays[key] = _ids(files[key], size)
    return arrays


def _ids(file, size):
    lines = text_lines(file, "utf-8")
    if lines and lines[0].startswith("{"):
        try:
            lines = list(json.loads("\n".join(lines)))
        except ValueError as error:
            raise InputError(f"{file.name} is not JSON: {error}") from None
    lines = [line.strip() for line in lines]
    if len(lines) != size or len(set(lines)) != size or "" in lines:
        raise InputError(
            f"{file.name} has {len(set(lines) - {''})} different ids in {len(lines)} entries: "
            f"expected {size}"
        )
    return np.array(lines)


def _labelled_table(file):
    """Numbers, row identifiers and column identifiers of a table with both."""
    header, *lines = _lines(file, "\t")
    return _numbers(file, lines, len(header), 1), [line[0] for line in lines], header[1:]


def _table(file):
    lines = _lines(file, None)
    return _numbers(file, lines, len(lines[0]), 0)


def _lines(file, delimiter):
    lines = text_lines(file, "ascii" if delimiter is None else "utf-8")
    if len(lines) < (1 if delimiter is None else 2):
        raise InputError(f"{file.name} is empty: a table of numbers was expected")
    return [line.split(delimiter) for line in lines]


def _numbers(file, lines, n_columns, first):
    """The numbers of a table whose first ``first`` lines and columns are identifiers.

    Tried: numpy's reader passes over blank lines, pandas' fills short ones with NaN, which means
    "not known" here.
    """
    table = np.empty((len(lines), n_columns - first))
    for position, line in enumerate(lines):
        place = f"{file.name}, line {position + first + 1}"
        if len(line) != n_columns:
            raise InputError(f"{place}: {len(line)} columns, expected {n_columns}")
        table[position] = numbers(place, line, range(first, n_columns))
    return table


def _check_entries(file, table, allowed, expected, header=0):
    if not allowed.all():
        row, col = np.argwhere(~allowed)[0]
        raise InputError(
            f"{file.name}, line {row + header + 1}, column {col + header + 1}: "
            f"{table[row, col]:g} is not allowed, expected {expected}"
        )


def _check_finite(file, similarity, header=0):
    _check_entries(file, similarity, np.isfinite(similarity), "a finite similarity", header)


def _check_identifiers(files, key, side, found, identifiers):
    name, reference = files[key].name, files["interactions"].name
    if len(found) != len(identifiers):
        raise InputError(
            f"{name} has {len(found)} {side}s; {reference} has {len(identifiers)} {key}"
        )
    for position, (here, there) in enumerate(zip(found, identifiers, strict=True)):
        if here != there:
            raise InputError(
                f"{name}, {side} {position + 1} is {excerpt(here)} where {reference} has "
                f"{excerpt(there)}: the identifiers must be equal and in the same order"
            )
