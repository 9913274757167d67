"""Declarations of columns: what they refuse, and that every experiment and drawing has one."""

import importlib

import pandas as pd
import pytest

from kronbench.errors import InputError
from kronbench.runner.columns import (
    RUNNER,
    TIMING,
    Columns,
    Parameter,
    columns_measured,
    columns_shown,
    declared,
    recorded,
)
from kronbench.runner.items import load_plan, load_scales
from kronbench.runner.job import run_experiment
from tests.helpers import merged

COLUMNS = TIMING | Columns(
    key=("method", "fold"),
    repeats=("fold",),
    counts=("steps",),
    numbers=("auc",),
    values={"method": (Parameter(("methods",)), Parameter(("methods",), ", ours"))},
)
PARAMETERS = {"methods": {"A": {}, "B": {}}}
FRAME = pd.DataFrame(
    {"method": ["A", "B, ours"], "fold": [0, 0], "auc": [0.5, None], "steps": [3, None]}
).assign(seconds=1.0)


def check(frame):
    COLUMNS.check(frame, "experiment p.x", PARAMETERS, [])


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"reg": 1.0}, "does not declare the column 'reg'"),
        ({"method": "A"}, r"does not tell 2 rows apart \(method A, fold 0\)"),
        ({"steps": 2.5}, "the count 'steps' is no whole number"),
        ({"method": ["A", "C"]}, "does not declare the value 'C' of 'method'"),
    ],
)
def test_a_table_that_is_not_as_declared_is_refused(change, sentence):
    check(FRAME)
    with pytest.raises(InputError, match=f"^experiment p.x: .*{sentence}"):
        check(FRAME.assign(**change))


def test_the_later_declaration_of_a_column_counts():
    columns = RUNNER | TIMING | Columns(key=("threads",))
    assert columns.key == ("dataset", "threads")
    assert "threads" not in columns.conditions
    assert "busy" in columns.conditions


@pytest.mark.parametrize(
    ("path", "values"),
    [
        (("regs",), [1, 2]),
        (("folds", "*"), [0, 4]),
        (("regs", "*"), [1, 2]),
        (("lines", "*", "way"), ["x", "y"]),
        (("listed", "*", "name"), ["KK", "TS"]),
        (("none", "*"), []),
    ],
)
def test_values_come_from_the_parameters(path, values):
    parameters = {
        "regs": [1, 2],
        "folds": {"Ki": [0], "E": [4]},
        "lines": {"a": {"way": ["x"]}, "b": {"way": {"y": 1}}},
        "listed": [{"name": "KK"}, {"name": "TS"}],
    }
    assert list(Parameter(path).values(parameters)) == values


def test_a_record_tells_what_the_columns_of_a_table_are():
    again = recorded(COLUMNS.record(FRAME))
    assert (again.key, again.repeats, again.counts) == (("method", "fold"), ("fold",), ("steps",))
    assert again.timed == ("seconds",)


@pytest.mark.parametrize("item", load_plan(merged()).items, ids=lambda i: f"{i.paper} {i.name}")
def test_every_item_declares_its_columns(item):
    """As a module has it on import, so it is read from its text."""
    modules = [item.drawing_module] + ([] if item.numbers_of else [item.experiment_module])
    for name in modules:
        assert declared(name) == getattr(importlib.import_module(name), "COLUMNS", None)
    if not item.numbers_of:
        assert set(columns_measured(item).repeats) <= set(columns_measured(item).key)
    assert "dataset" in columns_shown(item).key


def test_a_scale_is_laid_over_the_default_one():
    plans = {plan.scale: plan for plan in load_scales()}
    for name in ("smoke", "paper"):
        assert plans[name].items == load_plan(merged(name)).items


def test_the_runner_refuses_what_an_experiment_does_not_declare(monkeypatch):
    experiment = importlib.import_module("kronbench.papers.airola.measure.loss_derivatives")
    spec = {"draws": 1, "n": 20, "seed": 1}
    frame = run_experiment("airola.loss_derivatives", spec, None, "all")
    assert {"dataset", "source", "seed", "peak_mib"} <= set(frame)
    monkeypatch.setattr(experiment, "COLUMNS", Columns(key=("loss",)))
    with pytest.raises(InputError, match=r"airola\.loss_derivatives: COLUMNS does not"):
        run_experiment("airola.loss_derivatives", spec, None, "all")
