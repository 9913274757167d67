"""What long work takes is told before it, and refused with what would fit where it does not."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from kronbench import InputError, PairData
from kronbench.own_pairs import commands, requirements
from kronbench.own_pairs.recipe import Recipe
from kronbench.own_pairs.requirements import Work, available_memory, check_memory, memory_of
from tests.own_pairs.problem import arguments, run, tables
from tests.own_pairs.test_bad_input import refused

GAUSSIAN = {"row_kernel": "gaussian", "col_kernel": "gaussian", "row_gamma": 1, "col_gamma": 1}
MILLION = Work((300_000, 2_000, 1_000_000), None, (2048, 100))


@pytest.fixture
def folder(tmp_path):
    tables(tmp_path)
    return tmp_path


def traced(recipe, pairs, y, asked):
    """Bytes at most of a fit, those that it leaves, and those at most of its predictions."""
    recipe.fit(recipe.compact(pairs[:100]), y[:100])  # what is compiled and loaded is no part
    tracemalloc.start()
    try:
        fitted = recipe.fit(pairs, y)
        left, peak = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        fitted.scores(asked)
        return peak, left, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("product", ["sparse", "dense"])
@pytest.mark.parametrize("solver", ["KronRidge", "KronSVM"])
def test_the_memory_told_is_that_of_a_fit_and_of_its_predictions(solver, product):
    rng = np.random.default_rng(0)
    rows, cols = rng.standard_normal((900, 3)), rng.standard_normal((420, 2))
    cells = np.sort(rng.choice(900 * 420, 22_000, replace=False))
    pairs = PairData(rows, cols, *np.divmod(cells, 420))
    y = np.where(rng.random(len(pairs)) < 0.5, 1.0, -1.0)
    recipe = Recipe(solver, {**GAUSSIAN, "product": product, "max_iter": 2})
    told = sum(memory_of(recipe, Work.of(pairs)).values())
    fit, _, prediction = traced(recipe, pairs, y, pairs[:11_000])
    for peak in (fit, prediction):
        assert 0.5 < told / peak < 2, (told, peak)


def test_what_does_not_fit_is_refused_with_what_would(monkeypatch):
    monkeypatch.setattr(requirements, "available_memory", lambda: 8.0 * 2**30)
    recipe = Recipe("KronRidge", {"row_kernel": "tanimoto"})
    with pytest.raises(InputError) as caught:
        check_memory(recipe, MILLION)
    told = str(caught.value)
    assert "1,000,000 pairs of 300,000 rows and 2,000 columns needs about 69" in told
    assert "for the row kernel, and 8,192 MiB are available: give fewer vertices or pairs" in told
    assert told.endswith("or fit on landmarks: --row-landmarks 500")
    primal = Recipe("KronRidge", {"form": "primal"})  # forms no kernel matrix
    assert "row kernel" not in memory_of(primal, MILLION)
    low_rank = replace(recipe.with_parameters({"form": "primal"}), landmarks=(500, None))
    check_memory(low_rank, MILLION)
    assert memory_of(Recipe("PairKNN", {}), MILLION) == {}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_memory_told_of_landmarks_is_that_of_a_fit_and_of_its_predictions(dtype):
    rng = np.random.default_rng(0)
    bits = sparse.csr_array((rng.random((60_000, 256)) < 0.05).astype(float))
    i, j = rng.integers(60_000, size=90_000), rng.integers(40, size=90_000)
    pairs = PairData(bits, rng.standard_normal((40, 6)), i, j)
    given = {"row_kernel": "tanimoto", "form": "primal", "dtype": dtype, "max_iter": 2}
    recipe = Recipe("KronRidge", given, landmarks=(100, None))
    pairs, y = recipe.compact(pairs), rng.standard_normal(len(pairs))
    work = Work.of(pairs), Work.of(pairs, pairs)
    told = [sum(memory_of(recipe, entry).values()) for entry in work]
    asked = recipe.compact(pairs[: len(pairs) // 2])
    fit, left, prediction = traced(recipe, pairs, y, asked)
    assert 0.5 < told[0] / fit < 2.5, (told, fit)
    assert 0.5 < told[1] / (prediction - left) < 3, (told, prediction - left)  # half of the pairs


@pytest.mark.parametrize("what", ["tables", "work"])
def test_each_command_refuses_what_does_not_fit_and_writes_nothing(
    folder, capsys, monkeypatch, what
):
    model, out = folder / "m.kron", folder / "p.csv"
    fit = ["fit", *arguments(folder), "--solver", "KronRidge", "-o", model]
    assert run(capsys, *fit)[0] == 0
    before = model.read_bytes()
    monkeypatch.setattr(requirements, "available_memory", lambda: 6500)
    if what == "work":
        monkeypatch.setattr(commands, "check_tables", lambda tables: None)
    for argv in (
        fit,
        ["evaluate", *arguments(folder), "--solver", "KronRidge"],
        ["predict", model, "--pairs", folder / "pairs.csv", "-o", out],
    ):
        refused(capsys, folder, "MiB are available", *argv)
    assert model.read_bytes() == before


def test_a_table_larger_than_memory_is_not_read(folder, capsys, monkeypatch):
    monkeypatch.setattr(requirements, "available_memory", lambda: 2.0**32)
    with (folder / "rows.csv").open("r+b") as file:
        file.truncate(10_000_000_000)  # takes no place on the disk
    sentence = "has 9,537 MiB, and reading the tables takes about"
    refused(capsys, folder, sentence, "evaluate", *arguments(folder), "--solver", "KronRidge")


def test_memory_is_what_the_machine_and_its_container_leave(tmp_path):
    free = available_memory([tmp_path])  # says nothing of a container
    assert free > 2**27

    def container(limit):
        (tmp_path / "memory.max").write_text(f"{limit}\n")
        (tmp_path / "memory.current").write_text(f"{3 * 2**25}\n")
        (tmp_path / "memory.stat").write_text(f"anon 1\ninactive_file {2**25}\n")
        return available_memory([tmp_path])

    assert container(2**27) == 2**27 - 2**26
    assert container(2**10) == 0
    assert container("max") == pytest.approx(free, rel=0.5)
