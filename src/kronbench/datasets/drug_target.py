"""Drug-target data of Yamanishi (2008), Davis (2011), Metz (2011), and the KIBA scores (2014).

A loaded data set has m drugs and q targets:

- ``values`` (m, q) float64: interaction 0/1 (Yamanishi), Kd in nM (Davis), pKi with NaN where it
  is not known (Metz), KIBA scores likewise;
- ``labels`` (m, q) int8: +1, -1, or 0 where it is not known, by the registry's threshold;
- ``drug_similarity`` (m, m), ``target_similarity`` (q, q) float64, as published: neither always
  symmetric nor positive semidefinite; in percent for Metz, raw alignment scores of targets for
  Davis, which also has ``target_similarity_normalized`` (q, q) in percent and
  ``drug_similarity_ecfp4`` (m, m);
- ``row_ids`` (m,), ``col_ids`` (q,) text: of the real files of Davis and KIBA;
- ``row_texts`` (m,), ``col_texts`` (q,): SMILES and sequences, of the real files of KIBA.

Of some, publications store more: the curves of Viljanen, Airola & Pahikkala (2022) of Metz et al.,
and predictions of the pairs of Davis et al.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import numpy as np

from kronbench import linalg  # whose functions are imported when they are called
from kronbench.datasets.dataset import Arrays, Dataset
from kronbench.datasets.fetch import Files
from kronbench.datasets.generators import distinct
from kronbench.errors import InputError
from kronbench.pairs import PairData

DOMAIN_KERNELS = ("Gaussian", "Linear")
PAIRWISE_KERNELS = ("Linear", "Poly2D", "Kronecker", "Cartesian")
SETTINGS = ("Setting 1", "Setting 2", "Setting 3", "Setting 4")
_FOLD_HEAD = "FOLD :"
_AXES = {
    "Kernel (domain)": DOMAIN_KERNELS,
    "Kernel (pairwise)": PAIRWISE_KERNELS,
    "Setting": SETTINGS,
}
_SIDES = ("drugs", "targets")
MOLAR = {"nM": 1e-9}  # units of dissociation constants in mol/l


def labelled_pairs(
    dataset: Dataset, rng: np.random.Generator | None = None, fraction: float | None = None
) -> tuple[PairData, np.ndarray]:
    """The known pairs of a data set in row-major order, and labels +1 and -1, as Airola's papers.

    Rows are drugs, whose features are the rows of the similarity matrices as published. ``rng``
    draws round(``fraction`` m q) of all m q pairs; 2018, table 5 has 0.25. Data that are not
    complete (Ki, the checkerboards), and one's own pairs, keep all their known pairs.
    """
    if dataset.kind in ("pairs", "labelled pairs"):
        features = dataset["row_features"], dataset["col_features"]
        pairs = PairData(*features, dataset["rows"], dataset["cols"])
        return pairs, dataset["labels"].astype(float)
    if dataset.kind != "label matrix":
        raise InputError(f"{dataset.name} holds {dataset.kind}; give pairs or a label matrix")
    labels = dataset["labels"]
    # A part is drawn of complete matrices alone: the papers take all that is known of others.
    known = np.flatnonzero(labels)
    if len(known) == labels.size and fraction is not None and fraction != 1:
        if not 0 < fraction < 1:
            raise InputError(f"fraction is {fraction}: give a share above 0 and at most 1")
        if rng is None:
            raise InputError("rng is None: give a generator to draw a fraction of the pairs")
        known = distinct(round(fraction * labels.size), labels.size, rng)
    rows, cols = np.divmod(known, labels.shape[1])
    pairs = PairData(dataset["drug_similarity"], dataset["target_similarity"], rows, cols)
    return pairs, labels.ravel()[known].astype(float)


def kernels(dataset: Dataset) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Kernel matrices and labels for the experiments of Stock et al. (2016): targets are rows.

    K (q, q) of targets and G (m, m) of drugs are similarities symmetrized, negative eigenvalues
    set to zero, which the paper does not do (KK* and TS* of its table 6.1 keep them); of Davis et
    al. the normalized alignment score of targets, from percent to 0..1.
    Y (q, m) has interactions as N/N+ and -N/N- (N pairs, N+ of them interactions; section 6.1),
    affinities as pKd = -log10(Kd / 1 M). All must be known.
    """
    values = dataset["values"].T
    if np.isnan(values).any():
        raise InputError(f"{dataset.name} has unknown pairs; give complete data")
    if "unit" in dataset.options:
        Y = affinities(dataset).T
    else:
        positive = np.count_nonzero(values)
        Y = np.where(values == 1, values.size / positive, -values.size / (values.size - positive))
    if "target_similarity_normalized" in dataset.arrays:
        target_similarity = dataset["target_similarity_normalized"] / 100
    else:
        target_similarity = dataset["target_similarity"]
    return linalg.psd_part(target_similarity), linalg.psd_part(dataset["drug_similarity"]), Y


