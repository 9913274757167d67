"""Every class of models says all of its parameters and fitted attributes where it stands."""

import ast
import inspect
import re
import textwrap

import numpy as np
import pytest

from tests.models.test_every_estimator import CLASSES

every_class = pytest.mark.parametrize(
    "model", sorted(CLASSES, key=str), ids=lambda model: model.__name__
)


def described(model, section):
    """Names and types in a section of the class's own docstring, in numpydoc's layout."""
    source = ast.get_docstring(ast.parse(textwrap.dedent(inspect.getsource(model))).body[0])
    parts = re.split(r"\n([A-Z][A-Za-z ]+)\n-{3,}\n", source)
    text = dict(zip(parts[1::2], parts[2::2], strict=True)).get(section, "")
    heads = re.findall(r"^(\w[\w, ]*) : (\S.*)", text, re.MULTILINE)
    return [(name, kind) for names, kind in heads for name in names.split(", ")]


def named_default(kind):
    """The default that the type of a parameter names; none is None in an optional one."""
    if found := re.search(r"\bdefault (.+)$", kind):
        return eval(found[1], {"np": np})
    return None if kind.endswith("optional") else inspect.Parameter.empty


def fitted_attributes(model):
    """What the class and its bases in this package assign to ``self``, or have as a property."""
    found = set()
    for base in model.__mro__:
        if not base.__module__.startswith("kronbench."):
            continue
        for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(base)))):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                found.add(node.attr)
            elif isinstance(node, ast.FunctionDef) and node.decorator_list:
                found.add(node.name)
    return {name for name in found if name.endswith("_") and not name.startswith("_")}


@every_class
def test_a_class_lists_its_parameters_in_the_order_of_its_docstring(model):
    parameters = inspect.signature(model).parameters
    listed = [name for name in inspect.get_annotations(model) if name in parameters]
    documented = described(model, "Parameters")
    assert listed == list(parameters) == [name for name, _ in documented]
    # the first may have a place: a tree, an estimator
    assert {p.kind for p in [*parameters.values()][1:]} <= {inspect.Parameter.KEYWORD_ONLY}


@every_class
def test_a_docstring_names_the_default_of_each_parameter(model):
    parameters = inspect.signature(model).parameters
    named = {name: named_default(kind) for name, kind in described(model, "Parameters")}
    assert named == {name: parameter.default for name, parameter in parameters.items()}


@every_class
def test_every_fitted_attribute_is_described(model):
    assert fitted_attributes(model) <= {name for name, _ in described(model, "Attributes")}
