import itertools
import re

import numpy as np
import pytest

from kronbench import InputError, datasets
from kronbench.datasets import Dataset
from kronbench.datasets.drug_target import (
    DOMAIN_KERNELS,
    PAIRWISE_KERNELS,
    SETTINGS,
    kernels,
    labelled_pairs,
    parse_affinities,
    parse_interactions,
    parse_printed_curves,
    parse_printed_predictions,
)
from tests.helpers import in_memory

# drugs and targets; pairs that are known, and those with a positive label
PUBLISHED = {
    "NR": (54, 26, 1404, 90),
    "GPCR": (223, 95, 21_185, 635),
    "IC": (210, 204, 42_840, 1476),
    "E": (445, 664, 295_480, 2926),
    "Davis": (68, 442, 30_056, 1527),
    "Ki": (1421, 156, 93_356, 3200),
}
NAMES = tuple(PUBLISHED)
# pairs in a draw of a quarter, as in Airola's table 5; of a matrix with gaps all that are known
DRAWN = {"NR": 351, "GPCR": 5296, "IC": 10_710, "E": 73_870, "Davis": 7514, "Ki": 93_356}


@pytest.fixture(scope="module")
def surrogates():
    return {name: datasets.load(name, policy="surrogate") for name in NAMES}


# --- the published sizes ----------------------------------------------------------------------


@pytest.mark.parametrize("source", ["mirror", "surrogate"])
@pytest.mark.parametrize("name", NAMES)
def test_data_and_surrogates_have_the_published_counts(real, surrogates, name, source):
    data = real(name) if source == "mirror" else surrogates[name]
    assert data.source == source
    labels = data["labels"]
    assert labels.shape == data["values"].shape
    assert (*labels.shape, (labels != 0).sum(), (labels == 1).sum()) == PUBLISHED[name]
    assert (labels != 0).any(axis=0).all()
    assert (labels != 0).any(axis=1).all()


# --- views ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_pairs_carry_the_labels_of_their_cell(surrogates, name):
    data = surrogates[name]
    pairs, y = labelled_pairs(data, rng=np.random.default_rng(3), fraction=0.25)
    np.testing.assert_array_equal(y, data["labels"][pairs.rows, pairs.cols])
    assert pairs.row_features is data["drug_similarity"]
    assert pairs.col_features is data["target_similarity"]
    flat = pairs.rows * pairs.n_cols + pairs.cols
    assert (np.diff(flat) > 0).all()
    assert len(pairs) == DRAWN[name]
    again, _ = labelled_pairs(data, rng=np.random.default_rng(3), fraction=0.25)
    np.testing.assert_array_equal(pairs.rows, again.rows)


def small(drug_similarity):
    values = np.array([[1.0, 0], [0, 0], [0, 1], [0, 0]])
    return Dataset(
        name="Small",
        source="generated",
        kind="label matrix",
        arrays={
            "values": values,
            "drug_similarity": drug_similarity,
            "target_similarity": np.eye(2),
        },
    )


def test_kernels_are_the_nearest_positive_semidefinite_ones(rng):
    """Projection: P - S has no negative eigenvalue, and P (P - S) = 0."""
    S = rng.normal(size=(4, 4))
    K, G, Y = kernels(small(S))
    S = (S + S.T) / 2
    assert np.linalg.eigvalsh(S)[0] < -0.1
    np.testing.assert_allclose(G, G.T, atol=1e-14)
    assert np.linalg.eigvalsh(G)[0] > -1e-13
    assert np.linalg.eigvalsh(G - S)[0] > -1e-13
    np.testing.assert_allclose(G @ (G - S), 0, atol=1e-13)
    np.testing.assert_array_equal(K, np.eye(2))
    assert Y.shape == (2, 4)


def test_kernel_labels_are_those_of_fisher_discriminant_analysis():
    _, _, Y = kernels(small(np.eye(4)))
    expected = np.full((2, 4), -8 / 6)
    expected[0, 0] = expected[1, 2] = 8 / 2
    np.testing.assert_allclose(Y, expected, rtol=1e-15)


def test_kernels_of_affinities(surrogates):
    data = surrogates["Davis"]
    K, G, Y = kernels(data)
    assert (K.shape, G.shape, Y.shape) == ((442, 442), (68, 68), (442, 68))
    np.testing.assert_allclose(10.0 ** (9 - Y.T), data["values"], rtol=1e-12)
    normalized = data["target_similarity_normalized"] / 100  # positive semidefinite as drawn
    np.testing.assert_allclose(K, normalized, atol=1e-12)


def test_kernels_need_complete_data(surrogates):
    with pytest.raises(InputError, match="Ki has unknown pairs"):
        kernels(surrogates["Ki"])


# --- bad input --------------------------------------------------------------------------------

YAMANISHI_FILES = {
    "interactions": "\tD1\tD2\tD3\nT1\t1\t0\t0\nT2\t0\t1\t1\n",
    "drugs": "\tD1\tD2\tD3\nD1\t1\t.5\t0\nD2\t.4\t1\t0\nD3\t0\t0\t1\n",
    "targets": "\tT1\tT2\nT1\t1\t.2\nT2\t.2\t1\n",
}
METZ_FILES = {
    "affinities": "7.6 nan\n7.5 8.0\n4 10.3 \n",
    "drugs": "100 50 20\n50 100 30\n20 30 100\n",
    "targets": "100 40\n40 100\n",
}


