"""A folder for each paper: what it claims and prints, how it is measured, how it is drawn.

docs/tutorials/paper.md lists its files. Each module of ``measure/`` has ``run(spec, data, rng)``,
which returns a data frame with one row for each measured point. ``spec`` holds the parameters of
the item, which the docstring of the module, or of one that it imports, names in its section
"Parameters", and ``seed``; ``data`` is a ``Dataset``, or None where the item needs none; ``rng``
is seeded by the base seed, the measurement and the data set. What was not done is said in
``frame.attrs["skipped"]``, a list of sentences. A measurement writes no file. Modules of ``plot/``
read result tables alone; :func:`kronbench_suite.report.render.render` says what they have.
"""

from kronbench_suite.resources import PAPERS_PATH

__path__ = PAPERS_PATH  # the list itself, to which folders from outside are added
