"""Files with numbers that others print, on small ones."""

import numpy as np
import pytest

from kronbench.datasets.printed_results import (
    DOMAIN_KERNELS,
    PAIRWISE_KERNELS,
    SETTINGS,
    parse_printed_curves,
    parse_printed_predictions,
)
from tests.helpers import in_memory

METZ = {"affinities": "7.6 7.7\nnan 5\n", "drugs": "1 0\n0 1\n", "targets": "1 0\n0 1\n"}


def curves(length=2):
    lines = ["Kernel (domain);Kernel (pairwise);Setting;Iteration;Train AUC;Test AUC"]
    for i, domain in enumerate(DOMAIN_KERNELS):
        for j, pairwise in enumerate(PAIRWISE_KERNELS):
            for k, setting in enumerate(SETTINGS):
                for t in range(1, length + 1):
                    lines.append(f"{domain};{pairwise};{setting};{t};0.5;0.{i}{j}{k}{t}")
    return lines


def test_curves_have_their_places_and_a_label_at_the_threshold_is_none():
    arrays = parse_printed_curves(in_memory(**METZ, curves="\n".join(curves())), above=7.6)
    assert arrays["labels"].tolist() == [[-1, 1], [0, -1]]
    assert arrays["printed_test"].shape == (2, 4, 4, 2)
    assert arrays["printed_test"][1, 2, 3, 0] == pytest.approx(0.1231)


DAVIS = {
    "affinities": "10 20\n30 40\n",
    "drugs": "1 0\n0 1\n",
    "targets": "1 0\n0 1\n",
    "row_ids": "11\n22\n",
    "col_ids": "AAK1\nABL1-p\n",
}


def predictions(text):
    files = in_memory(**DAVIS, predictions=text)
    return parse_printed_predictions(
        files, col_aliases={"ABL1p": "ABL1-p"}, at_most=30.0, unit="nM"
    )


def test_predictions_are_found_by_ids_and_by_other_spellings():
    arrays = predictions(
        "FOLD : 1\n11\tABL1p\t5\t6.5\n22\tAAK1\t5\t7.5\n"
        "FOLD : 2\n22\tAAK1\t5\t1\n11\tABL1p\t5\t2\n"
    )
    np.testing.assert_array_equal(arrays["predictions"], [[6.5, 7.5], [1, 2]])
    np.testing.assert_array_equal(arrays["predicted_rows"], [[0, 1], [1, 0]])
    np.testing.assert_array_equal(arrays["predicted_cols"], [[1, 0], [0, 1]])
    assert arrays["spelled_otherwise"].tolist() == [[True, False], [False, True]]
