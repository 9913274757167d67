"""The data sets of a run: prepared once, beside its results, and opened by each job.

Apart from the runner, which loads numba: preparing data needs none of it.
"""

from __future__ import annotations

from pathlib import Path

from kronbench.datasets import Dataset, load
from kronbench.runner.items import Plan


def prepare(plan: Plan, name: str) -> Path:
    """Put a data set into the results of a run, by the policy of its configuration."""
    folder = plan.data_folder(name)
    load(name, policy=plan.config["data"], mirror=plan.config["mirror"]).save(folder)
    return folder


def prepared(plan: Plan, name: str) -> Dataset:
    """A data set of a run, prepared if it is not there."""
    folder = plan.data_folder(name)
    return Dataset.open(folder if folder.exists() else prepare(plan, name))
