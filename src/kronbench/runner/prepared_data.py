"""The data sets of a run: prepared once, beside its results, and opened by each job.

Apart from the runner, which loads numba: preparing data needs none of it.
"""

from __future__ import annotations

from pathlib import Path

from kronbench.datasets import Dataset, load
from kronbench.files import write_text
from kronbench.runner.items import Plan
from kronbench.runner.provenance import data_digest

_MADE_FROM = "made-from"  # beside the arrays: the digest of what they depend on


def prepare(plan: Plan, name: str) -> Path:
    """Put a data set into the results of a run, by the policy of its configuration."""
    folder, mirror = plan.data_folder(name), plan.config["mirror"]
    digest = data_digest(name, mirror)
    data = load(name, policy=plan.config["data"], mirror=mirror)
    (folder / _MADE_FROM).unlink(missing_ok=True)  # never that of other arrays
    data.save(folder)
    write_text(folder / _MADE_FROM, digest)
    return folder


def made_from(plan: Plan, name: str) -> str | None:
    """What a prepared data set depended on when it was made; None where that is not known."""
    file = plan.data_folder(name) / _MADE_FROM
    return file.read_text(encoding="utf-8") if file.exists() else None


def prepared(plan: Plan, name: str) -> Dataset:
    """A data set of a run, prepared if it is not there."""
    folder = plan.data_folder(name)
    return Dataset.open(folder if folder.exists() else prepare(plan, name))
