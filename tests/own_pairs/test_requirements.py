"""What long work takes is told before it, and refused with what would fit where it does not."""

import os
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from kronbench import InputError, PairData
from kronbench.linalg import threads
from kronbench.own_pairs import jobs, requirements
from kronbench.own_pairs.recipe import Recipe
from kronbench.own_pairs.requirements import Work, announce, available_memory, memory_of
from tests.own_pairs.problem import arguments, run, tables
from tests.own_pairs.test_bad_input import refused

GAUSSIAN = {"row_kernel": "gaussian", "col_kernel": "gaussian", "row_gamma": 1, "col_gamma": 1}
MILLION = Work((300_000, 2_000, 1_000_000), None, (2048, 100))


@pytest.fixture
def folder(tmp_path):
    tables(tmp_path)
    return tmp_path


@pytest.mark.parametrize("product", ["sparse", "dense"])
@pytest.mark.parametrize("solver", ["KronRidge", "KronSVM"])
def test_the_memory_told_is_that_of_a_fit_and_of_its_predictions(solver, product):
    rng = np.random.default_rng(0)
    rows, cols = rng.standard_normal((1500, 3)), rng.standard_normal((700, 2))
    cells = np.sort(rng.choice(1500 * 700, 60_000, replace=False))
    pairs = PairData(rows, cols, *np.divmod(cells, 700))
    y = np.where(rng.random(len(pairs)) < 0.5, 1.0, -1.0)
    recipe = Recipe(solver, {**GAUSSIAN, "product": product, "max_iter": 2})
    recipe.fit(pairs[:100], y[:100])  # what is compiled and loaded is no part of it
    told = sum(memory_of(recipe, Work.of(pairs)).values())
    tracemalloc.start()
    try:
        fitted = recipe.fit(pairs, y)
        fit = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        fitted.scores(pairs[:30_000])
        prediction = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    for peak in (fit, prediction):
        assert 0.5 < told / peak < 2, (told, peak)


