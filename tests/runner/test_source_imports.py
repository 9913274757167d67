import pickle
import subprocess
import sys

import pytest
from sklearn.base import clone

import kronbench
import kronbench.class_tree
import kronbench.linalg
import kronbench.models
import kronbench.pairs
from kronbench.runner.source_imports import file_of, read_module

ON_DEMAND = [
    kronbench,
    kronbench.class_tree,
    kronbench.linalg,
    kronbench.models,
    kronbench.pairs,
]


@pytest.mark.parametrize("package", ON_DEMAND, ids=lambda package: package.__name__)
def test_names_on_demand_are_those_that_are_promised(package):
    handed_on = read_module(package.__name__).handed_on
    for name in package.__all__:
        found = getattr(package, name)
        if name in handed_on:
            module, written = handed_on[name]
            assert found is getattr(sys.modules[module], written)
            assert getattr(found, "__module__", module) == module  # LOSSES is a mapping
            # A module of that name would be in its place once it is imported.
            assert file_of(f"{package.__name__}.{name}") is None
    assert set(handed_on) <= set(dir(package))
    everything = {}
    exec(f"from {package.__name__} import *", everything)
    assert set(package.__all__) <= set(everything)


def test_a_name_that_is_not_there_is_missing():
    assert not hasattr(kronbench.models, "KronForest")
    assert not hasattr(kronbench, "__main__")  # a program
    with pytest.raises(ImportError, match="cannot import name 'KronForest'"):
        from kronbench.models import KronForest  # noqa: F401


def test_modules_of_a_package_come_with_it():
    """``import kronbench`` is enough to reach the public names of its rooms."""
    run = subprocess.run(
        [sys.executable, "-c", "import kronbench\nprint(kronbench.models.KronSVM)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "kronbench.models.kron_svm.KronSVM" in run.stdout


def test_an_estimator_is_found_again_by_another_process():
    """Pickles name the module in which a class is written."""
    model = clone(kronbench.models.KronRidge(reg=2.0))
    program = "import pickle, sys\nprint(pickle.load(sys.stdin.buffer).reg)"
    run = subprocess.run(
        [sys.executable, "-c", program],
        input=pickle.dumps(model),
        capture_output=True,
        check=True,
    )
    assert run.stdout.split() == [b"2.0"]
