"""Experiments: one module each, ``run(spec, data, rng) -> pandas.DataFrame``.

``spec`` holds the item's parameters with ``seed`` and ``time_cap``; ``data`` is a ``Dataset``, or
None where the item needs none; ``rng`` is seeded by the base seed, the experiment and the data
set. The table has one row for each measured point. What was not done is said in
``frame.attrs["skipped"]``, a list of sentences. An experiment writes no file.
"""

from __future__ import annotations

import importlib

import pandas as pd

from kronbench.experiments.measure import peak_mib
from kronbench.experiments.seeds import generator


def run_experiment(name: str, spec: dict, data, dataset: str) -> pd.DataFrame:
    """Run ``kronbench.experiments.<name>`` and say in each row where its numbers come from.

    Adds the columns ``dataset`` (as the paper spells it), ``source``, ``seed`` and ``peak_mib``
    (largest resident set of the process so far, MiB).
    """
    module = importlib.import_module(f"kronbench.experiments.{name}")
    rng = generator(spec["seed"], name, data.name if data is not None else "")
    frame = module.run(spec, data, rng)
    attrs = frame.attrs
    if "dataset" not in frame:
        frame.insert(0, "dataset", dataset)
    frame["source"] = data.source if data is not None else "generated"
    frame["seed"] = spec["seed"]
    if "peak_mib" not in frame:
        frame["peak_mib"] = round(peak_mib(), 1)
    frame.attrs = attrs
    return frame
