"""Experiments by paper: one module each, ``run(spec, data, rng) -> pandas.DataFrame``.

``spec`` holds the item's parameters with ``seed`` and ``time_cap``; ``data`` is a ``Dataset``, or
None where the item needs none; ``rng`` is seeded by the base seed, the experiment and the data
set. The table has one row for each measured point. What was not done is said in
``frame.attrs["skipped"]``, a list of sentences. An experiment writes no file.
"""
