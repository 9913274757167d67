"""Every class of models says all of its parameters and fitted attributes where it stands."""

import ast
import inspect
import re
import textwrap

import pytest

from tests.models.test_every_estimator import CLASSES


def described(model, section):
    """Names with a description in a section of the class's own docstring, in numpydoc's layout."""
    parts = re.split(r"\n([A-Z][A-Za-z ]+)\n-{3,}\n", inspect.cleandoc(model.__dict__["__doc__"]))
    text = dict(zip(parts[1::2], parts[2::2], strict=True)).get(section, "")
    heads = re.findall(r"^(\w[\w, ]*) : \S", text, re.MULTILINE)
    return [name for head in heads for name in head.split(", ")]


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


@pytest.mark.parametrize("model", sorted(CLASSES, key=str), ids=lambda model: model.__name__)
def test_every_parameter_and_fitted_attribute_is_described(model):
    parameters = inspect.signature(model).parameters
    assert sorted(described(model, "Parameters")) == sorted(parameters)
    # the first may have a place: a tree, an estimator
    assert {p.kind for p in [*parameters.values()][1:]} <= {inspect.Parameter.KEYWORD_ONLY}
    assert fitted_attributes(model) <= set(described(model, "Attributes"))
