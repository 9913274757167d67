"""Kernels and tables that do not fit in memory are refused, with what would fit."""

import numpy as np
import pytest

from kronbench import InputError, PairData
from kronbench.own_pairs import recipe as recipes
from kronbench.own_pairs.recipe import Recipe, available_memory, check_memory, kernel_bytes
from tests.own_pairs.problem import arguments, run, tables
from tests.own_pairs.test_bad_input import refused

GAUSSIAN = {"row_kernel": "gaussian", "col_kernel": "gaussian", "row_gamma": 1, "col_gamma": 1}


@pytest.fixture
def folder(tmp_path):
    tables(tmp_path)
    return tmp_path


def test_what_does_not_fit_is_refused_with_what_would(monkeypatch):
    monkeypatch.setattr(recipes, "available_memory", lambda: 2.0**26)
    pairs = PairData(np.eye(3000, 8), np.eye(20), np.arange(6000) % 3000, np.arange(6000) % 20)
    recipe = Recipe("KronRidge", {"row_kernel": "tanimoto"})
    with pytest.raises(InputError) as caught:
        check_memory(recipe, pairs)
    told = str(caught.value)
    assert "KronRidge for 6,000 pairs of 3,000 rows and 20 columns need 69 MiB" in told
    assert "and 64 MiB are available: give fewer vertices" in told
    assert told.endswith("or approximate the row kernel by VertexNystroem in Python")
    with pytest.raises(InputError, match="for 3,000 pairs from 6,000 pairs of 3,000 rows"):
        check_memory(recipe, pairs, pairs[:3000])
    check_memory(recipe, pairs, pairs[:2000])
    assert kernel_bytes(Recipe("KronRidge", {"form": "primal"}), pairs) == [0, 0]
    assert kernel_bytes(Recipe("PairKNN", {}), pairs) == [0, 0]


def test_each_command_refuses_what_does_not_fit_and_writes_nothing(folder, capsys, monkeypatch):
    model, out = folder / "m.kron", folder / "p.csv"
    fit = ["fit", *arguments(folder), "--solver", "KronRidge", "-o", model]
    assert run(capsys, *fit)[0] == 0
    before = model.read_bytes()
    monkeypatch.setattr(recipes, "available_memory", lambda: 2000)
    for argv in (
        fit,
        ["evaluate", *arguments(folder), "--solver", "KronRidge"],
        ["predict", model, "--pairs", folder / "pairs.csv", "-o", out],
    ):
        refused(capsys, folder, "MiB are available", *argv)
    assert model.read_bytes() == before


def test_memory_is_what_the_machine_and_its_container_leave(tmp_path):
    free = available_memory(tmp_path)  # says nothing of a container
    assert free > 2**27

    def container(limit):
        (tmp_path / "memory.max").write_text(f"{limit}\n")
        (tmp_path / "memory.current").write_text(f"{3 * 2**25}\n")
        (tmp_path / "memory.stat").write_text(f"anon 1\ninactive_file {2**25}\n")
        return available_memory(tmp_path)

    assert container(2**27) == 2**27 - 2**26
    assert container(2**10) == 0
    assert container("max") == pytest.approx(free, rel=0.5)