def test_small_files_are_read_as_they_stand():
    arrays = parse_interactions(in_memory(**YAMANISHI_FILES))
    np.testing.assert_array_equal(arrays["values"], [[1, 0], [0, 1], [0, 1]])
    np.testing.assert_array_equal(arrays["labels"], [[1, -1], [-1, 1], [-1, 1]])
    np.testing.assert_array_equal(arrays["drug_similarity"][:2], [[1, 0.5, 0], [0.4, 1, 0]])
    arrays = parse_affinities(in_memory(**METZ_FILES), at_least=7.6)
    np.testing.assert_array_equal(arrays["labels"], [[1, 0], [-1, 1], [-1, 1]])
    kd = METZ_FILES | {"affinities": "30 31\n0.1 1e4\n1 1\n", "targets_normalized": "9 8\n7 6"}
    arrays = parse_affinities(in_memory(**kd), at_most=30.0, unit="nM")
    np.testing.assert_array_equal(arrays["labels"], [[1, -1], [1, -1], [1, 1]])
    np.testing.assert_array_equal(arrays["target_similarity_normalized"], [[9, 8], [7, 6]])


@pytest.mark.parametrize(
    ("key", "old", "new", "message"),
    [
        ("interactions", "T1\t1\t0\t0", "T1\t1\t0", "row 'T1', column 'D3': nan is not allowed"),
        ("interactions", "T2\t0\t1\t1", "T2\t0\t2\t1", "row 'T2', column 'D2': 2 is not allowed"),
        ("drugs", "\t.5", "\tnan", "'D1', column 'D2': nan is not allowed, expected a finite"),
        ("drugs", "\t.5", "\t", "row 'D1', column 'D2': nan is not allowed"),
        ("drugs", "D2\tD3\n", "D3\tD2\n", "identifiers of the drugs in interactions.txt"),
        ("targets", "T2\t.2\t1\n", "", "identifiers of the targets in interactions.txt"),
    ],
)
def test_bad_interaction_files_are_one_sentence(key, old, new, message):
    assert old in YAMANISHI_FILES[key]
    files = YAMANISHI_FILES | {key: YAMANISHI_FILES[key].replace(old, new, 1)}
    with pytest.raises(InputError, match=rf"{key}\.txt.*{re.escape(message)}"):
        parse_interactions(in_memory(**files))


@pytest.mark.parametrize(
    ("key", "text", "options", "message"),
    [
        ("affinities", "1 2\n3 inf\n4 5\n", {}, "affinities.txt must have numbers or nan"),
        ("affinities", "1 2\n3 0\n4 5\n", {"at_most": 30}, "must have positive numbers"),
        ("drugs", "1 2\n2 1\n", {}, "drugs.txt is 2 x 2; affinities.txt needs 3 x 3"),
        ("targets", "1 nan\n2 1\n", {}, "targets.txt has a similarity that is not finite"),
        ("targets", "1 2\n2 1\n", {"at_least": None}, "give one of at_least, at_most and above"),
        ("targets", "1 2\n2 1\n", {"unit": "mg"}, "unit is 'mg'; known are: nM"),
    ],
)
def test_bad_affinity_files_are_one_sentence(key, text, options, message):
    files = in_memory(**METZ_FILES | {key: text})
    if "at_most" not in options:
        options = {"at_least": 7.6} | options
    with pytest.raises(InputError, match=message):
        parse_affinities(files, **options)


# --- with numbers that others print --------------------------------------------------------------

TWO_BY_TWO = {"drugs": "1 0\n0 1\n", "targets": "1 0\n0 1\n"}


def test_curves_have_their_places_and_a_label_at_the_threshold_is_none():
    lines = ["Kernel (domain);Kernel (pairwise);Setting;Iteration;Train AUC;Test AUC"]
    names = [*map(enumerate, (DOMAIN_KERNELS, PAIRWISE_KERNELS, SETTINGS)), (1, 2)]
    for (i, domain), (j, pairwise), (k, setting), t in itertools.product(*names):
        lines.append(f"{domain};{pairwise};{setting};{t};0.5;0.{i}{j}{k}{t}")
    files = in_memory(affinities="7.6 7.7\nnan 5\n", curves="\n".join(lines), **TWO_BY_TWO)
    arrays = parse_printed_curves(files, above=7.6)
    assert arrays["labels"].tolist() == [[-1, 1], [0, -1]]
    assert arrays["printed_test"].shape == (2, 4, 4, 2)
    assert arrays["printed_test"][1, 2, 3, 0] == pytest.approx(0.1231)


def test_predictions_are_found_by_ids_and_by_other_spellings():
    text = "FOLD : 1\n11\tABL1p\t5\t6.5\n22\tAAK1\t5\t7.5\n"
    text += "FOLD : 2\n22\tAAK1\t5\t1\n11\tABL1p\t5\t2\n"
    ids = {"row_ids": "11\n22\n", "col_ids": "AAK1\nABL1-p\n"}
    files = in_memory(affinities="10 20\n30 40\n", predictions=text, **TWO_BY_TWO, **ids)
    options = {"col_aliases": {"ABL1p": "ABL1-p"}, "at_most": 30.0, "unit": "nM"}
    arrays = parse_printed_predictions(files, **options)
    np.testing.assert_array_equal(arrays["predictions"], [[6.5, 7.5], [1, 2]])
    np.testing.assert_array_equal(arrays["predicted_rows"], [[0, 1], [1, 0]])
    np.testing.assert_array_equal(arrays["predicted_cols"], [[1, 0], [0, 1]])
    assert arrays["spelled_otherwise"].tolist() == [[True, False], [False, True]]