def test_what_is_said_to_fit_fits_and_one_more_does_not(monkeypatch):
    monkeypatch.setattr(requirements, "available_memory", lambda: 8.0 * 2**30)
    recipe = Recipe("KronRidge", {"row_kernel": "tanimoto"})
    with pytest.raises(InputError) as caught:
        announce(recipe, MILLION)
    told = str(caught.value)
    assert "1,000,000 pairs of 300,000 rows and 2,000 columns needs about 69" in told
    assert "for the row kernel, and 8,192 MiB are available" in told
    assert told.endswith("or fit on landmarks: --row-landmarks 500")
    vertices = int(told.rpartition("about ")[2].partition(" ")[0].replace(",", ""))
    assert vertices > 10_000
    for more, fits in ((0, True), (1, False)):
        needed = sum(memory_of(recipe, MILLION.within(vertices + more, 10**6)).values())
        assert (needed <= 8 * 2**30) is fits
    primal = Recipe("KronRidge", {"form": "primal"})  # forms no kernel matrix
    assert "row kernel" not in memory_of(primal, MILLION)
    low_rank = replace(recipe.with_parameters({"form": "primal"}), landmarks=(500, None))
    assert sum(memory_of(low_rank, MILLION).values()) < 4 * 2**30  # as told, it fits
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
    recipe.fit(recipe.compact(pairs[:100]), y[:100])  # what is compiled and loaded is no part
    work = Work.of(pairs), Work.of(pairs, pairs)
    told = [sum(memory_of(recipe, entry).values()) for entry in work]
    peaks = []
    tracemalloc.start()
    try:
        fitted = recipe.fit(pairs, y)
        peaks.append(tracemalloc.get_traced_memory()[1])
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        fitted.scores(recipe.compact(pairs[: len(pairs) // 2]))
        peaks.append(tracemalloc.get_traced_memory()[1] - before)
    finally:
        tracemalloc.stop()
    assert 0.5 < told[0] / peaks[0] < 2.5, (told, peaks)
    assert 0.5 < told[1] / peaks[1] < 3, (told, peaks)  # half of the pairs


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
        monkeypatch.setattr(jobs, "check_tables", lambda tables: None)
    for argv in (
        fit,
        ["evaluate", *arguments(folder), "--solver", "KronRidge"],
        ["predict", model, "--pairs", folder / "pairs.csv", "-o", out],
    ):
        refused(capsys, folder, "MiB are available", *argv)
        refused(capsys, folder, "would fit", *argv)
    assert model.read_bytes() == before


def test_a_table_larger_than_memory_is_not_read(folder, capsys, monkeypatch):
    monkeypatch.setattr(requirements, "available_memory", lambda: 2.0**32)
    with (folder / "rows.csv").open("r+b") as file:
        file.truncate(10_000_000_000)  # takes no place on the disk
    sentence = "has 9,537 MiB, and to read the tables takes about"
    refused(capsys, folder, sentence, "evaluate", *arguments(folder), "--solver", "KronRidge")


def test_long_work_is_announced_by_its_operations(monkeypatch, capsys):
    monkeypatch.setattr(requirements, "available_memory", lambda: 2.0**40)
    monkeypatch.setattr(threads, "processors", lambda: 2)
    recipe = Recipe("KronRidge", {"max_iter": 50, "row_kernel": "linear", "col_kernel": "linear"})
    work = Work((3000, 2000, 10**6), None, (100, 100))
    announce(recipe, work, 15)
    # 2 n (m + q) operations a product, each as dear as three of a product of matrices; 2 (m^2 +
    # q^2) d of these for the kernels
    seconds = 15 * (50 * 3 * 2 * 1e6 * 5000 + 2 * 13e6 * 100) / (2 * 5e10)
    told = capsys.readouterr().err
    assert told.startswith("15 fits of KronRidge for 1,000,000 pairs of 3,000 rows")
    assert f"about {seconds / 3600:.0f} hours and" in told or f"{seconds / 60:.0f} min" in told
    announce(recipe, Work((14, 11, 120), None, (3, 2)), 15)
    assert capsys.readouterr().err == ""


def test_many_small_fits_are_timed_beforehand(monkeypatch, capsys):
    recipe, small = Recipe("KronRidge", {}), Work((14, 11, 120), None, (3, 2))
    fits, clock = [], iter([100.0, 100.5, 200.0, 200.1])
    monkeypatch.setattr(requirements.time, "perf_counter", lambda: next(clock))
    announce(recipe, small, 17_370, lambda: fits.append(1), 2_000)
    assert fits == [1, 1], "one that compiles, and one that is timed"
    told = capsys.readouterr().err
    assert told.startswith("17,370 fits of KronRidge for 120 pairs of 14 rows and 11 columns: ")
    assert "about 17 minutes and" in told
    announce(recipe, small, 90, lambda: None)
    assert capsys.readouterr().err == "", "9 seconds"
    announce(Recipe("PairKNN", {}), small, 90, lambda: fits.append(1))
    assert len(fits) == 2, "of other solvers nothing is known, not even that two fits are few"


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


def test_a_long_fit_shows_its_iterations(folder, capsys, monkeypatch):
    shown = []
    monkeypatch.setattr(
        "kronbench.own_pairs.jobs.tqdm", lambda **given: _Bar(shown, given["total"])
    )
    given = ["--solver", "KronRidge", "--set", "max_iter=7", "--set", "tol=0"]
    assert run(capsys, "fit", *arguments(folder), *given, "-o", folder / "m.kron")[0] == 0
    assert shown == [7, *["step"] * 7]
    os.unlink(folder / "m.kron")


class _Bar:
    def __init__(self, shown, total):
        self.shown = shown
        shown.append(total)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def update(self):
        self.shown.append("step")
        return True  # as tqdm does where it draws; to the solver it would mean: stop
