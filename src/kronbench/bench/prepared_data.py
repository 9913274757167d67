"""The data sets of a run: prepared once, beside its results, and opened by each job.

Apart from the runner, which loads numba: preparing data needs none of it.
"""

from __future__ import annotations

from pathlib import Path

from kronbench.bench.items import Plan
from kronbench.datasets import Dataset, load


def prepare(plan: Plan, name: str) -> Path:
    """Put a data set into the results of a run, by the policy of its configuration."""
    data = load(name, policy=plan.config["data"], mirror=plan.config["mirror"])
    data.save(plan.data_folder(name))
    return plan.data_folder(name)


def prepared(plan: Plan, name: str) -> Dataset:
    """A data set of a run, prepared if it is not there."""
    folder = plan.data_folder(name)
    return Dataset.open(folder if folder.exists() else prepare(plan, name))
