"""Every parameter that an experiment reads is declared, and every one that is declared is read."""

import ast

import pytest

from kronbench.errors import InputError
from kronbench_suite.resources import package_path
from kronbench_suite.runner.plans import load_plan
from kronbench_suite.runner.provenance import parameters_of, parsed, table_digests
from tests.helpers import merged

FILES = sorted(package_path("papers").glob("*/measure/*.py"))


def is_spec(node):
    """Whether it is what an experiment gets its parameters in: ``spec``, or ``self.spec``."""
    name = node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
    return name in ("spec", "_spec")


def names_read(tree):
    """Keys of ``spec[...]`` and ``spec.get(...)``; of a loop over texts all of them."""
    looped = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.For | ast.comprehension) and isinstance(node.iter, ast.Tuple):
            if all(isinstance(entry, ast.Constant) for entry in node.iter.elts):
                texts = (entry.value for entry in node.iter.elts)
                looped.setdefault(ast.unparse(node.target), set()).update(texts)
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and is_spec(node.value):
            key = node.slice
        elif isinstance(node, ast.Call) and is_spec(getattr(node.func, "value", node)):
            key = node.args[0]
        else:
            continue
        # A key that is computed otherwise could not be declared: ast.unparse names the place.
        yield from [key.value] if isinstance(key, ast.Constant) else looped[ast.unparse(key)]


def test_the_reader_sees_each_way_of_reading():
    text = "spec['a']; self._spec['b'][0]; spec.get('c', 1); {spec[x] for x in ('d', 'e')}"
    assert set(names_read(ast.parse(text))) == set("abcde")
    with pytest.raises(KeyError):
        list(names_read(ast.parse("spec[x + 'a']")))


@pytest.mark.parametrize("file", FILES, ids=lambda file: "/".join(file.parts[-3::2]))
def test_what_is_declared_is_what_is_read(file):
    tree = parsed(file)
    _, _, section = ast.get_docstring(tree).partition("\n\nParameters\n----------\n")
    declared = [line.split(" : ") for line in section.splitlines() if line[0] != " "]
    names = [name for name, _ in declared]
    # Every item has the seed of its run.
    assert sorted(names) == sorted(set(names_read(tree)) - {"seed"})
    assert all(len(meaning) > 5 for _, meaning in declared)


def test_a_parameter_that_no_code_of_an_item_reads_is_no_setting_of_it():
    plan, config = load_plan(merged()), merged()
    config["time_cap"] = 61
    other = load_plan(config)
    for item, again in zip(plan.items, other.items, strict=True):
        if item.measure:
            known = {*parameters_of(item.measure_module), "seed"}
            assert set(item.parameters) <= known, item
            # The cap on seconds is a setting of those that read it, and of no others.
            same = table_digests(item)["settings"] == table_digests(again)["settings"]
            assert same == ("time_cap" not in known)
    reading = {item.name for item in plan.items if "inner_folds" in item.parameters}
    assert reading == {
        *("table-6", "table-7", "section-5.6"),
        *("repeated/figure-3", "repeated/section-5.2", "repeated/table-6"),
    }


def test_a_parameter_of_an_item_that_its_code_does_not_read_is_refused(monkeypatch):
    from kronbench_suite.runner import plans

    whole = plans.read_yaml

    def misspelt(path):
        content = whole(path)
        if path.parts[-2:] == ("bach", "paper.yaml"):
            parameters = content["items"]["figure-2"]["parameters"]
            parameters["kapa"] = parameters.pop("kappa")
        return content

    monkeypatch.setattr(plans, "read_yaml", misspelt)
    told = r"papers/bach/paper.yaml: figure-2: unknown parameter 'kapa': did you mean 'kappa'\?"
    with pytest.raises(InputError, match=told):
        load_plan(merged())
