"""Figure 6 of Stock et al. 2016: drawn from the index sets that are really used."""

from kronbench.datasets import load
from kronbench.datasets.drug_target import kernels
from kronbench.runner.job import run_experiment


def test_the_layout_is_that_of_the_first_split_of_the_learning_curves():
    from kronbench.papers.stock.measure.transfer_learning_curves import Split

    data = load("davis", policy="surrogate")
    _, _, Y = kernels(data)
    spec = {"seed": 5, "time_cap": 1, "size": 30, "test": {"davis": 192}, "task_folds": 5}
    frame = run_experiment("stock.transfer_layout", spec, data, "davis")
    split = Split.draw(spec, data, Y.shape, repetition=0)
    proteins = frame.groupby(["approach", "tasks", "role"])["protein"].apply(list)
    assert proteins["independent-task", "target", "varying"] == split.pool[:30].tolist()
    assert proteins["zero-shot", "auxiliary", "varying"] == split.pool[:30].tolist()
    assert proteins["almost zero-shot", "auxiliary", "constant"] == split.pool.tolist()
    for approach in frame["approach"].unique():
        assert proteins[approach, "target", "test"] == split.test.tolist()
        assert (approach, "auxiliary", "test") not in proteins
    assert ("zero-shot", "target", "varying") not in proteins
    assert ("independent-task", "auxiliary", "varying") not in proteins
    assert not set(split.pool) & set(split.test)
    assert frame.drop_duplicates("tasks")["n_tasks"].sum() == Y.shape[1]
