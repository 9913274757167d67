import io
import json

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import sparse

from kronbench import InputError
from kronbench.datasets import Dataset, FileRecord


def make(**arrays):
    return Dataset(
        name="Made",
        source="mirror",
        kind="vectors",
        arrays=arrays,
        files=(FileRecord("made/a.txt", "0" * 64, 12, "mirror folder"),),
        notes=("written for the test",),
        title="A made data set",
        licence="none",
        citation="nobody",
        options={"at_least": 7.6},
    )


@settings(max_examples=25, deadline=None)
@given(
    m=st.integers(0, 5),
    q=st.integers(0, 5),
    dtype=st.sampled_from(["float64", "float32", "int8", "int32", "bool"]),
    seed=st.integers(0, 100),
)
def test_saved_and_opened_is_the_same(tmp_path_factory, m, q, dtype, seed):
    rng = np.random.default_rng(seed)
    dense = (10 * rng.random((m, q))).astype(dtype)
    words = sparse.random_array((m, q), density=0.4, rng=rng, format="csr")
    data = make(values=dense, words=words, names=np.array(["a", "bc"]))
    folder = tmp_path_factory.mktemp("data") / "below" / "made"
    data.save(folder)
    again = Dataset.open(folder)
    assert again.provenance == data.provenance
    assert again["values"].dtype == dense.dtype
    np.testing.assert_array_equal(again["values"], dense)
    np.testing.assert_array_equal(again["names"], data["names"])
    assert isinstance(again["words"], sparse.csr_array)
    np.testing.assert_array_equal(again["words"].toarray(), words.toarray())
    assert sorted(path.name for path in folder.iterdir()) == ["data.npz", "provenance.json"]


def test_interrupted_save_leaves_the_data_set_that_was_there(tmp_path, monkeypatch):
    make(values=np.zeros(2)).save(tmp_path)

    def interrupted(file, **arrays):
        open(file, "wb").write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez", interrupted)
    with pytest.raises(KeyboardInterrupt):
        make(values=np.ones(2)).save(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"data.npz", "provenance.json"}
    assert Dataset.open(tmp_path).arrays["values"].tolist() == [0, 0]


def test_python_objects_are_not_written(tmp_path):
    with pytest.raises(InputError, match="Python objects"):
        make(values=np.array([{}, None])).save(tmp_path)
    assert list(tmp_path.iterdir()) == []


def flipped(content):
    content = bytearray(content)
    content[len(content) // 2] ^= 1
    return content


def pickled(content):
    out = io.BytesIO()
    np.savez(out, values=np.full(1000, None))
    return out.getvalue()


def without_kind(content):
    """As an earlier version wrote it."""
    return json.dumps({key: part for key, part in json.loads(content).items() if key != "kind"})


@pytest.mark.parametrize(
    ("name", "damage", "said"),
    [
        ("data.npz", lambda content: b"", "damaged"),
        ("data.npz", lambda content: content[:-10], "damaged"),
        ("data.npz", flipped, "damaged"),
        ("data.npz", pickled, "damaged"),
        ("provenance.json", lambda content: without_kind(content).encode(), r"\(.*'kind'\)"),
    ],
)
def test_a_damaged_or_old_file_is_one_sentence(tmp_path, name, damage, said):
    make(values=np.arange(1000.0)).save(tmp_path)
    file = tmp_path / name
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(InputError, match=f"{said}.*: .* prepare the data again"):
        Dataset.open(tmp_path)
