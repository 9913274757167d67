"""Declarations of columns: what they refuse, and that every experiment and drawing has one."""

import importlib

import pandas as pd
import pytest

from kronbench.errors import InputError
from kronbench_suite.runner.columns import (
    RUNNER,
    TIMING,
    Columns,
    columns_measured,
    columns_shown,
    declared,
    recorded,
)
from kronbench_suite.runner.job import run_measurement
from kronbench_suite.runner.plans import load_plan, load_scales
from tests.helpers import merged

COLUMNS = TIMING | Columns(key=("method", "fold"), repeats=("fold",))
FRAME = pd.DataFrame(
    {"method": ["A", "B, ours"], "fold": [0, 0], "auc": [0.5, None], "steps": [3, None]}
).assign(seconds=1.0)


def test_a_key_that_does_not_tell_rows_apart_is_refused():
    COLUMNS.check(FRAME, "experiment p.x")
    with pytest.raises(InputError, match=r"^experiment p.x: .* 2 rows apart \(method A, fold 0\)"):
        COLUMNS.check(FRAME.assign(method="A"), "experiment p.x")


def test_the_later_declaration_of_a_column_counts():
    columns = RUNNER | TIMING | Columns(key=("threads",))
    assert columns.key == ("dataset", "threads")
    assert "threads" not in columns.conditions
    assert "busy" in columns.conditions


def test_a_record_tells_what_the_columns_of_a_table_are():
    again = recorded(COLUMNS.record(FRAME))
    assert (again.key, again.repeats, again.timed) == (("method", "fold"), ("fold",), ("seconds",))
    assert again.compared(FRAME) == ["auc", "steps"]


@pytest.mark.parametrize("item", load_plan(merged()).items, ids=lambda i: f"{i.paper} {i.name}")
def test_every_item_declares_its_columns(item):
    """As a module has it on import, so it is read from its text."""
    modules = [item.plot_module] + ([] if item.numbers_of else [item.measure_module])
    for name in modules:
        assert declared(name) == getattr(importlib.import_module(name), "COLUMNS", None)
    if not item.numbers_of:
        assert set(columns_measured(item).repeats) <= set(columns_measured(item).key)
    assert "dataset" in columns_shown(item).key


def test_a_scale_is_laid_over_the_default_one():
    plans = {plan.scale: plan for plan in load_scales()}
    for name in ("smoke", "paper"):
        assert plans[name].items == load_plan(merged(name)).items


def test_the_runner_refuses_what_a_measurement_does_not_declare(monkeypatch):
    measurement = importlib.import_module("kronbench_suite.papers.airola.measure.loss_derivatives")
    spec = {"repetitions": 1, "n": 20, "seed": 1}
    frame = run_measurement("airola.loss_derivatives", spec, None, "all")
    assert {"dataset", "source", "seed", "peak_mib"} <= set(frame)
    monkeypatch.setattr(measurement, "COLUMNS", Columns())
    with pytest.raises(InputError, match=r"airola\.loss_derivatives: the key of COLUMNS"):
        run_measurement("airola.loss_derivatives", spec, None, "all")
