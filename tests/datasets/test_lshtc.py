import numpy as np
import pytest
from scipy import sparse

from kronbench import InputError
from kronbench.datasets.lshtc import parse_lshtc
from tests.datasets.test_wipo import check_tree
from tests.helpers import in_memory

GOOD = {
    "train": "label, data\n545, 32 8:1 18:2\n32 1:3\n\n7 18:0.5 2:1\n545 8:1 # 9:1\n",
    "novel": "99 3:4\n",
    # 1 -> 2 -> 545, 32      1 -> 3 -> 7      1 -> 3 -> 4 -> 99, and two nodes without documents
    "hierarchy": "1 2\n1 3\n2 545\n2 32\n3 7\n3 4\n4 99\n4 1000\n1 5\n",
}


def test_documents_classes_and_tree():
    arrays = parse_lshtc(in_memory(**GOOD), n_words=20)
    X = np.zeros((4, 20))
    X[0, [7, 17]], X[1, 0], X[2, [1, 17]], X[3, 7] = [1, 2], 3, [1, 0.5], 1
    np.testing.assert_array_equal(arrays["X"].toarray(), X)
    assert isinstance(arrays["X"], sparse.csr_array)
    assert arrays["X"].dtype == np.float32
    assert arrays["X_novel"].shape == (1, 20)
    assert arrays["X_novel"][0, 2] == 4
    # The first document counts for 32. Classes 7, 32, 545, and 99 after them because it is novel.
    assert arrays["y"].tolist() == [1, 1, 0, 2]
    assert arrays["y_novel"].tolist() == [3]
    # 1; 2, 3; 4; 7, 32, 545, 99
    assert arrays["parents"].tolist() == [-1, 0, 0, 2, 2, 1, 1, 3]


def test_the_parent_nearest_the_root_counts_and_several_roots_hang_below_one_node():
    hierarchy = "10 20\n20 21\n21 30\n20 30\n11 31\n"
    files = in_memory(train="30 1:1\n31 1:1\n", novel="", hierarchy=hierarchy)
    arrays = parse_lshtc(files, n_words=1)
    # node 0; 10, 11; 20; then 30 below 20, not 21, and 31 below 11
    assert arrays["parents"].tolist() == [-1, 0, 0, 1, 3, 2]
    assert arrays["X_novel"].shape == (0, 1)
    assert arrays["y_novel"].shape == (0,)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"train": "7 1:nan\n"}, "train.txt holds counts that are not finite numbers"),
        ({"train": ""}, "train.txt holds no document"),
        ({"novel": "7 1:1\n"}, "novel.txt: class 7 also has documents in train.txt"),
        ({"train": "8 1:1\n"}, "hierarchy.txt: class 8 is not below a root of the hierarchy"),
        ({"train": "4 1:1\n"}, "hierarchy.txt: class 4 has documents and classes below it"),
        ({"hierarchy": "7 8\n8 7\n"}, "hierarchy.txt: class 7 is not below a root"),
    ],
)
def test_bad_files_are_named(changed, message):
    with pytest.raises(InputError) as error:
        parse_lshtc(in_memory(**GOOD | changed), n_words=20)
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_a_scale_takes_the_same_share_of_the_documents_each_time(rng):
    labels = rng.integers(10, 20, size=200)
    train = "".join(f"{label} {k + 1}:1\n" for k, label in enumerate(labels))
    hierarchy = "".join(f"1 {label}\n" for label in range(10, 20))
    files = in_memory(train=train, novel="", hierarchy=hierarchy)
    first, again = (parse_lshtc(files, n_words=200, scale=0.1) for _ in range(2))
    assert first["X"].shape == (20, 200)
    np.testing.assert_array_equal(first["X"].indices, again["X"].indices)
    kept = np.unique(labels[first["X"].indices])
    np.testing.assert_array_equal(kept[first["y"]], labels[first["X"].indices])
    assert check_tree(first["parents"]) == len(kept)