def affinities(dataset: Dataset) -> np.ndarray:
    """(m, q) pKd = -log10(Kd / 1 M), pKi or KIBA scores; NaN where a pair is not known."""
    values = dataset["values"]
    unit = dataset.options.get("unit")
    return values if unit is None else -np.log10(values * MOLAR[unit])


def similarities(dataset: Dataset) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Candidate kernels of the drugs and of the targets: positive semidefinite parts, by name.

    "drugs" and "targets" as registered; "drugs_ecfp4"; "targets_normalized" alignment scores, and
    "targets_cosine", the raw score over the roots of the scores with oneself.
    """
    arrays = dataset.arrays
    rows, cols = {"drugs": arrays["drug_similarity"]}, {"targets": arrays["target_similarity"]}
    if "drug_similarity_ecfp4" in arrays:
        rows["drugs_ecfp4"] = arrays["drug_similarity_ecfp4"]
    if "target_similarity_normalized" in arrays:
        length = np.sqrt(cols["targets"].diagonal())
        cols["targets_cosine"] = cols["targets"] / length[:, None] / length
        cols["targets_normalized"] = arrays["target_similarity_normalized"]
    return tuple({name: linalg.psd_part(S) for name, S in side.items()} for side in (rows, cols))


def unit_kernel(similarity: np.ndarray, squared: bool = False) -> np.ndarray:
    """The nearest positive semidefinite matrix to a similarity (m, m), or its entries' squares.

    The similarity is scaled to a mean diagonal of 1.
    """
    S = similarity / np.diag(similarity).mean()
    return linalg.psd_part(S * S if squared else S)


def label_matrix(
    values: np.ndarray,
    drug_similarity: np.ndarray,
    target_similarity: np.ndarray,
    at_least: float | None = None,
    at_most: float | None = None,
    above: float | None = None,
) -> Arrays:
    """The arrays of a data set, with labels +1 by the one threshold that is given."""
    if at_most is not None:
        positive = values <= at_most
    else:
        positive = values > above if at_least is None else values >= at_least
    labels = np.where(positive, 1, -1).astype(np.int8)
    labels[np.isnan(values)] = 0  # nobody measured it
    return {
        "values": values,
        "labels": labels,
        "drug_similarity": drug_similarity,
        "target_similarity": target_similarity,
    }


def parse_interactions(files: Files) -> Arrays:
    """Read a set of Yamanishi et al.: tab-separated tables with identifiers.

    ``files`` has "interactions" (targets x drugs, 0/1), "drugs" and "targets" (similarities), with
    the same identifiers.
    """
    table = _labelled_table(files["interactions"], lambda entry: np.isin(entry, (0, 1)), "0 or 1")
    similarities = {}
    for key, ids in (("drugs", table.columns), ("targets", table.index)):
        side = _labelled_table(files[key], np.isfinite, "a finite similarity")
        if not (list(side.index) == list(side.columns) == list(ids)):
            raise InputError(
                f"{files[key].name}: its rows and columns must have the identifiers of the {key} "
                f"in {files['interactions'].name}, in the same order"
            )
        similarities[key] = side.to_numpy()
    values = np.ascontiguousarray(table.to_numpy().T)
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
    the keys of a JSON object, whose values are then ``row_texts`` and ``col_texts``. One of
    ``at_least``, ``at_most``, ``above`` is the threshold of label +1. Dissociation constants have
    ``at_most``, and must be known and positive; else unknown values (``nan``) are allowed.
    ``unit`` is that of dissociation constants, for ``kernels``.
    """
    threshold = at_least, at_most, above
    if threshold.count(None) != 2:
        raise InputError(
            "options: give one of at_least, at_most and above, the threshold of label +1"
        )
    if unit is not None and unit not in MOLAR:
        raise InputError(f"options: unit is '{unit}'; known are: {', '.join(MOLAR)}")
    # Affinities are numbers, and dissociation constants are positive.
    values = _table(files["affinities"])
    if np.isinf(values).any() or (at_most is not None and not (values > 0).all()):
        expected = "numbers or nan" if at_most is None else "positive numbers"
        raise InputError(f"{files['affinities'].name} must have {expected}")
    # A similarity is square, over the drugs or over the targets.
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
    # Those that are not the default keep the name of their file behind that of their side.
    for key, similarity in similarities.items():
        side, _, other = key.partition("_")
        if other:
            arrays[f"{side.removesuffix('s')}_similarity_{other}"] = similarity
    # Ids are lines, or the keys of the dictionaries that DeepDTA publishes.
    for key, size in zip(("row_ids", "col_ids"), values.shape, strict=True):
        if key in files:
            text = files[key].text()
            texts = json.loads(text) if text.startswith("{") else {}
            ids = list(texts) or text.splitlines()
            if texts:
                arrays[key.replace("ids", "texts")] = np.array(list(texts.values()))
            if not len(ids) == len(set(ids)) == size:
                raise InputError(f"{files[key].name}: expected {size} different ids")
            arrays[key] = np.array([name.strip() for name in ids])
    return arrays


