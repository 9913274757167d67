"""What a query names: columns, and values that its rows shall have."""

import pytest

from kronbench.errors import InputError
from kronbench.report.queries import Compared, columns_compared


def asked(where):
    """The values that rows of the query shall have, by column."""
    return {found.column: found.values for found in columns_compared(where) if found.asked}


def test_what_is_asked_for_and_what_is_not():
    where = "dataset == 'Ki' and method in ('SVM', 'KNN') and fold not in (3,) and n > 5"
    assert asked(where) == {"dataset": ("Ki",), "method": ("SVM", "KNN")}
    assert asked("method != 'SVM'") == {}
    assert asked("label == -1 and size == n") == {"label": (-1,), "size": ()}
    assert asked("`our auc` == 0.5") == {"our auc": (0.5,)}


def test_every_column_is_named_and_its_values_also_where_they_are_excluded():
    found = set(columns_compared("`a b` > 1 and method != 'SVM' and n < m"))
    assert {entry.column for entry in found} == {"a b", "method", "n", "m"}
    assert Compared("method", ("SVM",), False) in found


def test_a_query_that_cannot_be_read_is_refused():
    with pytest.raises(InputError, match=r"^claim 'a' has a 'where' that cannot be read: n = 5"):
        list(columns_compared("n = 5", "claim 'a'"))
