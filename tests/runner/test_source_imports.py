"""What is imported from a package rests on the module that has it, and not on its neighbours."""

import sys

import pytest

import kronbench
import kronbench.class_tree
import kronbench.linalg
import kronbench.models
import kronbench.pairs
from kronbench.runner.source_imports import read_module

ON_DEMAND = [
    kronbench,
    kronbench.class_tree,
    kronbench.linalg,
    kronbench.models,
    kronbench.pairs,
]


@pytest.mark.parametrize("package", ON_DEMAND, ids=lambda package: package.__name__)
def test_a_name_is_read_as_that_of_the_module_from_which_it_comes(package):
    handed_on = read_module(package.__name__).handed_on
    assert handed_on
    for name in handed_on:
        found = getattr(package, name)
        module, written = handed_on[name]
        assert found is getattr(sys.modules[module], written)
        assert getattr(found, "__module__", module) == module  # LOSSES is a mapping