def parse_printed_curves(files: Files, *, above: float) -> Arrays:
    """Read affinities as ``parse_affinities`` does, and the printed AUC of each iteration.

    ``files`` also has "curves", a table with semicolons. The result also has ``printed_train``
    and ``printed_test`` (2, 4, 4, k), by domain kernel, pairwise kernel, setting and iteration.
    """
    import pandas as pd  # not for those that plan

    files = dict(files)
    curves = files.pop("curves")
    arrays = parse_affinities(files, above=above)
    with curves.open() as stream:
        table = pd.read_csv(stream, sep=";")
    length = int(table["Iteration"].max())
    # The file has its lines in an order of its own.
    wanted = pd.MultiIndex.from_product([*_AXES.values(), range(1, length + 1)])
    table = table.set_index([*_AXES, "Iteration"])
    for name in ("train", "test"):
        values = table.loc[wanted, f"{name.title()} AUC"].to_numpy(float)
        arrays[f"printed_{name}"] = values.reshape(*map(len, _AXES.values()), length)
    return arrays


def parse_printed_predictions(
    files: Files, *, col_aliases: Mapping[str, str], **options: object
) -> Arrays:
    """Read affinities with ids as ``parse_affinities`` does, and predictions of the same pairs.

    ``files`` also has "predictions": blocks that begin with "FOLD : k", then lines of row id,
    column id, affinity and prediction with tabs between them; ``col_aliases`` maps other spellings
    of column ids to those of the data set. The result also has ``predictions`` (k, t) in the order
    of each block, with the vertices of its pairs in ``predicted_rows`` and ``predicted_cols``, and
    ``spelled_otherwise`` where the column is found by its alias.
    """
    files = dict(files)
    predictions = files.pop("predictions")
    arrays = parse_affinities(files, **options)
    rows = {name: place for place, name in enumerate(arrays["row_ids"])}
    cols = {name: place for place, name in enumerate(arrays["col_ids"])}
    blocks = []
    for line in predictions.text().splitlines():
        if line.startswith(_FOLD_HEAD):
            blocks.append([])
            continue
        row, name, _, value = line.split("\t")
        col = col_aliases.get(name, name)
        blocks[-1].append((rows[row], cols[col], name != col, float(value)))
    by_column = [list(zip(*lines, strict=True)) for lines in blocks]
    names = ("predicted_rows", "predicted_cols", "spelled_otherwise", "predictions")
    for name, column in zip(names, zip(*by_column, strict=True), strict=True):
        arrays[name] = np.array(column)
    return arrays


def _labelled_table(file, is_allowed, expected):
    """A table of numbers with identifiers; InputError names the first entry that is not allowed.

    A cell that is empty or missing is read as NaN, which no table may have.
    """
    import pandas as pd  # not for those that plan

    with file.open() as stream:
        table = pd.read_csv(stream, sep="\t", index_col=0, dtype=str).astype(np.float64)
    for row, col in np.argwhere(~is_allowed(table.to_numpy()))[:1]:
        raise InputError(
            f"{file.name}, row '{table.index[row]}', column '{table.columns[col]}': "
            f"{table.iat[row, col]:g} is not allowed, expected {expected}"
        )
    return table


def _table(file):
    with file.open() as stream:
        return np.loadtxt(stream, ndmin=2)
